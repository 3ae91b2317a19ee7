"""Removes deleted words from the pages of the search indexes, in small slices.

An FTS5 index consists of segments. Deleting a line only adds a mark to a new segment; the words stay in the old ones
until all segments are merged into one. SQLite 3.40 does that only at once (`optimize`, minutes in a large index) or in
slices (`merge`), so a table keeps which segments a merge covers: any process can continue it. Nothing here depends on
the columns of an index.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from engine.store.json_text import decode, encode
from engine.store.row_mapping import driver_of
from engine.store.tables import SEARCH_INDEXES

_REQUEST: Final = """
    INSERT INTO index_cleanup (index_name, requested) VALUES (?, 1)
    ON CONFLICT (index_name) DO UPDATE SET requested = requested + 1, inputs = nullif(inputs, '[]')
"""
_REQUEST_EMPTY_WAL: Final = """
    INSERT INTO index_cleanup (index_name, requested, inputs) VALUES (?, 1, '[]') ON CONFLICT (index_name) DO NOTHING
"""
_ROWS: Final = "SELECT index_name, requested, merging, inputs, pages FROM index_cleanup ORDER BY index_name"
_SAVE: Final = "UPDATE index_cleanup SET merging = ?, inputs = ?, pages = ? WHERE index_name = ?"
_FINISH: Final = "DELETE FROM index_cleanup WHERE index_name = ? AND requested = ? AND inputs = '[]'"
_STRUCTURE_ID: Final = 10
"""The row of an index's data table that describes its segments."""


class Segment(NamedTuple):
    """One segment of an index, with the numbers of its first and last page; both are 0 if a merge has taken all."""

    segment_id: int
    first: int
    last: int

    @property
    def pages(self) -> int:
        return self.last - self.first + 1 if self.last else 0


class Level(NamedTuple):
    """Segments of similar size; a merge in progress merges the first `merging` of them."""

    merging: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class IndexCleanup:
    """How far the clean-up of an index has got."""

    index_name: str
    requested: int
    """Counts the deletions since the last clean-up."""
    merging: int | None
    """The value of `requested` when the merge began."""
    inputs: tuple[tuple[int, int], ...] | None
    """Id and last page of each segment that the merge covers; None before it begins, empty when it is done."""
    pages: int
    """Pages of the inputs when the merge began."""
    pages_left: int = 0

    @property
    def is_merged(self) -> bool:
        """Whether the words are out of the index; its old pages may still be in the WAL."""
        return self.inputs == ()

    @property
    def share_done(self) -> float:
        """How much of the merge is done, from 0 to 1."""
        if self.inputs is None:
            return 0.0
        return 1 - self.pages_left / self.pages if self.pages and not self.is_merged else 1.0


def request(conn: Connection, *, has_words: bool) -> None:
    """Ask for a clean-up after a deletion. Without deleted words only the WAL has to be emptied."""
    for name in SEARCH_INDEXES:
        driver_of(conn).execute(_REQUEST if has_words else _REQUEST_EMPTY_WAL, (name,))


def pending(conn: Connection) -> list[IndexCleanup]:
    """Return the clean-ups that are not finished. An index that no longer exists needs none."""
    rows = driver_of(conn).execute(_ROWS).fetchall()
    return [_progress(driver_of(conn), row) for row in rows if row[0] in SEARCH_INDEXES]


def merge_slice(conn: Connection, max_pages: int) -> None:
    """Merge about `max_pages` pages of the first index that has deleted words."""
    driver = driver_of(conn)
    for cleanup in pending(conn):
        if cleanup.inputs is None:
            _begin(driver, cleanup, max_pages)
            return
        if not cleanup.is_merged:
            _continue(driver, cleanup, max_pages)
            return


def finish(conn: Connection, merged: list[IndexCleanup]) -> None:
    """Remove the clean-ups that were merged before the WAL was emptied, unless more was deleted since."""
    for cleanup in merged:
        driver_of(conn).execute(_FINISH, (cleanup.index_name, cleanup.requested))


def _begin(driver: sqlite3.Connection, cleanup: IndexCleanup, max_pages: int) -> None:
    """Begin to merge all segments into one. A negative number of pages selects all of them."""
    name = cleanup.index_name
    # With the default of 4, a merge of few segments would never be continued while there are as many new segments.
    driver.execute(f"INSERT INTO {name} ({name}, rank) VALUES ('usermerge', 2)")  # noqa: S608
    _merge(driver, name, -max_pages)
    # The oldest segments are on the highest level; a merge of newer ones is on a lower level.
    merging = [level for level in _structure(driver, name) if level.merging]
    inputs = merging[-1].segments[: merging[-1].merging] if merging else ()
    pages = sum(segment.pages for segment in inputs)
    saved = encode([(segment.segment_id, segment.last) for segment in inputs])
    driver.execute(_SAVE, (cleanup.requested, saved, pages, name))
    if not inputs:
        _remove_empty_levels(driver, name)


