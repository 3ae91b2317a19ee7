"""Settings that the user stores for a binding. Each is one JSON value per binding and runner file."""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert as upsert

from engine.store.errors import StoreError
from engine.store.json_text import encode
from engine.store.tables import settings

MAX_SETTINGS_BYTES: Final = 1 << 20
OPENED: Final = "opened"
"""The `binding_id` of rows that store recent places instead of settings. Ids of bindings start with `agent_`."""
Key = tuple[str, str]
"""The id of the binding, and the path of the file that declares its runner."""


class SettingsRefused(StoreError):
    """Raised if settings exceed their size limit."""


def every(conn: Connection) -> dict[Key, Mapping[str, Any]]:
    """Return all stored settings, each value with `updated_at` in it."""
    return {(row.binding_id, row.path): {**row.value, "updated_at": row.updated_at} for row in conn.execute(_EVERY)}


def put(conn: Connection, key: Key, value: Mapping[str, Any], *, at: int) -> None:
    """Store a value and replace an earlier one. Raises SettingsRefused above 1 MiB."""
    if (size := len(encode(value).encode())) > MAX_SETTINGS_BYTES:
        raise SettingsRefused(f"the settings have {size:,} bytes; the limit is {MAX_SETTINGS_BYTES:,}.")
    fresh = {"value": dict(value), "updated_at": at}
    row = {"binding_id": key[0], "path": key[1], **fresh}
    conn.execute(upsert(settings).values(row).on_conflict_do_update(index_elements=["binding_id", "path"], set_=fresh))


def remove(conn: Connection, key: Key) -> bool:
    """Delete a value. Returns whether there was one."""
    gone = conn.execute(delete(settings).where(settings.c.binding_id == key[0], settings.c.path == key[1]))
    return gone.rowcount > 0


_EVERY: Final = select(settings).where(settings.c.binding_id != OPENED)
