"""Add the table of the user's settings, and an index for the last run of a runner."""

from typing import Final

from alembic import op

revision: Final = "0003"
down_revision: Final = "0002"
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    """
    CREATE TABLE settings (
        binding_id TEXT NOT NULL, path TEXT NOT NULL, value TEXT NOT NULL, updated_at INTEGER NOT NULL,
        CONSTRAINT settings_place PRIMARY KEY (binding_id, path)
    )
    """,
    "CREATE INDEX runs_runner ON runs (runner_id, created_at)",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
