"""Add what the record of a run needs: stored parts, the log of storage, usage by origin, and the size of journals.

A run that was recorded before has one sum of the tokens that the host saw and the runner claimed; its `usage` says so.
The journals of ended runs are counted; a run that has not ended has no size yet.
"""

from typing import Final

from alembic import op

from engine.store.migrations.journal_slices import journal_slices

revision: Final = "0013"
down_revision: Final = "0012"
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    "ALTER TABLE journal ADD COLUMN usage TEXT",
    "ALTER TABLE runs ADD COLUMN journal_bytes INTEGER",
    "UPDATE runs SET usage = json_object('sum', json(usage)) WHERE usage IS NOT NULL",
    """
    CREATE TABLE parts (
        digest TEXT NOT NULL, kind TEXT NOT NULL, content BLOB NOT NULL,
        PRIMARY KEY (digest)
    )
    """,
    """
    CREATE TABLE part_uses (
        run_id TEXT NOT NULL, digest TEXT NOT NULL,
        CONSTRAINT part_use PRIMARY KEY (run_id, digest)
    )
    """,
    "CREATE INDEX part_uses_digest ON part_uses (digest)",
    """
    CREATE TABLE storage_changes (
        change INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, "key" TEXT NOT NULL, value BLOB,
        digest TEXT, run_id TEXT, position INTEGER, journal_row INTEGER NOT NULL, editor TEXT NOT NULL,
        at INTEGER NOT NULL, is_removed INTEGER NOT NULL
    )
    """,
    'CREATE INDEX storage_changes_place ON storage_changes (owner, "key", change)',
    "CREATE INDEX storage_changes_run ON storage_changes (run_id)",
    "CREATE INDEX sessions_root ON sessions (root_session_id)",
)
_NEXT_ROW: Final = "(SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'journal')"
BEGIN_STORAGE_LOG: Final = (
    f"""
    INSERT INTO storage_changes (owner, "key", journal_row, editor, at, is_removed)
    SELECT '', '', {_NEXT_ROW}, 'upgrade', 0, 1 WHERE EXISTS (SELECT 1 FROM runs)
    """,  # noqa: S608
    f"""
    INSERT INTO storage_changes (owner, "key", journal_row, editor, at, is_removed)
    SELECT owner, "key", {_NEXT_ROW}, 'upgrade', updated_at, 1 FROM storage
    """,  # noqa: S608
)
"""The log of storage begins here. What was stored before is known as long as it is not changed."""
ROW_BYTES: Final = 128
"""Bytes of an entry in addition to its data, as the recorder counts them."""
_ENDED: Final = "status NOT IN ('created', 'running')"
COUNT: Final = f"""
    UPDATE runs SET journal_bytes = coalesce(journal_bytes, 0) + sizes.bytes
    FROM (
        SELECT run_id, sum(length(CAST(data AS BLOB)) + {ROW_BYTES}) AS bytes FROM journal
        WHERE row BETWEEN ? AND ? GROUP BY run_id
    ) AS sizes
    WHERE runs.run_id = sizes.run_id AND {_ENDED}
"""  # noqa: S608
EMPTY: Final = f"UPDATE runs SET journal_bytes = 0 WHERE journal_bytes IS NULL AND {_ENDED}"  # noqa: S608


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
    connection = op.get_bind()
    for rows in journal_slices():
        connection.exec_driver_sql(COUNT, rows)
    connection.exec_driver_sql(EMPTY)
    for statement in BEGIN_STORAGE_LOG:
        connection.exec_driver_sql(statement)
