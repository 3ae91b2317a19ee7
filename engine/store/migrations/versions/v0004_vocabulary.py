"""Rename hold, held and person to breakpoint, pause and user in all stored data.

Changes the types, sources and payload words of journal entries, the fates and metadata of queued messages, the types,
sources and statuses of the event log, and the editors of state changes.
"""

from typing import Final

from alembic import op

from engine.store.migrations.journal_slices import journal_slices

revision: Final = "0004"
down_revision: Final = "0003"
branch_labels: Final = None
depends_on: Final = None

TYPES: Final = {
    "hold.armed": "breakpoint.set",
    "hold.disarmed": "breakpoint.removed",
    "hold.reached": "pause.started",
    "hold.released": "pause.ended",
    "hold.edited": "pause.edited",
    "steering.held": "steering.paused",
    "steering.released": "steering.resumed",
}
_RENAMED: Final = "CASE {column} " + " ".join(f"WHEN '{old}' THEN '{new}'" for old, new in TYPES.items()) + " END"
_OLD: Final = ", ".join(f"'{old}'" for old in TYPES)

# Payload words. The entries still have their old types here. The host wrote all of them, except results of a runner,
# whose own `result.…` types do not match.
_WHEN: Final = """
    UPDATE journal SET data = json_set(data, '$.when', 'steering' || substr(json_extract(data, '$.when'), 5))
    WHERE row BETWEEN ? AND ? AND type IN ('hold.armed', 'hold.disarmed', 'hold.reached', 'hold.released')
    AND (json_extract(data, '$.when') = 'pull' OR json_extract(data, '$.when') LIKE 'pull#%')
"""
_HOW: Final = """
    UPDATE journal SET data = json_set(data, '$.how', 'continue')
    WHERE row BETWEEN ? AND ? AND type = 'hold.released' AND json_extract(data, '$.how') = 'release'
"""
_QUEUED: Final = """
    UPDATE journal SET data = json_remove(json_set(data, '$.paused', json('true')), '$.held')
    WHERE row BETWEEN ? AND ? AND type = 'steering.queued' AND json_extract(data, '$.held')
"""
_TYPE: Final = f"""
    UPDATE journal SET type = {_RENAMED.format(column="type")} WHERE row BETWEEN ? AND ? AND type IN ({_OLD})
"""  # noqa: S608
_SOURCE: Final = "UPDATE journal SET source = 'user' WHERE row BETWEEN ? AND ? AND source = 'person'"
JOURNAL: Final = (_WHEN, _HOW, _QUEUED, _TYPE, _SOURCE)

OTHERS: Final = (
    "UPDATE queue SET fate = 'paused' WHERE fate = 'held'",
    """
    UPDATE queue SET metadata = json_remove(json_set(metadata, '$.was_paused', json('true')), '$.was_held')
    WHERE json_type(metadata, '$.was_held') IS NOT NULL
    """,
    """
    UPDATE events SET metadata = json_set(
        metadata, '$.steering.status',
        CASE json_extract(metadata, '$.steering.status') WHEN 'held' THEN 'paused' ELSE 'resumed' END
    ) WHERE event_type IN ('steering.held', 'steering.released')
    AND json_extract(metadata, '$.steering.status') IN ('held', 'released')
    """,
    f"UPDATE events SET event_type = {_RENAMED.format(column='event_type')} WHERE event_type IN ({_OLD})",  # noqa: S608
    "UPDATE events SET source = 'user' WHERE source = 'person'",
    "UPDATE state_changes SET editor = 'user' WHERE editor = 'person'",
)


def upgrade() -> None:
    connection = op.get_bind()
    for rows in journal_slices():
        for statement in JOURNAL:
            connection.exec_driver_sql(statement, rows)
    for statement in OTHERS:
        connection.exec_driver_sql(statement)
