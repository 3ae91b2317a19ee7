"""Queries on the journal. Positions order the entries of one run; a global row orders the entries of all runs."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

import orjson
from sqlalchemy import Connection

from engine.events import NOT_IN_OUTLINE, REREAD_CHARACTERS, Entry, EntryHead, EntryKind, Outcome
from engine.store.async_reader import Query, Row, run_query
from engine.store.hidden_sessions import RUN_IS_SHOWN

COLUMNS: Final = ", ".join(Entry._fields)
ROW_BYTES: Final = 128
"""Bytes of an entry on disk in addition to its data: its other columns and its place in the index (119 for a printed
line).
"""
SIZES: Final = (256, 64, 16, 4, 1)
"""Rows per INSERT. A multi-row INSERT runs without the GIL; executemany takes the GIL again for every row."""

_NOT_IN_OUTLINE: Final = ", ".join(f"'{kind}'" for kind in NOT_IN_OUTLINE)
_ONE_ROW: Final = "(" + ", ".join("?" * len(Entry._fields)) + ")"
INSERTS: Final = {size: f"INSERT INTO journal ({COLUMNS}) VALUES " + ", ".join([_ONE_ROW] * size) for size in SIZES}  # noqa: S608
IS_APPLIED: Final = f"(outcome IS NULL OR outcome = '{Outcome.WARNED}')"
"""The SQL condition that an entry took effect."""
INSERT_ONE: Final = INSERTS[1]
_NEVER: Final = 2**62
_OF_RUN: Final = f"run_id = ? AND {RUN_IS_SHOWN}"
_PAGES: Final = {
    descending: f"SELECT {COLUMNS} FROM journal WHERE {_OF_RUN} AND position > ? AND position < ? "  # noqa: S608
    f"ORDER BY position {'DESC' if descending else 'ASC'} LIMIT ?"
    for descending in (False, True)
}


def inserts(entries: Sequence[Entry]) -> Iterator[tuple[str, tuple[object, ...], Sequence[Entry]]]:
    """Yield the statements that insert these entries in order, each with its flat parameters and its entries."""
    start = 0
    left = len(entries)
    for size in SIZES:
        while left >= size:
            piece = entries[start : start + size]
            yield INSERTS[size], tuple(chain.from_iterable(piece)), piece
            start += size
            left -= size


def page(
    conn: Connection, run_id: str, *, after: int | None = None, before: int | None = None, limit: int = 100
) -> list[Entry]:
    """Return entries of a run between two positions: descending if `before` is set, else ascending."""
    return run_query(conn, page_query(run_id, after=after, before=before, limit=limit))


def page_query(
    run_id: str,
    *,
    after: int | None = None,
    before: int | None = None,
    limit: int = 100,
    newest_first: bool | None = None,
    max_characters: int | None = None,
) -> Query[list[Entry]]:
    """Return the query of `page`; `newest_first` overrides the order."""
    descending = before is not None if newest_first is None else newest_first
    edges = (0 if after is None else after, _NEVER if before is None else before)
    return Query(_PAGES[descending], (run_id, *edges, limit), _entries, max_characters)


def since(conn: Connection, row: int, limit: int) -> list[tuple[int, Entry]]:
    """Return the entries of all runs after a global row, each with its row."""
    return run_query(conn, since_query(row, limit))


def since_query(row: int, limit: int) -> Query[list[tuple[int, Entry]]]:
    """Return the query of `since`; as an asynchronous read it returns fewer entries if they are large."""
    statement = f"SELECT row, {COLUMNS} FROM journal WHERE row > ? AND {RUN_IS_SHOWN} ORDER BY row LIMIT ?"  # noqa: S608
    return Query(statement, (row, limit), _numbered_entries, REREAD_CHARACTERS)


def _entries(rows: Sequence[Row]) -> list[Entry]:
    return [Entry._make(row) for row in rows]


def _numbered_entries(rows: Sequence[Row]) -> list[tuple[int, Entry]]:
    return [(row[0], Entry._make(row[1:])) for row in rows]


def last_row(conn: Connection) -> int:
    """Return the highest global row that was ever assigned. Deleting runs does not lower it."""
    return run_query(conn, LAST_ROW)


def _first_number(rows: Sequence[Row]) -> int:
    return rows[0][0] if rows else 0


LAST_ROW: Final = Query("SELECT seq FROM sqlite_sequence WHERE name = 'journal'", (), _first_number)
"""The query of `last_row`."""


def last_position(conn: Connection, run_id: str) -> int:
    return conn.exec_driver_sql("SELECT max(position) FROM journal WHERE run_id = ?", (run_id,)).scalar() or 0


def size(conn: Connection, run_id: str) -> int:
    """Return the bytes of a run's journal, without the parts that it refers to. A million entries take 0.2 s."""
    statement = (
        "SELECT count(*), sum(length(CAST(data AS BLOB))), sum(length(CAST(usage AS BLOB)))"
        " FROM journal WHERE run_id = ?"
    )
    count, data, usage = conn.exec_driver_sql(statement, (run_id,)).one()
    return count * ROW_BYTES + (data or 0) + (usage or 0)


