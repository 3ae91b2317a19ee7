"""Large parts of journal entries. Each is stored once, by its content, whichever entries and runs use it.

A long text is split, so that two texts that have most of their content in common share it: each model call of an agent
contains the whole conversation so far, and some agents count its tokens many times before each call.
"""

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from enum import StrEnum
from hashlib import blake2b
from typing import Final, NamedTuple
from zlib import crc32

from sqlalchemy import Connection

from engine.store.errors import NotFound, StoreError
from engine.store.hidden_sessions import RUN_IS_SHOWN
from engine.store.row_mapping import driver_of

DIGEST_BYTES: Final = 16
MIN_SPLIT_BYTES: Final = 2 * 1024
"""A shorter text is not split."""
MAX_PIECE_BYTES: Final = 64 * 1024
_ENDS: Final = re.compile(rb"(?<=\}),(?=\{)")
"""Between two objects of a JSON array, such as the messages of a conversation, a text may be split."""
_ONE_IN: Final = 8
"""A piece ends after one object in so many, depending on the object's content."""
_MAX_KNOWN: Final = 100_000
_INSERT: Final = "INSERT OR IGNORE INTO parts (digest, kind, content) VALUES (?, ?, ?)"
_USE: Final = "INSERT OR IGNORE INTO part_uses (run_id, digest) VALUES (?, ?)"
_READ: Final = "SELECT kind, content FROM parts WHERE digest = ?"
_IS_USED: Final = f"SELECT 1 FROM part_uses WHERE run_id = ? AND digest = ? AND {RUN_IS_SHOWN}"  # noqa: S608
_USED: Final = """
    SELECT digest, coalesce((SELECT length(content) FROM parts WHERE parts.digest = part_uses.digest), 0)
    FROM part_uses WHERE run_id = ? LIMIT ?
"""
"""The length of a BLOB is in its row: the content is not read."""
_RELEASE: Final = "DELETE FROM part_uses WHERE run_id = ? AND digest = ?"
_DELETE_UNUSED: Final = """
    DELETE FROM parts WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM part_uses WHERE digest = parts.digest)
"""
_USE_COST: Final = 8
"""Deleting a use and its part takes as long as deleting so many rows of the journal, by processor time."""
_PAGE_COST: Final = 10
"""The same for each 4 KiB of the part, which are overwritten: a part of 1 MiB takes 5 ms."""
_PAGE_BYTES: Final = 4 * 1024


class PartDamaged(StoreError):
    """Raised if the content of a part no longer has its digest."""


class PartKind(StrEnum):
    """What the content of a part is."""

    DATA = "data"
    LIST = "list"
    """The digests of the parts that together are the content."""


_DIGEST: Final = re.compile(rf"[0-9a-f]{{{2 * DIGEST_BYTES}}}")


def is_digest(value: object) -> bool:
    """Return whether a value has the form of a part's digest."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def digest_of(kind: PartKind, content: bytes) -> str:
    """Return the digest by which a part is stored."""
    return blake2b(content, digest_size=DIGEST_BYTES, person=kind.encode()).hexdigest()


class RunParts:
    """Stores the parts of one run. Used by the writer's thread only, except `stored_bytes`."""

    def __init__(self, run_id: str, has_secret: Callable[[bytes], bool] = lambda _: False) -> None:
        self._run_id = run_id
        self.has_secret = has_secret
        """Returns whether content has a secret in clear. Such content must not be stored as a part."""
        self._known: set[str] = set()
        """Digests that this run uses already."""
        self.stored_bytes = 0
        """The size of all parts that this run uses, and of its changes of storage."""

    @contextmanager
    def undone_on_error(self) -> Generator[None]:
        """Forget what this run uses if an error undoes what was stored here; then it is stored again."""
        try:
            yield
        except BaseException:
            self._known.clear()
            raise

    def add(self, conn: Connection, content: bytes) -> str:
        """Store a text or bytes as a part, split if it is long. Returns its digest."""
        pieces = list(split(content)) if len(content) > MIN_SPLIT_BYTES else [content]
        digests = [self._store(conn, PartKind.DATA, piece) for piece in pieces]
        if len(digests) == 1:
            return digests[0]
        return self._store(conn, PartKind.LIST, b"".join(map(bytes.fromhex, digests)))

    def add_whole(self, conn: Connection, content: bytes) -> str:
        """Store bytes as one part, whose digest is that of the bytes. Returns the digest."""
        return self._store(conn, PartKind.DATA, content)

    def _store(self, conn: Connection, kind: PartKind, content: bytes) -> str:
        digest = digest_of(kind, content)
        if digest not in self._known:
            driver = driver_of(conn)
            driver.execute(_INSERT, (digest, kind, content))
            if driver.execute(_USE, (self._run_id, digest)).rowcount:
                self.stored_bytes += len(content)
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known.add(digest)
        return digest


def split(content: bytes) -> Iterator[bytes]:
    """Yield the pieces of a text. Where a piece ends depends on its content only.

    So the pieces of two texts are the same from the first common end on, also if one text has more at its beginning.
    """
    start = before = 0
    for end in (found.start() for found in _ENDS.finditer(content)):
        if crc32(content[before:end]) % _ONE_IN == 0 or end - start >= MAX_PIECE_BYTES:
            yield content[start:end]
            start = end
        before = end
    yield content[start:]


def read(conn: Connection, digest: str) -> bytes:
    """Return the content of a part. Raises NotFound, or PartDamaged if it has changed since it was stored."""
    kind, content = _read(conn, digest)
    if kind == PartKind.DATA:
        return content
    pieces = (content[start : start + DIGEST_BYTES].hex() for start in range(0, len(content), DIGEST_BYTES))
    return b"".join(_read_piece(conn, piece) for piece in pieces)


def _read_piece(conn: Connection, digest: str) -> bytes:
    kind, content = _read(conn, digest)
    if kind != PartKind.DATA:  # no part is a list of lists: reading one might never end
        raise PartDamaged(f"The content of part {digest} is damaged.")
    return content


def _read(conn: Connection, digest: str) -> tuple[PartKind, bytes]:
    row = driver_of(conn).execute(_READ, (digest,)).fetchone()
    if row is None:
        raise NotFound(f"Part {digest:.40} is not stored.")
    kind, content = row
    is_whole = kind in tuple(PartKind) and isinstance(content, bytes)
    if not is_whole or digest_of(PartKind(kind), content) != digest:
        raise PartDamaged(f"The content of part {digest} is damaged.")
    return PartKind(kind), content


def is_used_by(conn: Connection, run_id: str, digest: str) -> bool:
    """Return whether a run uses a part. A run of a hidden session uses none."""
    return driver_of(conn).execute(_IS_USED, (run_id, digest)).fetchone() is not None


class Released(NamedTuple):
    """What `release` did."""

    parts: int
    """Deleted parts."""
    cost: int
    """The work, in rows of the journal that could have been deleted in that time."""


def release(conn: Connection, run_id: str, max_cost: int) -> Released:
    """Delete uses by a run, and the parts that no other run uses. One call deletes at least one use, if there is one.

    A cost below `max_cost` means that the run uses no part any more.
    """
    driver = driver_of(conn)
    deleted = cost = 0
    for digest, size in driver.execute(_USED, (run_id, max(1, max_cost))).fetchall():
        driver.execute(_RELEASE, (run_id, digest))
        deleted += driver.execute(_DELETE_UNUSED, (digest,)).rowcount
        cost += _USE_COST + _PAGE_COST * (size // _PAGE_BYTES)
        if cost >= max_cost:
            break
    return Released(deleted, cost)
