"""Values that plugins store under a key, separately for each owner."""

from typing import Final

from sqlalchemy import Connection, func, select
from sqlalchemy import delete as delete_from
from sqlalchemy.dialects.sqlite import insert as upsert

from engine.store.errors import NotFound, StoreError
from engine.store.tables import storage

MAX_KEY_CHARACTERS: Final = 255
MAX_VALUE_BYTES: Final = 1 << 20
QUOTA: Final = 64 << 20
MAX_KEYS: Final = 10_000


class StorageRefused(StoreError):
    """Raised if a key is empty or too long."""


class QuotaExceeded(StoreError):
    """Raised if a value is too large, or the owner would exceed its quota."""


def get(conn: Connection, owner: str, key: str) -> bytes:
    value = conn.execute(select(storage.c.value).where(storage.c.owner == owner, storage.c.key == key)).scalar()
    if value is None:
        raise NotFound(f"nothing is stored under {key!r:.80}")
    return value


def put(conn: Connection, owner: str, key: str, value: bytes, *, at: int) -> None:
    """Store a value. Raises QuotaExceeded if the owner would exceed its quota with it."""
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
    row = {"owner": owner, "key": key, "value": value, "updated_at": at}
    conn.execute(
        upsert(storage)
        .values(row)
        .on_conflict_do_update(index_elements=["owner", "key"], set_={"value": value, "updated_at": at})
    )


def delete(conn: Connection, owner: str, key: str) -> bool:
    """Delete a value. Returns whether it existed."""
    gone = conn.execute(delete_from(storage).where(storage.c.owner == owner, storage.c.key == key))
    return gone.rowcount > 0


def keys(conn: Connection, owner: str) -> list[str]:
    """Return the owner's keys in order."""
    return list(conn.execute(select(storage.c.key).where(storage.c.owner == owner).order_by(storage.c.key)).scalars())
