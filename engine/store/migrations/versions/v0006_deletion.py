"""Add hidden sessions and the clean-up of search indexes, and finish the deletions of earlier versions.

Earlier versions kept the events of a deleted session in the event log, and its words in the pages of the search index.
"""

from typing import Final

from alembic import op

revision: Final = "0006"
down_revision: Final = "0005"
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    "ALTER TABLE sessions ADD COLUMN deleted_at INTEGER",
    "CREATE INDEX sessions_hidden ON sessions (session_id) WHERE deleted_at IS NOT NULL",
    """
    CREATE TABLE index_cleanup (
        index_name TEXT NOT NULL, requested INTEGER NOT NULL, merging INTEGER, inputs TEXT, pages INTEGER,
        PRIMARY KEY (index_name)
    )
    """,
)
DELETED: Final = """
    SELECT conversation_id, max(seq) FROM events
    WHERE event_type = 'session.deleted' AND conversation_id IS NOT NULL GROUP BY conversation_id
"""
EVENTS: Final = """
    DELETE FROM events WHERE conversation_id = ? AND seq < ? AND source NOT IN ('host', 'user', 'runner')
"""
AUDIT: Final = """
    UPDATE events SET metadata = json_object('session_id', conversation_id), conversation_id = NULL,
    input_summary = NULL, actor_name = NULL WHERE conversation_id = ? AND seq <= ?
"""
CLEANUP: Final = "INSERT INTO index_cleanup (index_name, requested) VALUES ('transcript_search', 1)"


def upgrade() -> None:
    connection = op.get_bind()
    for statement in STATEMENTS:
        connection.exec_driver_sql(statement)
    deleted = [tuple(row) for row in connection.exec_driver_sql(DELETED)]
    for conversation_id, seq in deleted:
        connection.exec_driver_sql(EVENTS, (conversation_id, seq))
        connection.exec_driver_sql(AUDIT, (conversation_id, seq))
    if deleted:
        connection.exec_driver_sql(CLEANUP)
