"""Add the time at which each key of the state was created.

For existing keys that is the first change since the key was deleted last, or the last change if its log was pruned.
"""

from typing import Final

from alembic import op

revision: Final = "0011"
down_revision: Final = "0010"
branch_labels: Final = None
depends_on: Final = None

_COPIED: Final = (
    "scope_key, state_key, value, scope, runner_id, binding_id, bot_id, workspace_id, conversation_id, thread_id, "
    "actor_type, actor_id, subject_type, subject_id, updated_at"
)
STATEMENTS: Final = (
    "ALTER TABLE state RENAME TO state_before",
    """
    CREATE TABLE state (
        scope_key TEXT NOT NULL, state_key TEXT NOT NULL,
        value TEXT NOT NULL, scope TEXT NOT NULL, runner_id TEXT NOT NULL, binding_id TEXT NOT NULL,
        bot_id TEXT, workspace_id TEXT, conversation_id TEXT, thread_id TEXT,
        actor_type TEXT, actor_id TEXT, subject_type TEXT, subject_id TEXT,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
        CONSTRAINT state_place PRIMARY KEY (scope_key, state_key)
    )
    """,
    f"""
    INSERT INTO state ({_COPIED}, created_at)
    SELECT {_COPIED}, coalesce((
        SELECT min(changes.at) FROM state_changes AS changes
        WHERE changes.scope_key = state_before.scope_key AND changes.state_key = state_before.state_key
        AND changes.change > coalesce((
            SELECT max(deleted.change) FROM state_changes AS deleted
            WHERE deleted.scope_key = state_before.scope_key AND deleted.state_key = state_before.state_key
            AND deleted.value IS NULL
        ), 0)
    ), updated_at) FROM state_before
    """,  # noqa: S608
    "DROP TABLE state_before",
    "CREATE INDEX state_conversation ON state (conversation_id)",
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
