"""Copies a database to a file, also while other processes write to it."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from engine.store.database import BUSY_SECONDS, connect, look
from engine.store.errors import BackupRefused, missing, translate
from engine.store.private_files import FILE_MODE, sqlite_files

_PAGES_PER_STEP: Final = 1_024
"""Pages that are copied between two calls of the progress function, in 4 ms."""
Progress = Callable[[int, int], None]
"""Called with the copied and the total number of pages."""


def back_up(database: Path, target: Path, *, overwrite: bool = False, progress: Progress | None = None) -> int:
    """Copy a database as it is now, with all committed changes, to a file with mode 0600. Returns its size in bytes.

    Blocks, and holds no lock that keeps others from writing. The copy appears under its name when it is complete.
    Raises BackupRefused if the target cannot be used, and StoreError if the database cannot be read.
    """
    import tempfile  # noqa: PLC0415  (only this command needs it)

    database, target = database.expanduser().absolute(), target.expanduser().absolute()
    try:
        mode, version = look(database, BUSY_SECONDS)
        if version is None:
            raise missing(database)
        source = connect(database, mode, BUSY_SECONDS)
    except (sqlite3.Error, OSError) as error:
        raise translate(error, database) from error
    with closing(source):
        _check_target(database, target, overwrite=overwrite)
        try:
            descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        except OSError as error:
            raise _unwritable(target, error) from error
        copy = Path(name)
        try:
            _take_snapshot(source, database)
            try:
                copy_pages(source, copy, progress)
            except sqlite3.Error as error:
                raise BackupRefused(f"the backup to {target} failed: {error}. No file was written.") from error
            os.fchmod(descriptor, FILE_MODE)
            os.fsync(descriptor)
            _publish(copy, target, overwrite=overwrite)
            return os.fstat(descriptor).st_size
        except OSError as error:
            raise _unwritable(target, error) from error
        finally:
            os.close(descriptor)
            copy.unlink(missing_ok=True)


def _check_target(database: Path, target: Path, *, overwrite: bool) -> None:
    if target.is_dir():
        raise BackupRefused(f"{target} is a folder. Name a file for the backup.")
    with suppress(OSError):
        if target.samefile(database):
            raise BackupRefused(f"{target} is the database itself. Name another file for the backup.")
    if os.path.lexists(target) and not overwrite:
        raise _exists(target)
    in_use = [path for path in sqlite_files(target)[1:] if path.exists()]
    if in_use:
        # SQLite would apply the changes in that file to the copy.
        raise BackupRefused(f"{target} is a database in use: {in_use[0]} exists. Name another file for the backup.")


def _take_snapshot(source: sqlite3.Connection, database: Path) -> None:
    """Open a snapshot. Without it, SQLite starts again whenever another process writes between two steps."""
    try:
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        raise translate(error, database) from error


def copy_pages(source: sqlite3.Connection, copy: Path, progress: Progress | None) -> None:
    """Copy all pages of a database into an empty file, step by step. The caller syncs the file."""

    def report(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    with closing(sqlite3.connect(copy, isolation_level=None)) as written:
        written.execute("PRAGMA journal_mode = OFF")
        written.execute("PRAGMA synchronous = OFF")
        source.backup(written, pages=_PAGES_PER_STEP, progress=report)


def _publish(copy: Path, target: Path, *, overwrite: bool) -> None:
    """Give the complete copy its name. A file that was created meanwhile is kept unless `overwrite` is set."""
    if overwrite:
        copy.replace(target)
        return
    try:
        target.hardlink_to(copy)
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
            raise
        copy.replace(target)  # this file system has no hard links


def _exists(target: Path) -> BackupRefused:
    return BackupRefused(f"{target} exists already. Add --force to overwrite it, or name another file.")


def _unwritable(target: Path, error: OSError) -> BackupRefused:
    return BackupRefused(f"{target} cannot be written: {error.strerror or error}. Name another file.")
