"""Add the totals of each state scope, and the triggers that keep them up to date."""

from typing import Final

from alembic import op

revision: Final = "0005"
down_revision: Final = "0004"
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    """
    CREATE TABLE state_totals (
        scope_key TEXT NOT NULL, bytes INTEGER NOT NULL, keys INTEGER NOT NULL, PRIMARY KEY (scope_key)
    )
    """,
    """
    INSERT INTO state_totals (scope_key, bytes, keys)
    SELECT scope_key, sum(length(CAST(state_key AS BLOB)) + length(CAST(value AS BLOB))), count(*)
    FROM state GROUP BY scope_key
    """,
    "CREATE TRIGGER state_inserted AFTER INSERT ON state BEGIN "
    "INSERT INTO state_totals (scope_key, bytes, keys) "
    "VALUES (new.scope_key, length(CAST(new.state_key AS BLOB)) + length(CAST(new.value AS BLOB)), 1) "
    "ON CONFLICT (scope_key) DO UPDATE SET bytes = bytes + excluded.bytes, keys = keys + 1; END",
    "CREATE TRIGGER state_updated AFTER UPDATE OF value ON state BEGIN "
    "UPDATE state_totals SET bytes = bytes + length(CAST(new.value AS BLOB)) - length(CAST(old.value AS BLOB)) "
    "WHERE scope_key = new.scope_key; END",
    "CREATE TRIGGER state_deleted AFTER DELETE ON state BEGIN "
    "UPDATE state_totals "
    "SET bytes = bytes - length(CAST(old.state_key AS BLOB)) - length(CAST(old.value AS BLOB)), keys = keys - 1 "
    "WHERE scope_key = old.scope_key; "
    "DELETE FROM state_totals WHERE scope_key = old.scope_key AND keys = 0; END",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
