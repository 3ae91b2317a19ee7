"""Upgrades a database to the newest schema, in one transaction, with a copy beside it until that has succeeded.

A killed upgrade has changed nothing, because SQLite discards a transaction that was not committed. Its copy stays, and
the next host that opens the database begins again.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from engine.store import hosts, search_index, tables
from engine.store.backup import copy_pages
from engine.store.database import BUSY_SECONDS, OnProgress, connect
from engine.store.errors import DatabaseInUse, DiskFull, StoreError, translate
from engine.store.migrations import READ_JOURNAL, upgrade
from engine.store.private_files import create_private_file, unfinished_copy, upgrade_copies, upgrade_copy
from engine.store.row_mapping import driver_of

CHANGED_SHARE: Final = 16
"""A sixteenth of the database must be free beside the copy, for the pages that the upgrade changes (1/120 from schema
0012). An upgrade from before 0010 makes the search index anew and may need more.
"""
MIN_CHANGED_BYTES: Final = 1 << 20
STEPS_PER_CHECK: Final = 1_000_000
"""Instructions of SQLite, about 20 ms, after which a long statement is interrupted if nobody waits for the upgrade."""
PAGE_WORK, ENTRY_WORK, LINE_WORK = 4, 1, 67
"""Microseconds to copy a page, to read a journal entry once, and to index a line. Only their ratio matters."""
_INDEXED_SINCE: Final = "0010"
"""The revision that makes the search index anew."""


def finish_killed(path: Path) -> list[str]:
    """Remove the copy that an upgrade left when it was killed after it had succeeded. Returns what to tell the user."""
    if hosts.upgrading_process(path) is not None:
        return []  # that process is about to remove it
    copy = upgrade_copy(path)
    try:
        hosts.delete_dead_upgrade_locks(path)
        for each in upgrade_copies(path):
            each.unlink(missing_ok=True)
    except OSError as error:
        return [f"{copy} is left from an upgrade that has succeeded, and cannot be removed: {error.strerror}."]
    return [f"An upgrade of the database was interrupted when it had succeeded. Its copy {copy} was removed."]


class Upgrade:
    """One upgrade, on a connection with an open transaction that holds the write lock of the database."""

    def __init__(self, connection: Connection, path: Path, found: str, on_progress: OnProgress | None) -> None:
        self._connection = connection
        self._driver = driver_of(connection)
        self._path = path
        self._found = found
        self._copy = upgrade_copy(path)
        self._part = unfinished_copy(path)
        self._meter = _Meter(on_progress)

    def run(self, empty_wal: Callable[[], bool]) -> str:
        """Upgrade and commit. Returns a sentence for the user.

        If the upgrade fails or `on_progress` raises an error, the transaction is rolled back.
        """
        self._refuse_other_hosts()
        try:
            # BEGIN succeeds on a read-only file, too; only a write fails.
            self._driver.execute("PRAGMA user_version = 0")
            lock = hosts.take_upgrade_lock(self._path)
        except (sqlite3.Error, OSError, StoreError) as error:
            raise self._refused(error) from error
        try:
            was_interrupted = self._remove_killed()
            self._migrate()
            # The file is complete and synced before its copy goes.
            empty_wal()
            self._remove_copies()
        finally:
            lock.release()
        words = f"The database was upgraded from schema {self._found or 'none'} to {tables.SCHEMA_VERSION}."
        if was_interrupted:
            words += " An earlier upgrade had been interrupted and had changed nothing; its copy was removed."
        return words

    def _migrate(self) -> None:
        try:
            self._require_room()
            self._meter.total = self._work()
            self._meter.add(0)
            self._make_copy()
            self._driver.set_progress_handler(self._meter.must_stop, STEPS_PER_CHECK)
            upgrade(self._connection, lambda count: self._meter.add(count * ENTRY_WORK))
            for count in search_index.index_backlog(self._connection):
                self._meter.add(count * LINE_WORK)
            self._driver.set_progress_handler(None, 0)
            self._meter.finish()
            self._driver.execute("COMMIT")
        except BaseException as error:
            self._driver.set_progress_handler(None, 0)
            if self._driver.in_transaction:  # on a full disk SQLite may have rolled back already
                self._driver.execute("ROLLBACK")
            self._part.unlink(missing_ok=True)
            if self._meter.error is not None:
                self._remove_copies()
                raise self._meter.error from None
            if isinstance(error, DBAPIError | sqlite3.Error | OSError):
                raise self._refused(error) from error
            raise

    def _refuse_other_hosts(self) -> None:
        found = hosts.live_processes(self._connection) if self._found else []
        if found:
            who = ", ".join(f"process {pid} (trackside {version})" for pid, version in found)
            raise DatabaseInUse(
                f"{self._path} must be upgraded, and {who} has it open. End that process, then try again. "
                "Nothing was changed."
            )

    def _refused(self, error: DBAPIError | sqlite3.Error | OSError | StoreError) -> StoreError:
        """Return the error for the user. A copy is kept unless the disk is full."""
        problem = error if isinstance(error, StoreError) else translate(error, self._path)
        if isinstance(problem, DiskFull):
            self._remove_copies()
            return DiskFull(
                f"no space is left to upgrade {self._path}. Free some space, then try again; or name another database "
                "with --db. Nothing was changed."
            )
        words = f"{problem} The upgrade from schema {self._found or 'none'} failed and changed nothing"
        kept = f"; a copy of the database is at {self._copy}" if self._copy.exists() else ""
        return type(problem)(f"{words}{kept}.")

    def _remove_killed(self) -> bool:
        """Remove what a killed upgrade has left. Returns whether there was anything."""
        # With the files that SQLite keeps beside the copy if a user has opened it: they would apply to the next copy.
        found = [path for path in upgrade_copies(self._path) if os.path.lexists(path)]
        for path in found:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(
                    f"{self._path} must be upgraded, and {path} is in the way and cannot be removed: {error.strerror}. "
                    "Move it away, then try again. Nothing was changed."
                ) from error
        return bool(found)

    def _remove_copies(self) -> None:
        for path in upgrade_copies(self._path):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _require_room(self) -> None:
        (pages,) = self._driver.execute("PRAGMA page_count").fetchone()
        (page_bytes,) = self._driver.execute("PRAGMA page_size").fetchone()
        size = pages * page_bytes
        needed = size + max(size // CHANGED_SHARE, MIN_CHANGED_BYTES)
        free = shutil.disk_usage(self._copy.parent).free
        if free < needed:
            raise DiskFull(
                f"{self._path} must be upgraded, and there is no room for a copy of it: {needed:,} bytes are needed, "
                f"and {free:,} are free. Free some space, then try again; or name another database with --db. "
                "Nothing was changed."
            )

    def _work(self) -> int:
        """Return the estimated work of the whole upgrade."""
        (pages,) = self._driver.execute("PRAGMA page_count").fetchone()
        work = pages * PAGE_WORK
        if self._found:
            (entries,) = self._driver.execute("SELECT coalesce(max(row) - min(row) + 1, 0) FROM journal").fetchone()
            work += entries * ENTRY_WORK * sum(self._found < revision for revision in READ_JOURNAL)
            first = "0" if self._found < _INDEXED_SINCE else "(SELECT seq FROM search_backlog)"
            (lines,) = self._driver.execute(f"SELECT count(*) FROM transcript WHERE seq > {first}").fetchone()  # noqa: S608
            work += lines * LINE_WORK
        return work

    def _make_copy(self) -> None:
        """Copy the database with all committed changes, including those in the WAL."""
        create_private_file(self._part)
        before = 0

        def report(done: int, _total: int) -> None:
            nonlocal before
            self._meter.add((done - before) * PAGE_WORK)
            before = done

        with closing(connect(self._path, "ro", BUSY_SECONDS)) as source:
            copy_pages(source, self._part, report)
        _sync(self._part)
        self._part.replace(self._copy)
        _sync(self._copy.parent)


class _Meter:
    """Counts the work that is done, and reports it."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._done = 0
        self.total = 0
        self.error: BaseException | None = None
        """What `on_progress` raised, which ends the upgrade."""

    def add(self, work: int) -> None:
        # The total is an estimate: only the end is the whole of it.
        self._done = min(self._done + work, max(self.total - 1, 0))
        self._report()

    def finish(self) -> None:
        self._done = self.total
        self._report()

    def must_stop(self) -> bool:
        """Return whether a long statement must be interrupted. SQLite calls this."""
        with suppress(BaseException):
            self._report()
        return self.error is not None

    def _report(self) -> None:
        if self._on_progress is not None:
            try:
                self._on_progress(self._done, self.total)
            except BaseException as error:
                self.error = error
                raise


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
