"""One SQLite file: opening it without harm, the connections to it, and short reads in threads."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Literal, TypeVar, cast

from sqlalchemy import Connection, NullPool, QueuePool, create_engine
from sqlalchemy.exc import DBAPIError

from engine.facts import tables
from engine.facts.errors import (
    DatabaseForeign,
    DatabaseNewer,
    DatabaseOlder,
    FactsError,
    missing,
    speaks_of_the_file,
    sqlite_code,
    translate,
)

T = TypeVar("T")
Synchronous = Literal["NORMAL", "FULL"]
_Mode = Literal["ro", "rw", "rwc", "ro&immutable=1"]

BUSY_SECONDS: Final = 5.0
READERS: Final = 3
STAMP: Final = "alembic_version"
BASE: Final = ""
"""The stamp of a database that alembic has prepared and no migration has touched."""
_WAL_LIMIT: Final = 64 << 20
_CHECKPOINT_PAGES: Final = 4_000
"""A checkpoint is the one commit that waits for the disk, 5 ms and more; after SQLite's own 1,000 pages it would be
one in ninety, and a call in a hundred would feel it."""
_NO_PLACE: Final = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})


class Database:
    """An open database. Writes go through a `Writer` on `writing_connection`; reads see one snapshot each."""

    def __init__(self, path: Path, *, synchronous: Synchronous, busy: float, reading: _Mode) -> None:
        self.path = path
        self._mode: _Mode = reading
        self._synchronous = synchronous
        self._busy = busy
        # The driver is in autocommit mode throughout, so that every BEGIN is ours and says its kind.
        url = "sqlite+pysqlite://"
        self._writing = create_engine(url, creator=self._connect_to_write, poolclass=NullPool)
        self._reading = create_engine(
            url, creator=self._connect_to_read, poolclass=QueuePool, pool_size=READERS, max_overflow=-1
        )
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="facts-reader")
        self._sign: sqlite3.Connection | None = None
        """Asked for nothing but its version, which counts for one connection alone."""

    @classmethod
    def open(
        cls, path: Path, *, write: bool, synchronous: Synchronous = "NORMAL", busy: float = BUSY_SECONDS
    ) -> "Database":
        """Open, and with `write` create or upgrade. A newer, damaged or foreign database is left as it is."""
        path = path.expanduser().absolute()
        try:
            if write:
                path.parent.mkdir(parents=True, exist_ok=True)
            mode, found = _look(path, busy)
            if found is None and not write:
                raise missing(path)
            if found != tables.SCHEMA_VERSION and not write:
                raise DatabaseOlder(f"{path} is of an older Trackside. `trackside run --db {path}` upgrades it.")
            database = cls(path, synchronous=synchronous, busy=busy, reading=mode)
            if write:
                database._prepare(current=found == tables.SCHEMA_VERSION)
        except (DBAPIError, sqlite3.Error, OSError) as error:
            raise translate(error, path) from error
        return database

    def writing_connection(self) -> Connection:
        """For the writer's thread alone."""
        return self._writing.connect()

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run a short query in a thread, on one snapshot."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.read_now, query)

    def read_now(self, query: Callable[[Connection], T]) -> T:
        """The blocking twin of `read`."""
        try:
            with self._reading.connect() as connection:
                # Returning the connection rolls back, which ends the snapshot: one left open makes the WAL grow.
                connection.exec_driver_sql("BEGIN")
                return query(connection)
        except (DBAPIError, sqlite3.Error) as error:
            if speaks_of_the_file(error):
                raise translate(error, self.path) from error
            raise

    async def version(self) -> int:
        """Another number after every write, whichever process wrote."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._version)

    def _version(self) -> int:
        try:
            self._sign = self._sign or self._connect_to_read()
            return int(self._sign.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def integrity(self) -> list[str]:
        """What SQLite finds wrong with the whole file; empty when it is sound."""
        try:
            found = self.read_now(
                lambda connection: [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
            )
        except FactsError as error:
            return [str(error)]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        self._threads.shutdown()
        if self._sign is not None:
            self._sign.close()
        self._reading.dispose()
        self._writing.dispose()

    def _connect_to_read(self) -> sqlite3.Connection:
        return _connect(self.path, self._mode, self._busy)

    def _connect_to_write(self) -> sqlite3.Connection:
        driver = _connect(self.path, "rw", self._busy)
        driver.execute(f"PRAGMA synchronous = {self._synchronous}")
        driver.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT}")
        driver.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        return driver

    def _prepare(self, *, current: bool) -> None:
        """Make sure that it can be written, is in WAL mode and has our tables."""
        if not self.path.exists():
            _connect(self.path, "rwc", self._busy).close()
        with self.writing_connection() as connection:
            self._into_wal(connection)
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            if current:
                # SQLite begins on a file that it cannot write, too; only a write tells. It is not kept.
                connection.exec_driver_sql("PRAGMA user_version = 0")
                connection.exec_driver_sql("ROLLBACK")
            else:
                self._bring_up(connection)
                connection.exec_driver_sql("COMMIT")

    def _into_wal(self, connection: Connection) -> None:
        # Where another process switches at the same time SQLite does not wait for the busy timeout, so we do.
        until = time.monotonic() + self._busy
        while True:
            try:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            except DBAPIError as error:
                if sqlite_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                    raise
                time.sleep(0.01)
            else:
                return

    def _bring_up(self, connection: Connection) -> None:
        # Asked again under the lock: another process may have been here first.
        driver = cast(sqlite3.Connection, connection.connection.driver_connection)
        found = _stamp_of(driver, self.path)
        if found is None:
            tables.metadata.create_all(connection)
            connection.exec_driver_sql(f"CREATE TABLE {STAMP} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
            connection.exec_driver_sql(f"INSERT INTO {STAMP} VALUES (?)", (tables.SCHEMA_VERSION,))  # noqa: S608
        elif found != tables.SCHEMA_VERSION:
            from engine.facts.migrations import upgrade  # noqa: PLC0415  (alembic costs 430 ms)

            upgrade(connection)


def _connect(path: Path, mode: _Mode, busy: float) -> sqlite3.Connection:
    address = f"{path.as_uri()}?mode={mode}"
    driver = sqlite3.connect(address, uri=True, timeout=busy, isolation_level=None, check_same_thread=False)
    driver.execute("PRAGMA temp_store = MEMORY")
    return driver


def _look(path: Path, busy: float) -> tuple[_Mode, str | None]:
    """How to read the database, and its version: read without touching it; None where there is nothing yet."""
    if not path.exists():
        return "ro", None
    try:
        return "ro", _stamp(path, "ro", busy)
    except sqlite3.OperationalError as error:
        # In a folder that cannot be written SQLite has no place for its shared memory. Without a log to
        # mind, the file alone is the whole truth, and can be read as something that does not change.
        log = path.with_name(path.name + "-wal")
        if sqlite_code(error) not in _NO_PLACE or (log.exists() and log.stat().st_size):
            raise
        return "ro&immutable=1", _stamp(path, "ro&immutable=1", busy)


def _stamp(path: Path, mode: _Mode, busy: float) -> str | None:
    driver = _connect(path, mode, busy)
    try:
        return _stamp_of(driver, path)
    finally:
        driver.close()


def _stamp_of(driver: sqlite3.Connection, path: Path) -> str | None:
    try:
        row = driver.execute(f"SELECT version_num FROM {STAMP}").fetchone()  # noqa: S608
    except sqlite3.OperationalError as error:
        if sqlite_code(error) != sqlite3.SQLITE_ERROR:
            raise
        if driver.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise DatabaseForeign(f"{path} is a database of something else. Name another file with --db.") from error
        return None
    version = str(row[0]) if row else BASE
    if version > tables.SCHEMA_VERSION:
        raise DatabaseNewer(
            f"{path} was written by a newer Trackside (schema {version}, this one knows {tables.SCHEMA_VERSION}). "
            "Upgrade trackside, or name another file with --db."
        )
    return version
