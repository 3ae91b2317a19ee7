"""Add the runner, agent and project of its last run to each session, and count the events of its runs.

`message_count` counted the runs that completed. It now counts every event that started or joined a run. Runs that were
deleted are not counted again, so a larger old number stays.
"""

from typing import Final

from alembic import op

revision: Final = "0007"
down_revision: Final = "0006"
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    "ALTER TABLE sessions ADD COLUMN runner_id TEXT",
    "ALTER TABLE sessions ADD COLUMN agent_id TEXT",
    "ALTER TABLE sessions ADD COLUMN project TEXT",
    # Indexes of `runs` and `queue` have everything that is counted. Earlier versions did not record the project.
    """
    UPDATE sessions SET
        (runner_id, agent_id) = (
            SELECT runner_id, agent_id FROM runs
            WHERE rowid = (SELECT max(rowid) FROM runs WHERE conversation_id = sessions.session_id)
        ),
        message_count = max(
            message_count,
            (SELECT count(*) FROM runs WHERE conversation_id = sessions.session_id)
            + (SELECT count(*) FROM queue WHERE conversation_id = sessions.session_id AND fate = 'injected')
        )
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
