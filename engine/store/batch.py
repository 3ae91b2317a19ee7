"""One transaction of the writer: entries in multi-row INSERTs, each operation in its own savepoint."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import Connection

from engine.store.entries import INSERT_ONE, Entry, inserts
from engine.store.errors import EntryRefused, sqlite_code

_OF_ONE_STATEMENT: Final = frozenset(
    {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG}
)
"""Error codes that concern one statement. With any other code the whole batch fails."""
_UNSTORABLE: Final = (sqlite3.Error, UnicodeError, OverflowError)


class Transaction:
    """The transaction of an operation. Operations never commit; if one raises, only its own changes are undone."""

    def __init__(self, connection: Connection, driver: sqlite3.Connection, entries: list[Entry]) -> None:
        self.connection = connection
        self._driver = driver
        self._entries = entries

    def record(self, entry: Entry) -> int:
        """Write an entry at once and return its global row. Subscribers get the entry after the commit."""
        row = self._driver.execute(INSERT_ONE, entry).lastrowid
        self._entries.append(entry)
        return cast(int, row)

    def attempt(self, call: Callable[["Transaction"], object]) -> Exception | None:
        """Run `call` in a savepoint. Returns its error, after undoing it; raises if the database itself fails."""
        before = len(self._entries)
        self._driver.execute("SAVEPOINT attempt")
        try:
            call(self)
        except Exception as error:
            if not _goes_on(self._driver, error):
                raise
            self._driver.execute("ROLLBACK TO attempt")
            del self._entries[before:]
            self._driver.execute("RELEASE attempt")
            return error
        self._driver.execute("RELEASE attempt")
        return None


class Operation:
    """A callable that runs inside the transaction, and the future that gets its result."""

    __slots__ = ("call", "future", "size")

    def __init__(self, call: Callable[[Transaction], Any], future: asyncio.Future[Any], size: int = 0) -> None:
        self.call = call
        self.future = future
        self.size = size


Item = Entry | Operation


class Batch:
    """The items of one transaction and, once they are written, the results to report to the loop."""

    def __init__(self, items: list[Item], path: Path) -> None:
        self.items = items
        self.size = 0
        self.first_row = 0
        self.entries: list[Entry] = []
        """The written entries, in the order of their rows, which have no gaps."""
        self.results: list[tuple[asyncio.Future[Any], Any, BaseException | None]] = []
        self.refused: list[EntryRefused] = []
        self._path = path

    @property
    def futures(self) -> list[asyncio.Future[Any]]:
        return [item.future for item in self.items if isinstance(item, Operation)]

    def write(self, connection: Connection, driver: sqlite3.Connection) -> None:
        """Write all items in order. Raises only if the database itself fails."""
        run: list[Entry] = []
        for item in self.items:
            if isinstance(item, Operation):
                self._insert(driver, run)
                run = []
                self._operate(connection, driver, item)
                self.size += item.size
            else:
                run.append(item)
                self.size += len(item.data)
        self._insert(driver, run)
        if self.entries:
            last = driver.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()[0]
            self.first_row = last - len(self.entries) + 1

    def _insert(self, driver: sqlite3.Connection, entries: list[Entry]) -> None:
        for statement, parameters, piece in inserts(entries):
            try:
                driver.execute(statement, parameters)
            except _UNSTORABLE as error:
                if not _goes_on(driver, error):
                    raise
                self._insert_singly(driver, piece)
            else:
                self.entries.extend(piece)

    def _insert_singly(self, driver: sqlite3.Connection, entries: Sequence[Entry]) -> None:
        """Insert the entries one by one, so that one that cannot be stored does not fail the others."""
        for entry in entries:
            try:
                driver.execute(INSERT_ONE, entry)
            except _UNSTORABLE as error:
                if not _goes_on(driver, error):
                    raise
                self.refused.append(
                    EntryRefused(
                        f"entry {entry.position} of run {entry.run_id} cannot be recorded in {self._path}: {error}"
                    )
                )
            else:
                self.entries.append(entry)

    def _operate(self, connection: Connection, driver: sqlite3.Connection, operation: Operation) -> None:
        entries: list[Entry] = []
        driver.execute("SAVEPOINT operation")
        try:
            result = operation.call(Transaction(connection, driver, entries))
        except Exception as error:
            if not _goes_on(driver, error):
                raise
            driver.execute("ROLLBACK TO operation")
            self.results.append((operation.future, None, error))
        else:
            self.entries.extend(entries)
            self.results.append((operation.future, result, None))
        driver.execute("RELEASE operation")


def _goes_on(driver: sqlite3.Connection, error: Exception) -> bool:
    """Return whether the transaction survived the error. SQLite ends it if the disk is full or fails."""
    code = sqlite_code(error)
    return driver.in_transaction and (code is None or code in _OF_ONE_STATEMENT)