def row_of(conn: Connection, run_id: str, position: int) -> int | None:
    statement = "SELECT row FROM journal WHERE run_id = ? AND position = ?"
    return conn.exec_driver_sql(statement, (run_id, position)).scalar()


def index(conn: Connection, run_id: str, *, after: int = 0, limit: int = 16_384) -> list[EntryHead]:
    """Return the heads of a run's entries after a position, in ascending order."""
    statement = (
        "SELECT position, at, source, type, outcome, turn, length(data) FROM journal"  # noqa: S608
        f" WHERE {_OF_RUN} AND position > ? ORDER BY position LIMIT ?"
    )
    return [EntryHead._make(row) for row in conn.exec_driver_sql(statement, (run_id, after, limit))]


def at_positions(conn: Connection, run_id: str, positions: Sequence[int]) -> list[Entry]:
    """Return the entries of a run at these positions, in ascending order."""
    statement = (
        f"SELECT {COLUMNS} FROM journal WHERE {_OF_RUN} AND position IN (SELECT value FROM json_each(?))"  # noqa: S608
        " ORDER BY position"
    )
    wanted = orjson.dumps(list(positions)).decode()
    return [Entry._make(row) for row in conn.exec_driver_sql(statement, (run_id, wanted))]


def outline(
    conn: Connection, run_id: str, *, before: int | None = None, after: int | None = None, limit: int = 400
) -> list[Entry]:
    """Return entries of a run without deltas, output and calls, in ascending order.

    With `after` the first entries after that position; otherwise the last ones before `before`.
    """
    statement = (
        f"SELECT {COLUMNS} FROM journal WHERE {_OF_RUN} AND position > ? AND position < ?"  # noqa: S608
        f" AND type NOT IN ({_NOT_IN_OUTLINE})"
        f" ORDER BY position {'DESC' if after is None else 'ASC'} LIMIT ?"
    )
    edges = after if after is not None else 0, before if before is not None else 2**62
    found = [Entry._make(row) for row in conn.exec_driver_sql(statement, (run_id, *edges, limit))]
    return found[::-1] if after is None else found


def deltas(conn: Connection, run_id: str, *, after: int, before: int, limit: int = 1_000) -> list[Entry]:
    """Return the first message deltas of a run between two positions, in ascending order."""
    statement = (
        f"SELECT {COLUMNS} FROM journal WHERE {_OF_RUN} AND position > ? AND position < ?"  # noqa: S608
        f" AND type = '{EntryKind.MESSAGE_DELTA}' ORDER BY position LIMIT ?"
    )
    return [Entry._make(row) for row in conn.exec_driver_sql(statement, (run_id, after, before, limit))]


def of_kind(conn: Connection, run_id: str, kind: str, *, after: int, before: int) -> Iterator[Entry]:
    """Yield the entries of a run of one type between two positions, in ascending order."""
    statement = (
        f"SELECT {COLUMNS} FROM journal WHERE {_OF_RUN} AND position > ? AND position < ? AND type = ?"  # noqa: S608
        " ORDER BY position"
    )
    for row in conn.exec_driver_sql(statement, (run_id, after, before, kind)):
        yield Entry._make(row)


def holding(conn: Connection, run_id: str, text: str, *, first: int, last: int) -> list[int]:
    """Return the positions in a range whose entry has the text in its type or data. Case is ignored for ASCII."""
    statement = (
        f"SELECT position FROM journal WHERE {_OF_RUN} AND position BETWEEN ? AND ?"  # noqa: S608
        " AND (instr(lower(data), lower(?)) OR instr(type, lower(?))) ORDER BY position"
    )
    return list(conn.exec_driver_sql(statement, (run_id, first, last, text, text)).scalars())


def last_at(conn: Connection, run_id: str, type: str) -> int | None:  # noqa: A002
    """Return the time of a run's newest entry of a type; None if there is none."""
    statement = "SELECT at FROM journal WHERE run_id = ? AND type = ? ORDER BY position DESC LIMIT 1"
    return conn.exec_driver_sql(statement, (run_id, type)).scalar()


def first_result(conn: Connection, run_id: str, after: int) -> Entry | None:
    """Return the first applied result of a runner after a position. Calls and output are not results."""
    statement = (
        f"SELECT {COLUMNS} FROM journal WHERE run_id = ? AND position > ? AND source = 'runner'"  # noqa: S608
        f" AND type NOT IN ('{EntryKind.CALL_REQUESTED}', '{EntryKind.OUTPUT}') AND {IS_APPLIED}"
        " ORDER BY position LIMIT 1"
    )
    row = conn.exec_driver_sql(statement, (run_id, after)).first()
    return None if row is None else Entry._make(row)


def texts(conn: Connection, run_id: str, type: str, after_position: int = 0) -> Iterator[str]:  # noqa: A002
    """Yield the data of a run's applied entries of one type, in ascending order, with one row in memory at a time."""
    statement = (
        "SELECT data FROM journal WHERE run_id = ? AND position > ? AND type = ?"  # noqa: S608
        f" AND {IS_APPLIED} ORDER BY position"
    )
    for (data,) in conn.exec_driver_sql(statement, (run_id, after_position, type)):
        yield data