def _continue(driver: sqlite3.Connection, cleanup: IndexCleanup, max_pages: int) -> None:
    _merge(driver, cleanup.index_name, max_pages)
    if _inputs_left(driver, cleanup) is not None:
        return
    _remove_empty_levels(driver, cleanup.index_name)
    # More was deleted while the merge was in progress: those words are in segments that it does not cover.
    inputs = "[]" if cleanup.merging == cleanup.requested else None
    driver.execute(_SAVE, (cleanup.merging, inputs, cleanup.pages, cleanup.index_name))


def _merge(driver: sqlite3.Connection, name: str, pages: int) -> None:
    driver.execute(f"INSERT INTO {name} ({name}, rank) VALUES ('merge', ?)", (pages,))  # noqa: S608


def _progress(driver: sqlite3.Connection, row: tuple[Any, ...]) -> IndexCleanup:
    name, requested, merging, text, pages = row
    inputs = None if text is None else tuple((int(number), int(last)) for number, last in decode(text))
    cleanup = IndexCleanup(name, requested, merging, inputs, pages or 0)
    left = _inputs_left(driver, cleanup) if inputs else None
    return IndexCleanup(name, requested, merging, inputs, pages or 0, left or 0)


def _inputs_left(driver: sqlite3.Connection, cleanup: IndexCleanup) -> int | None:
    """Return the pages that are not merged yet; None if the merge is done.

    FTS5 removes the inputs of a merge together, at its end. Until then an input keeps its last page, or has none.
    """
    levels = _structure(driver, cleanup.index_name)
    now = {segment.segment_id: segment for level in levels for segment in level.segments}
    found = [now[number] for number, last in cleanup.inputs or () if number in now and now[number].last in (0, last)]
    return sum(segment.pages for segment in found) if len(found) == len(cleanup.inputs or ()) else None


@dataclass(frozen=True, slots=True)
class _Structure:
    """The record that describes the segments of an index."""

    cookie: bytes
    writes: int
    levels: tuple[Level, ...]
    """The newest segments first."""

    @classmethod
    def decode(cls, data: bytes) -> "_Structure":
        numbers = _read_numbers(data[4:])
        level_count, _segment_count, writes = next(numbers), next(numbers), next(numbers)
        levels: list[Level] = []
        for _ in range(level_count):
            merging, count = next(numbers), next(numbers)
            segments = tuple(Segment(next(numbers), next(numbers), next(numbers)) for _ in range(count))
            levels.append(Level(merging, segments))
        return cls(data[:4], writes, tuple(levels))

    def encode(self) -> bytes:
        numbers = [len(self.levels), sum(len(level.segments) for level in self.levels), self.writes]
        for level in self.levels:
            numbers += [level.merging, len(level.segments), *(part for segment in level.segments for part in segment)]
        return self.cookie + b"".join(map(_encode_number, numbers))


def _remove_empty_levels(driver: sqlite3.Connection, name: str) -> None:
    """Remove the empty levels of an index. The order of its segments stays the same.

    Every merge of all segments adds two levels and SQLite 3.40 never removes any; with more than 2,000 it takes the
    index for damaged. FTS5 reads the record again because a merge has just dropped its copy.
    """
    data = _read_structure(driver, name)
    if data is None:
        return
    structure = _Structure.decode(data)
    if structure.encode() != data:
        return  # a format that this version does not know
    levels = tuple(level for level in structure.levels if level.segments)
    if len(levels) < len(structure.levels):
        shorter = _Structure(structure.cookie, structure.writes, levels).encode()
        driver.execute(f"UPDATE {name}_data SET block = ? WHERE id = ?", (shorter, _STRUCTURE_ID))  # noqa: S608


def _structure(driver: sqlite3.Connection, name: str) -> tuple[Level, ...]:
    data = _read_structure(driver, name)
    return () if data is None else _Structure.decode(data).levels


def _read_structure(driver: sqlite3.Connection, name: str) -> bytes | None:
    row = driver.execute(f"SELECT block FROM {name}_data WHERE id = ?", (_STRUCTURE_ID,)).fetchone()  # noqa: S608
    return None if row is None else row[0]


def _read_numbers(data: bytes) -> Iterator[int]:
    """Yield SQLite's variable-length integers; none here needs more than eight bytes."""
    value = 0
    for byte in data:
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            yield value
            value = 0


def _encode_number(number: int) -> bytes:
    encoded = [number & 0x7F]
    while number := number >> 7:
        encoded.append(number & 0x7F | 0x80)
    return bytes(reversed(encoded))
