"""How much each session, and the whole database, takes on disk.

A size is a sum of stored lengths, without the rest of the pages that SQLite keeps them in. Nothing here reads the
journal: a run's row has the size of its journal once the run has ended.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from engine.store.json_text import encode
from engine.store.private_files import sqlite_files
from engine.store.row_mapping import driver_of

LINE_BYTES: Final = 350
"""Bytes of a transcript line in addition to its text: its other columns and its places in three indexes."""
TEXT_COPIES: Final = 2
"""A line has its text twice: as it is searched, and in the message as it was sent."""
INDEX_BYTES: Final = 3
"""Bytes of the search index for each character of a line, measured with lines of 80 to 1,000 characters."""

_JOURNAL: Final = "SELECT conversation_id, sum(journal_bytes) FROM {runs} GROUP BY conversation_id"
_LINES: Final = "SELECT conversation_id, count(*), sum(length(content)) FROM {transcript} GROUP BY conversation_id"
# `length` of a blob does not read the blob. Sums by SQLite would take twice as long, because it sorts the rows first.
_BLOBS: Final = """
    SELECT session, length(content), {is_shared}
    FROM (SELECT DISTINCT conversation_id AS session, blob_key FROM {artifacts} WHERE blob_key IS NOT NULL) AS own
    CROSS JOIN artifact_blobs USING (blob_key)
"""
_PARTS: Final = """
    SELECT session, length(content), {is_shared}
    FROM (
        SELECT DISTINCT conversation_id AS session, digest FROM {runs} CROSS JOIN part_uses USING (run_id)
    ) AS own CROSS JOIN parts USING (digest)
"""
# Each stops at the first other session, so it reads no more rows than the session's own and one.
_IS_BLOB_SHARED: Final = """
    EXISTS (SELECT 1 FROM artifacts WHERE blob_key = own.blob_key AND conversation_id IS NOT own.session)
"""
_IS_PART_SHARED: Final = """
    EXISTS (
        SELECT 1 FROM part_uses AS use CROSS JOIN runs USING (run_id)
        WHERE use.digest = own.digest AND runs.conversation_id IS NOT own.session
    )
"""
_OF_THESE: Final = "(SELECT {name}.* FROM json_each(?) AS these CROSS JOIN {name} ON conversation_id = these.value)"
_TABLES: Final = ("runs", "transcript", "artifacts")
_THESE: Final = {name: _OF_THESE.format(name=name) for name in _TABLES}
_ALL: Final = {name: name for name in _TABLES}
_TOTAL: Final = """
    SELECT
        (SELECT sum(journal_bytes) FROM runs),
        (SELECT sum(length(content)) FROM artifact_blobs),
        (SELECT sum(length(content)) FROM parts),
        (SELECT count(*) FROM transcript),
        (SELECT sum(length(content)) FROM transcript)
"""
_TITLES: Final = "SELECT session_id, title FROM sessions WHERE deleted_at IS NULL"


@dataclass(frozen=True, slots=True)
class StoredSize:
    """The size of a session or of the whole database, in bytes."""

    journal_bytes: int = 0
    """The journals of ended runs. That of a run in progress counts when the run has ended."""
    artifact_bytes: int = 0
    """The content of artifacts that is in the database. Files elsewhere do not count."""
    part_bytes: int = 0
    """Large requests and replies, which journals refer to."""
    transcript_bytes: int = 0
    """About: estimated from the number and the characters of the lines."""
    index_bytes: int = 0
    """About: the lines' part of the search index, estimated from their characters."""
    shared_bytes: int = 0
    """How much of the artifacts and parts other sessions use too. Deleting one session does not free it."""

    @property
    def total_bytes(self) -> int:
        pieces = (self.journal_bytes, self.artifact_bytes, self.part_bytes, self.transcript_bytes, self.index_bytes)
        return sum(pieces)


