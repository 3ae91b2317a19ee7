"""Add the requests between processes, and the time of the last activity of a run."""

from typing import Final

from alembic import op

revision: Final = "0008"
down_revision: Final = "0007"
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    """
    CREATE TABLE requests (
        request_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, run_id TEXT, action TEXT NOT NULL,
        arguments TEXT, sender TEXT NOT NULL, created_at INTEGER NOT NULL, taken_at INTEGER, answered_at INTEGER,
        receipt TEXT
    )
    """,
    "CREATE INDEX requests_host ON requests (host, answered_at)",
    "ALTER TABLE runs ADD COLUMN last_activity_at INTEGER",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
