"""A SQLite database file: opening and upgrading it, its connections, and short reads in threads."""

import asyncio
import shlex
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock
from typing import Final, Literal, TypeVar

from sqlalchemy import Connection, NullPool, QueuePool, create_engine
from sqlalchemy.exc import DBAPIError

from engine.store import hosts, search_index, tables
from engine.store.async_reader import AsyncReader, Query
from engine.store.errors import (
    DatabaseForeign,
    DatabaseLocked,
    DatabaseMissing,
    DatabaseNewer,
    DatabaseOlder,
    StoreError,
    UpgradeInProgress,
    missing,
    speaks_of_the_file,
    sqlite_code,
    translate,
)
from engine.store.memory_state import FILE, MemoryState
from engine.store.private_files import (
    create_private_file,
    make_private_folder,
    sqlite_files,
    tighten,
    upgrade_copy,
)
from engine.store.row_mapping import driver_of

T = TypeVar("T")
Synchronous = Literal["NORMAL", "FULL"]
Mode = Literal["ro", "rw", "ro&immutable=1"]
StateStore = Literal["database", "memory"]

OnProgress = Callable[[int, int], None]
"""Called with the work that is done, and with all of it. An error that it raises ends the upgrade."""

BUSY_SECONDS: Final = 5.0
READERS: Final = 3
STAMP: Final = "alembic_version"
BASE: Final = ""
"""The version of a database that alembic has prepared and no migration has changed."""
_WAL_LIMIT: Final = 64 << 20
_CHECKPOINT_PAGES: Final = 4_000
"""WAL pages after which SQLite makes a checkpoint.

A commit with a checkpoint waits for the disk, for 5 ms or more. With SQLite's default of 1,000 pages every 90th commit
would make one, and about 1 % of the calls would notice.
"""
MAX_REWRITTEN_BYTES: Final = 64 << 20
"""Size of the largest file that is rewritten after a deletion, in half a second."""
_NO_PLACE: Final = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})


