"""Settings that a person keeps for a binding; each is one JSON value under the binding and the runner's file."""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert as upsert

from engine.facts.errors import FactsError
from engine.facts.json_text import encode
from engine.facts.tables import settings

LARGEST: Final = 1 << 20
OPENED: Final = "opened"
"""Under this stand places and no settings. No binding is called so: the ids of those begin with `agent_`."""
Key = tuple[str, str]
"""The binding's id, and the path of the file that declares its runner."""


class SettingsRefused(FactsError):
    """Settings over their limit."""


def every(conn: Connection) -> dict[Key, Mapping[str, Any]]:
    """All that is kept, each value with `updated_at` in it."""
    return {(row.binding_id, row.path): {**row.value, "updated_at": row.updated_at} for row in conn.execute(_EVERY)}


def put(conn: Connection, key: Key, value: Mapping[str, Any], *, at: int) -> None:
    """Keep a value in place of the one that was there."""
    if (size := len(encode(value).encode())) > LARGEST:
        raise SettingsRefused(f"settings of {size:,} bytes are more than may be kept ({LARGEST:,})")
    fresh = {"value": dict(value), "updated_at": at}
    row = {"binding_id": key[0], "path": key[1], **fresh}
    conn.execute(upsert(settings).values(row).on_conflict_do_update(index_elements=["binding_id", "path"], set_=fresh))


def remove(conn: Connection, key: Key) -> bool:
    """Whether there were any."""
    gone = conn.execute(delete(settings).where(settings.c.binding_id == key[0], settings.c.path == key[1]))
    return gone.rowcount > 0


_EVERY: Final = select(settings).where(settings.c.binding_id != OPENED)
