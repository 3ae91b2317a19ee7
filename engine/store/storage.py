"""Values that plugins store under a key, separately for each owner. Every change is logged."""

from typing import Final

from sqlalchemy import Connection, func, select
from sqlalchemy import delete as delete_from
from sqlalchemy.dialects.sqlite import insert as upsert

from engine.store import storage_log
from engine.store.errors import NotFound, StoreError
from engine.store.parts import RunParts
from engine.store.state import ChangeOrigin
from engine.store.tables import storage

MAX_KEY_CHARACTERS: Final = 255
MAX_VALUE_BYTES: Final = 1 << 20
QUOTA: Final = 64 << 20
MAX_KEYS: Final = 10_000


class StorageRefused(StoreError):
    """Raised if a key is empty or too long."""


class QuotaExceeded(StoreError):
    """Raised if a value is too large, or the owner would exceed its quota."""


def plugin_owner(plugin: str) -> str:
    """Return the owner of a plugin's storage."""
    return f"plugin:{plugin}"


def workspace_owner(workspace_id: str | None) -> str:
    """Return the owner of the storage that all plugins of a workspace share."""
    return f"workspace:{workspace_id or ''}"


def get(conn: Connection, owner: str, key: str) -> bytes:
    value = conn.execute(select(storage.c.value).where(storage.c.owner == owner, storage.c.key == key)).scalar()
    if value is None:
        raise NotFound(f"nothing is stored under {key!r:.80}")
    return value


def put(
    conn: Connection, owner: str, key: str, value: bytes, change: ChangeOrigin, run_parts: RunParts | None = None
) -> None:
    """Store a value and log the change. Raises QuotaExceeded if the owner would exceed its quota with it.

    `run_parts` are the parts of the run that makes the change.
    """
    if not key or len(key) > MAX_KEY_CHARACTERS:
        raise StorageRefused(f"a storage key has 1 to {MAX_KEY_CHARACTERS} characters; this one has {len(key)}")
    if len(value) > MAX_VALUE_BYTES:
        raise QuotaExceeded(f"the value has {len(value)} bytes; the limit is {MAX_VALUE_BYTES}")
    others = select(func.coalesce(func.sum(func.length(storage.c.value)), 0), func.count()).where(
        storage.c.owner == owner, storage.c.key != key
    )
    used, count = conn.execute(others).one()
    if used + len(value) > QUOTA:
        raise QuotaExceeded(f"all values together would have {used + len(value)} bytes; the limit is {QUOTA}")
    if count >= MAX_KEYS:
        raise QuotaExceeded(f"there are {count} keys already; the limit is {MAX_KEYS}")
    row = {"owner": owner, "key": key, "value": value, "updated_at": change.at}
    conn.execute(
        upsert(storage)
        .values(row)
        .on_conflict_do_update(index_elements=["owner", "key"], set_={"value": value, "updated_at": change.at})
    )
    storage_log.note(conn, owner, key, value, change, run_parts)


def delete(conn: Connection, owner: str, key: str, change: ChangeOrigin, run_parts: RunParts | None = None) -> bool:
    """Delete a value and log the change. Returns whether the value existed."""
    gone = conn.execute(delete_from(storage).where(storage.c.owner == owner, storage.c.key == key))
    if gone.rowcount:
        storage_log.note(conn, owner, key, None, change, run_parts)
    return gone.rowcount > 0


def keys(conn: Connection, owner: str) -> list[str]:
    """Return the owner's keys in order."""
    return list(conn.execute(select(storage.c.key).where(storage.c.owner == owner).order_by(storage.c.key)).scalars())