class Database:
    """An open database. Writes go through a `Writer` on `writing_connection`; each read sees one snapshot."""

    def __init__(self, path: Path, *, synchronous: Synchronous, busy: float, reading: Mode, write: bool) -> None:
        self.path = path
        self.remarks: list[str] = []
        """Sentences for the user about the opening: an upgrade, or what a killed upgrade had left."""
        self._is_written = write
        self._mode: Mode = reading
        self._synchronous = synchronous
        self._busy = busy
        # The driver is always in autocommit mode, so that every BEGIN is explicit and states its kind.
        url = "sqlite+pysqlite://"
        self._writing = create_engine(url, creator=self._connect_to_write, poolclass=NullPool)
        self._reading = create_engine(
            url, creator=self._connect_to_read, poolclass=QueuePool, pool_size=READERS, max_overflow=-1
        )
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="facts-reader")
        self._async_reader = AsyncReader(path, self._connect_to_read)
        self._opening_sign = Lock()
        self._sign: sqlite3.Connection | None = None
        """A connection only for `PRAGMA data_version`, whose value is specific to one connection."""
        self._memory_state: MemoryState | None = None
        self._schema = "main"
        """The name of the file on its connections."""

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        write: bool,
        synchronous: Synchronous = "NORMAL",
        busy: float = BUSY_SECONDS,
        on_progress: OnProgress | None = None,
        state: StateStore = "database",
    ) -> "Database":
        """Open a database; with `write`, create or upgrade it. A newer, damaged or foreign file is not changed.

        With state "memory", the state is empty, and gone when the database is closed; that of the file stays as it is.
        An upgrade calls `on_progress`. If that raises an error, the next open begins the upgrade again.
        """
        path = path.expanduser().absolute()
        try:
            if write:
                make_private_folder(path.parent)
            mode, found = look(path, busy)
            if found is None and not write:
                raise missing(path)
            if found != tables.SCHEMA_VERSION and not write:
                raise _older(path, found)
            database = cls(path, synchronous=synchronous, busy=busy, reading=mode, write=write)
            if write:
                try:
                    database._prepare(found, on_progress)
                except BaseException:
                    database.close()
                    raise
                tighten(sqlite_files(path))
                if state == "memory":
                    database._use_memory_state()
        except (DBAPIError, sqlite3.Error, OSError) as error:
            problem = translate(error, path)
            if isinstance(problem, DatabaseLocked) and (pid := hosts.upgrading_process(path)) is not None:
                problem = _in_progress(path, pid)
            raise problem from error
        return database

    def writing_connection(self) -> Connection:
        """Return a connection for the thread of the writer; no other thread may write."""
        return self._writing.connect()

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run a short query in a thread, on one snapshot."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.read_now, query)

    async def fetch(self, query: Query[T]) -> T:
        """Run one statement on the connection that is kept for short reads. Takes half as long as `read`."""
        return await self._async_reader.read(query)

    def read_now(self, query: Callable[[Connection], T]) -> T:
        """Run a short query on one snapshot. Blocks."""
        try:
            with self._reading.connect() as connection:
                # Returning the connection to the pool rolls back and so ends the snapshot; an open snapshot lets the
                # WAL grow.
                connection.exec_driver_sql("BEGIN")
                return query(connection)
        except (DBAPIError, sqlite3.Error) as error:
            if speaks_of_the_file(error):
                raise translate(error, self.path) from error
            raise

    async def version(self) -> int:
        """Return a number that changes after every write of any process."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._version)

    def _version(self) -> int:
        try:
            return int(self._sign_connection().execute(f"PRAGMA {self._schema}.data_version").fetchone()[0])
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def _sign_connection(self) -> sqlite3.Connection:
        with self._opening_sign:
            if self._sign is None:
                self._sign = self._connect_to_read()
            return self._sign

    async def fetch_if_changed(self, query: Query[T], since: int) -> tuple[int, T | None]:
        """Return the version, and the result of a query if any process has written since that version.

        For polling: one call of a thread, and only `PRAGMA data_version` is read if nothing was written.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._fetch_if_changed, query, since)

    def _fetch_if_changed(self, query: Query[T], since: int) -> tuple[int, T | None]:
        version = self._version()
        if version == since:
            return version, None
        try:
            return version, query.build(self._sign_connection().execute(query.statement, query.parameters).fetchall())
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def integrity(self) -> list[str]:
        """Return the problems that SQLite's integrity check finds in the file; empty if there are none."""
        try:
            found = self.read_now(
                lambda connection: [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
            )
        except StoreError as error:
            return [str(error)]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        """Close all connections. If the database was opened to write, fold the WAL into its file."""
        self._async_reader.close()
        self._threads.shutdown()
        if self._sign is not None:
            self._sign.close()
        self._reading.dispose()
        self._writing.dispose()
        if self._memory_state is not None:
            self._memory_state.close()
        if self._is_written:
            # SQLite empties the WAL when the last connection is closed, but not if that one can only read.
            self.empty_wal()

    @property
    def is_small(self) -> bool:
        """Whether the file can be rewritten at any time without making others wait long."""
        return self.path.stat().st_size <= MAX_REWRITTEN_BYTES

    def rewrite(self) -> bool:
        """Rewrite the file, so that unused parts of its pages hold no old content. Returns False if it is in use.

        When SQLite moves rows between pages, it leaves copies in the unused part of a page, and `secure_delete` does
        not overwrite those. Rewriting takes 6 ms for each MB, and writers wait for it.
        """
        with suppress(sqlite3.Error), closing(connect(self.path, "rw", 0)) as driver:
            driver.execute("VACUUM")
            return True
        return False

    def checkpoint(self) -> None:
        """Write the changes in the WAL to the database file. No other connection waits for it."""
        with suppress(sqlite3.Error), closing(connect(self.path, "rw", 0)) as driver:
            driver.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def empty_wal(self) -> bool:
        """Write the changes in the WAL to the database file and empty the WAL. Returns whether that succeeded.

        A copy of the file alone is complete then, and earlier versions of the pages are gone. Never waits: while
        another process reads or writes, the WAL stays, and the last process that closes the database empties it.
        """
        with suppress(sqlite3.Error), closing(connect(self.path, "rw", 0)) as driver:
            # The first one keeps no other process from writing, and leaves little to do for the second.
            driver.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            is_blocked, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not is_blocked
        return False

    def _use_memory_state(self) -> None:
        self._memory_state, self._schema = MemoryState(), FILE

    def _connect(self, mode: Mode) -> sqlite3.Connection:
        if self._memory_state is None:
            return connect(self.path, mode, self._busy)
        return _set_up(self._memory_state.connect(self.path, mode, self._busy))

    def _connect_to_read(self) -> sqlite3.Connection:
        return self._connect(self._mode)

    def _connect_to_write(self) -> sqlite3.Connection:
        driver = self._connect("rw")
        driver.execute(f"PRAGMA {self._schema}.synchronous = {self._synchronous}")
        driver.execute(f"PRAGMA {self._schema}.journal_size_limit = {_WAL_LIMIT}")
        driver.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        # Deleted content is overwritten with zeros. Not every build of SQLite does so by default.
        driver.execute("PRAGMA secure_delete = ON")
        return driver

    def _prepare(self, found: str | None, on_progress: OnProgress | None) -> None:
        """Check that the file is writable, switch it to WAL mode, and create or upgrade its tables."""
        if found is None:
            self._create_file()
        with self.writing_connection() as connection:
            self._into_wal(connection)
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            if found != tables.SCHEMA_VERSION:
                # Read again under the lock: another process may have created or upgraded the tables meanwhile.
                found = _stamp_of(driver_of(connection), self.path)
            if found is None:
                _create_tables(connection)
                connection.exec_driver_sql("COMMIT")
            elif found == tables.SCHEMA_VERSION:
                # BEGIN succeeds on a read-only file, too; only a write fails. This write is rolled back.
                connection.exec_driver_sql("PRAGMA user_version = 0")
                connection.exec_driver_sql("ROLLBACK")
                self._finish_killed_upgrade()
            else:
                from engine.store.upgrade import Upgrade  # noqa: PLC0415  (alembic costs 430 ms)

                self.remarks.append(Upgrade(connection, self.path, found, on_progress).run(self.empty_wal))

    def _create_file(self) -> None:
        copy = upgrade_copy(self.path)
        if copy.exists():
            raise DatabaseMissing(
                f"there is no database at {self.path}, but an interrupted upgrade left a copy of it, {copy}. "
                f"Rename the copy to {self.path.name} to use it, or move it away to begin with an empty database."
            )
        with suppress(FileExistsError):  # another process was first, or the file is empty
            create_private_file(self.path.resolve())

    def _finish_killed_upgrade(self) -> None:
        if upgrade_copy(self.path).exists():
            from engine.store.upgrade import finish_killed  # noqa: PLC0415  (alembic costs 430 ms)

            self.remarks += finish_killed(self.path)

    def _into_wal(self, connection: Connection) -> None:
        # SQLite ignores the busy timeout if another process switches the mode at the same time, so this loop waits.
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


def _create_tables(connection: Connection) -> None:
    tables.metadata.create_all(connection)
    connection.exec_driver_sql(f"CREATE TABLE {STAMP} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    connection.exec_driver_sql(f"INSERT INTO {STAMP} VALUES (?)", (tables.SCHEMA_VERSION,))  # noqa: S608


def connect(path: Path, mode: Mode, busy: float) -> sqlite3.Connection:
    """Open a connection in autocommit mode. It waits `busy` seconds for a lock."""
    address = f"{path.as_uri()}?mode={mode}"
    return _set_up(sqlite3.connect(address, uri=True, timeout=busy, isolation_level=None, check_same_thread=False))


def _set_up(driver: sqlite3.Connection) -> sqlite3.Connection:
    driver.execute("PRAGMA temp_store = MEMORY")
    # For the triggers of the search index.
    driver.create_function("line_terms", 7, search_index.line_terms, deterministic=True)
    driver.create_function("line_words", 1, search_index.line_words, deterministic=True)
    return driver


def _older(path: Path, found: str | None) -> StoreError:
    """Return the error for a reader of an older database, which does not upgrade it."""
    if (pid := hosts.upgrading_process(path)) is not None:
        return _in_progress(path, pid)
    interrupted = " An earlier upgrade was interrupted; it changed nothing." if upgrade_copy(path).exists() else ""
    return DatabaseOlder(
        f"{path} was written by an older Trackside (schema {found or 'none'}, this one needs {tables.SCHEMA_VERSION}). "
        f"`{shlex.join(['trackside', 'run', '--db', str(path)])}` upgrades it.{interrupted}"
    )


def _in_progress(path: Path, pid: int) -> UpgradeInProgress:
    return UpgradeInProgress(f"process {pid} is upgrading {path}. Wait until it has finished, then try again.")


def look(path: Path, busy: float) -> tuple[Mode, str | None]:
    """Return the mode to read the database with, and its version; None if the file is missing or empty.

    Does not change the file.
    """
    if not path.exists():
        return "ro", None
    try:
        return "ro", _stamp(path, "ro", busy)
    except sqlite3.OperationalError as error:
        # SQLite cannot create its shared memory file in a read-only folder. If there is no WAL, or an empty one, the
        # file itself is complete and can be opened as immutable.
        _, log, *_ = sqlite_files(path)  # beside the real file, if the path is a link
        if sqlite_code(error) not in _NO_PLACE or (log.exists() and log.stat().st_size):
            raise
        return "ro&immutable=1", _stamp(path, "ro&immutable=1", busy)


def _stamp(path: Path, mode: Mode, busy: float) -> str | None:
    driver = connect(path, mode, busy)
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
            raise DatabaseForeign(f"{path} is a database of another program. Name another file with --db.") from error
        return None
    version = str(row[0]) if row else BASE
    if version > tables.SCHEMA_VERSION:
        raise DatabaseNewer(
            f"{path} was written by a newer Trackside (schema {version}, this one knows {tables.SCHEMA_VERSION}). "
            "Upgrade Trackside, or name another file with --db."
        )
    return version
