"""The journal: one ordered record per run, both ways; a global row orders the entries of all runs."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

import orjson
from sqlalchemy import Connection

from engine.facts.entry import Entry, Mark

COLUMNS: Final = ", ".join(Entry._fields)
SIZES: Final = (256, 64, 16, 4, 1)
"""Rows per INSERT. One long statement steps without the GIL; executemany takes it back for every row."""

_ONE_ROW: Final = "(" + ", ".join("?" * len(Entry._fields)) + ")"
INSERTS: Final = {size: f"INSERT INTO journal ({COLUMNS}) VALUES " + ", ".join([_ONE_ROW] * size) for size in SIZES}  # noqa: S608
INSERT_ONE: Final = INSERTS[1]


def inserts(entries: Sequence[Entry]) -> Iterator[tuple[str, tuple[object, ...], Sequence[Entry]]]:
    """The statements that write these entries in order, each with its flat parameters and its entries."""
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
    """Entries of one run: those after a position rising, or those before one falling; from the first if neither."""
    if before is not None:
        where, edge, order = "position < ?", before, "DESC"
    else:
        where, edge, order = "position > ?", after or 0, "ASC"
    statement = f"SELECT {COLUMNS} FROM journal WHERE run_id = ? AND {where} ORDER BY position {order} LIMIT ?"  # noqa: S608
    return [Entry._make(row) for row in conn.exec_driver_sql(statement, (run_id, edge, limit))]


def since(conn: Connection, row: int, limit: int) -> list[tuple[int, Entry]]:
    """Entries of all runs after a global row, each with its own."""
    statement = f"SELECT row, {COLUMNS} FROM journal WHERE row > ? ORDER BY row LIMIT ?"  # noqa: S608
    return [(found[0], Entry._make(found[1:])) for found in conn.exec_driver_sql(statement, (row, limit))]


def last_row(conn: Connection) -> int:
    """The highest global row ever given; deleting runs does not take it back."""
    return conn.exec_driver_sql("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").scalar() or 0


def last_position(conn: Connection, run_id: str) -> int:
    return conn.exec_driver_sql("SELECT max(position) FROM journal WHERE run_id = ?", (run_id,)).scalar() or 0


def row_of(conn: Connection, run_id: str, position: int) -> int | None:
    statement = "SELECT row FROM journal WHERE run_id = ? AND position = ?"
    return conn.exec_driver_sql(statement, (run_id, position)).scalar()


def index(conn: Connection, run_id: str, *, after: int = 0, limit: int = 16_384) -> list[Mark]:
    """A run's entries without what they say, rising."""
    statement = (
        "SELECT position, at, source, type, outcome, turn, length(data) FROM journal"
        " WHERE run_id = ? AND position > ? ORDER BY position LIMIT ?"
    )
    return [Mark._make(row) for row in conn.exec_driver_sql(statement, (run_id, after, limit))]


def at_positions(conn: Connection, run_id: str, positions: Sequence[int]) -> list[Entry]:
    """The entries of a run that stand at these positions, rising."""
    statement = (
        f"SELECT {COLUMNS} FROM journal WHERE run_id = ? AND position IN (SELECT value FROM json_each(?))"  # noqa: S608
        " ORDER BY position"
    )
    wanted = orjson.dumps(list(positions)).decode()
    return [Entry._make(row) for row in conn.exec_driver_sql(statement, (run_id, wanted))]


def outline(
    conn: Connection, run_id: str, *, before: int | None = None, after: int | None = None, limit: int = 400
) -> list[Entry]:
    """Entries of a run that are no deltas, output or calls, rising: the last before one, or the first after one."""
    statement = (
        f"SELECT {COLUMNS} FROM journal WHERE run_id = ? AND position > ? AND position < ?"  # noqa: S608
        " AND type NOT IN ('message.delta', 'output', 'call.requested', 'call.decided', 'call.replied')"
        f" ORDER BY position {'DESC' if after is None else 'ASC'} LIMIT ?"
    )
    edges = after if after is not None else 0, before if before is not None else 2**62
    found = [Entry._make(row) for row in conn.exec_driver_sql(statement, (run_id, *edges, limit))]
    return found[::-1] if after is None else found


def deltas(conn: Connection, run_id: str, *, after: int, before: int, limit: int = 1_000) -> list[Entry]:
    """What a run streamed between two positions, rising, from the first."""
    statement = (
        f"SELECT {COLUMNS} FROM journal WHERE run_id = ? AND position > ? AND position < ?"  # noqa: S608
        " AND type = 'message.delta' ORDER BY position LIMIT ?"
    )
    return [Entry._make(row) for row in conn.exec_driver_sql(statement, (run_id, after, before, limit))]


def holding(conn: Connection, run_id: str, text: str, *, first: int, last: int) -> list[int]:
    """Positions of a run's entries in a range whose type or data holds a text, whatever the case of its letters."""
    statement = (
        "SELECT position FROM journal WHERE run_id = ? AND position BETWEEN ? AND ?"
        " AND (instr(lower(data), lower(?)) OR instr(type, lower(?))) ORDER BY position"
    )
    return list(conn.exec_driver_sql(statement, (run_id, first, last, text, text)).scalars())


def last_at(conn: Connection, run_id: str, type: str) -> int | None:  # noqa: A002
    """When a run's newest entry of a type was written."""
    statement = "SELECT at FROM journal WHERE run_id = ? AND type = ? ORDER BY position DESC LIMIT 1"
    return conn.exec_driver_sql(statement, (run_id, type)).scalar()


def first_result(conn: Connection, run_id: str, after: int) -> Entry | None:
    """The first result of a run's own after a position that had its effect; calls and output are none."""
    statement = (
        f"SELECT {COLUMNS} FROM journal WHERE run_id = ? AND position > ? AND source = 'runner'"  # noqa: S608
        " AND type NOT IN ('call.requested', 'output') AND (outcome IS NULL OR outcome = 'warned')"
        " ORDER BY position LIMIT 1"
    )
    row = conn.exec_driver_sql(statement, (run_id, after)).first()
    return None if row is None else Entry._make(row)


def texts(conn: Connection, run_id: str, type: str, after_position: int = 0) -> Iterator[str]:  # noqa: A002
    """The data of one run's entries of one type that had their effect, rising, one row in memory at a time."""
    statement = (
        "SELECT data FROM journal WHERE run_id = ? AND position > ? AND type = ?"
        " AND (outcome IS NULL OR outcome = 'warned') ORDER BY position"
    )
    for (data,) in conn.exec_driver_sql(statement, (run_id, after_position, type)):
        yield data
