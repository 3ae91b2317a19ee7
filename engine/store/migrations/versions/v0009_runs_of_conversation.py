"""Order the index of a conversation's runs by time, so that a page of them is read without sorting."""

from typing import Final

from alembic import op

revision: Final = "0009"
down_revision: Final = "0008"
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    "DROP INDEX runs_conversation",
    "CREATE INDEX runs_conversation ON runs (conversation_id, created_at, run_id)",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