@dataclass(frozen=True, slots=True)
class SessionSize:
    """A session with its size."""

    session_id: str
    title: str | None
    size: StoredSize


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """The size of the files of a database, in bytes."""

    file_bytes: int
    """Includes the WAL and the shared memory file."""
    free_bytes: int = 0
    """Pages of deleted data, which new data uses before the file grows."""

    @property
    def used_bytes(self) -> int:
        return max(0, self.file_bytes - self.free_bytes)


def of_sessions(conn: Connection, session_ids: Collection[str]) -> dict[str, StoredSize]:
    """Return the sizes of some sessions. What several sessions share counts for each of them.

    Reads the rows of these sessions by indexes: 100 of 10,000 take 15 ms (`tests/bench/sizes.py`).
    """
    driver, these = driver_of(conn), (encode(list(session_ids)),)
    journal = Counter[str](dict(driver.execute(_JOURNAL.format(**_THESE), these)))
    lines, characters, artifacts, parts, shared = (Counter[str]() for _ in range(5))
    for session_id, count, length in driver.execute(_LINES.format(**_THESE), these):
        lines[session_id], characters[session_id] = count, length or 0
    for statement, is_shared, counted in ((_BLOBS, _IS_BLOB_SHARED, artifacts), (_PARTS, _IS_PART_SHARED, parts)):
        for session_id, length, has_others in driver.execute(statement.format(**_THESE, is_shared=is_shared), these):
            counted[session_id] += length
            shared[session_id] += length if has_others else 0
    return {
        each: StoredSize(
            journal[each] or 0,
            artifacts[each],
            parts[each],
            _transcript_bytes(lines[each], characters[each]),
            characters[each] * INDEX_BYTES,
            shared[each],
        )
        for each in session_ids
    }


def of_database(conn: Connection) -> StoredSize:
    """Return the size of everything, also of runs without a session. What sessions share counts once."""
    journal, blobs, parts, lines, characters = (each or 0 for each in driver_of(conn).execute(_TOTAL).fetchone())
    return StoredSize(journal, blobs, parts, _transcript_bytes(lines, characters), characters * INDEX_BYTES)


def largest(conn: Connection, limit: int) -> list[SessionSize]:
    """Return the largest sessions, the largest first.

    Reads all runs, lines, artifacts and parts, but no journal: 0.6 s for 10,000 sessions (`tests/bench/sizes.py`).
    """
    driver = driver_of(conn)
    totals = Counter[str]()
    for session_id, count in driver.execute(_JOURNAL.format(**_ALL)):
        totals[session_id] += count or 0
    for session_id, count, length in driver.execute(_LINES.format(**_ALL)):
        totals[session_id] += _transcript_bytes(count, length or 0) + (length or 0) * INDEX_BYTES
    for statement in (_BLOBS, _PARTS):
        for session_id, length, _ in driver.execute(statement.format(**_ALL, is_shared="0")):
            totals[session_id] += length
    titles = dict[str, str | None](driver.execute(_TITLES).fetchall())
    chosen = [each for each, _ in totals.most_common() if each in titles][:limit]
    sizes = of_sessions(conn, chosen)
    return [SessionSize(each, titles[each], sizes[each]) for each in chosen]


def disk_usage(conn: Connection, path: Path) -> DiskUsage:
    """Return the size of a database's files, and how much of it is free. Reads two numbers of the file's header."""
    free = conn.exec_driver_sql("PRAGMA freelist_count").scalar_one()
    return DiskUsage(file_bytes(path), free * conn.exec_driver_sql("PRAGMA page_size").scalar_one())


def file_bytes(path: Path) -> int:
    """Return the size of a database's files, with the WAL and the shared memory file."""
    return sum(file.stat().st_size for file in sqlite_files(path) if file.exists())


def _transcript_bytes(lines: int, characters: int) -> int:
    return lines * LINE_BYTES + characters * TEXT_COPIES
