"""Short reads without a thread pool: one persistent read-only connection, and statements that are compiled once.

A read of one row takes about half as long as in a thread with a pooled connection (`python -m tests.bench reads`).
Reads that need several statements on one snapshot use `Database.read`.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar, cast

import orjson
from sqlalchemy import Connection, Select
from sqlalchemy.dialects import sqlite

from engine.store.errors import StoreError, speaks_of_the_file, translate
from engine.store.json_text import decode
from engine.store.tables import Json

if TYPE_CHECKING:
    from aiosqlite import Connection as AsyncConnection

T = TypeVar("T")
Row = Sequence[Any]
_DIALECT: Final = sqlite.dialect()
MAX_CLOSE_SECONDS: Final = 5.0
"""Closing does not wait longer for reads in progress."""


class Query(NamedTuple, Generic[T]):
    """One statement, its parameters, and the function that builds the result from the rows."""

    statement: str
    parameters: tuple[Any, ...]
    build: Callable[[Sequence[Row]], T]
    max_characters: int | None = None
    """For a query that builds a list: at least one row is read, and others while their text has no more characters.

    The result is a CutList if rows were left out.
    """


class CutList(list[T]):
    """The result of a query that stopped at its `max_characters`: more rows follow."""


def run_query(conn: Connection, query: Query[T]) -> T:
    """Run a query on an open connection."""
    return query.build(conn.exec_driver_sql(query.statement, query.parameters).fetchall())


def _read(connection: sqlite3.Connection, query: Query[T]) -> T:
    """Run a query and build its result: decoding large rows takes long, so this is not done on the loop."""
    cursor = connection.execute(query.statement, query.parameters)
    if query.max_characters is None:
        return query.build(cursor.fetchall())
    rows, was_cut = _rows_within(cursor, query.max_characters)
    built = query.build(rows)
    return cast("T", CutList(cast("list[Any]", built))) if was_cut else built


def _rows_within(cursor: Iterable[Row], max_characters: int) -> tuple[list[Row], bool]:
    """Return the first rows, and whether others were left out because their text would be too long."""
    rows: list[Row] = []
    left = max_characters
    for row in cursor:
        left -= sum(len(value) for value in row if type(value) is str)
        if left < 0 and rows:
            return rows, True
        rows.append(row)
    return rows, False


class PreparedSelect(Generic[T]):
    """A SQLAlchemy SELECT that is compiled once and returns rows as dataclasses."""

    def __init__(self, select: Select[Any], row_class: type[T]) -> None:
        compiled = select.compile(dialect=_DIALECT)
        self._statement = str(compiled)
        self._names = tuple(compiled.positiontup or ())
        self._literals: Mapping[str, Any] = compiled.construct_params(_check=False)
        self._columns = tuple(column.name for column in select.selected_columns)
        self._json = tuple(column.name for column in select.selected_columns if isinstance(column.type, Json))
        self._row_class = row_class

    def query(self, **parameters: Any) -> Query[list[T]]:
        """Return the query with these values for its bound parameters."""
        known = {**self._literals, **parameters}
        return Query(self._statement, tuple(known[name] for name in self._names), self._build)

    def text_query(self, max_characters: int, **parameters: Any) -> Query[list[T]]:
        """Return the query of rows that are sent on: JSON stays text, as fragments for `orjson.dumps`.

        Decoded, JSON may take forty times as much memory.
        """
        return self.query(**parameters)._replace(build=self._build_text, max_characters=max_characters)

    def _build(self, rows: Sequence[Row]) -> list[T]:
        return [self._row_class(**self._values(row)) for row in rows]

    def _build_text(self, rows: Sequence[Row]) -> list[T]:
        return [self._row_class(**self._texts(row)) for row in rows]

    def _texts(self, row: Row) -> dict[str, Any]:
        values = dict(zip(self._columns, row, strict=True))
        for name in self._json:
            if values[name] is not None:
                values[name] = orjson.Fragment(values[name])
        return values

    def _values(self, row: Row) -> dict[str, Any]:
        values = dict(zip(self._columns, row, strict=True))
        for name in self._json:
            if values[name] is not None:
                values[name] = decode(values[name])
        return values


class AsyncReader:
    """Runs single statements on one connection, one after the other. The first read opens the connection."""

    def __init__(self, path: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        self._path = path
        self._connect = connect
        self._connection: AsyncConnection | None = None
        self._opening = asyncio.Lock()
        self._is_closed = False
        self._closing = Lock()
        """`close` is called in another thread: without it a connection that is just opened could stay open."""

    async def read(self, query: Query[T]) -> T:
        """Run a query on a snapshot of its own and return its result."""
        try:
            connection = self._connection or await self._open()
            driver = connection._conn  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            return await connection._execute(_read, driver, query)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType, reportUnknownVariableType]
        except sqlite3.Error as error:
            if speaks_of_the_file(error):
                raise translate(error, self._path) from error
            raise

    def close(self) -> None:
        """Close the connection after the reads in progress. Blocks until they have finished."""
        with self._closing:
            self._is_closed = True
            connection, self._connection = self._connection, None
        if connection is not None:
            _stop(connection)
            # A read in progress reports its result to the loop, which may be closed as soon as this returns.
            connection._thread.join(MAX_CLOSE_SECONDS)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    async def _open(self) -> "AsyncConnection":
        # Imported late: a start that makes no such read saves 8 to 35 ms.
        from aiosqlite import Connection as AsyncConnection  # noqa: PLC0415

        async with self._opening:
            if self._is_closed:
                raise StoreError(f"{self._path} is closed.")
            if self._connection is None:
                connection = AsyncConnection(self._connect, iter_chunk_size=64)
                # A process that exits without closing its database must not wait for this thread.
                connection._thread.daemon = True  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                try:
                    await connection
                except BaseException:
                    _stop(connection)
                    raise
                with self._closing:
                    if not self._is_closed:
                        self._connection = connection
                        return connection
                _stop(connection)  # closed while it was being opened
                raise StoreError(f"{self._path} is closed.")
            return self._connection


def _stop(connection: "AsyncConnection") -> None:
    """End a connection in a thread without a loop: its end would be reported to a loop that may be closed."""
    stopping = Thread(target=connection.stop)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    stopping.start()
    stopping.join()
