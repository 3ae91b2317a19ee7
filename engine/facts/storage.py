"""Bytes that plugins keep under a key, each owner for itself."""

from typing import Final

from sqlalchemy import Connection, func, select
from sqlalchemy import delete as delete_from
from sqlalchemy.dialects.sqlite import insert as upsert

from engine.facts.errors import FactsError, NotFound
from engine.facts.tables import storage

LONGEST_KEY: Final = 255
LARGEST_VALUE: Final = 1 << 20
QUOTA: Final = 64 << 20
MOST_KEYS: Final = 10_000


class StorageRefused(FactsError):
    """A key or value over its limit."""


class QuotaExceeded(FactsError):
    """The owner has used all that it may keep."""


def get(conn: Connection, owner: str, key: str) -> bytes:
    value = conn.execute(select(storage.c.value).where(storage.c.owner == owner, storage.c.key == key)).scalar()
    if value is None:
        raise NotFound(f"nothing is stored under {key!r:.80}")
    return value


def put(conn: Connection, owner: str, key: str, value: bytes, *, at: int) -> None:
    """Keep a value; the owner's quota counts what it would have afterwards."""
    if not key or len(key) > LONGEST_KEY:
        raise StorageRefused(f"a storage key has 1 to {LONGEST_KEY} characters; this one has {len(key)}")
    if len(value) > LARGEST_VALUE:
        raise QuotaExceeded(f"{len(value)} bytes are more than one value may have ({LARGEST_VALUE})")
    others = select(func.coalesce(func.sum(func.length(storage.c.value)), 0), func.count()).where(
        storage.c.owner == owner, storage.c.key != key
    )
    used, count = conn.execute(others).one()
    if used + len(value) > QUOTA:
        raise QuotaExceeded(f"{used + len(value)} bytes are more than may be kept in all ({QUOTA})")
    if count >= MOST_KEYS:
        raise QuotaExceeded(f"more than {MOST_KEYS} keys")
    row = {"owner": owner, "key": key, "value": value, "updated_at": at}
    conn.execute(
        upsert(storage)
        .values(row)
        .on_conflict_do_update(index_elements=["owner", "key"], set_={"value": value, "updated_at": at})
    )


def delete(conn: Connection, owner: str, key: str) -> bool:
    """Whether it was there."""
    gone = conn.execute(delete_from(storage).where(storage.c.owner == owner, storage.c.key == key))
    return gone.rowcount > 0


def keys(conn: Connection, owner: str) -> list[str]:
    """The owner's keys, in order."""
    return list(conn.execute(select(storage.c.key).where(storage.c.owner == owner).order_by(storage.c.key)).scalars())
