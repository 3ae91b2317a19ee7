"""Errors of the store. Each message names the path or id and says what to do."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from engine.store.state_pages import StateChange

_NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_FORBIDDEN: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NEARLY_NOTHING: Final = 1 << 20
"""Free bytes below which an input/output error is reported as a full disk."""


class StoreError(Exception):
    """Base class of the errors of this package. The message says what to do."""


class DatabaseMissing(StoreError):
    """Raised if there is no database at the path."""


class DatabaseForeign(StoreError):
    """Raised if the file is an intact database of another program, or a folder."""


class DatabaseOlder(StoreError):
    """Raised if a database of an older Trackside is opened for reading only."""


class UpgradeInterrupted(StoreError):
    """Raised to end an upgrade that nobody waits for. The database is as it was, and the next open begins again."""


class UpgradeInProgress(StoreError):
    """Raised if another process is upgrading the database."""


class DatabaseInUse(StoreError):
    """Raised if a database must be upgraded while another process hosts runs on it. The file was not changed."""


class HostRefused(StoreError):
    """Raised if a process cannot host runs beside another one, because one of them keeps its state in memory."""


class DatabaseLocked(StoreError):
    """Raised if another process kept the database locked for longer than the busy timeout."""


class DatabaseNewer(StoreError):
    """Raised if a newer Trackside wrote the database. The file was not changed."""


class RecordingError(StoreError):
    """Raised if a file is not a recording of a run, or if a newer Trackside wrote it."""


class DatabaseDamaged(StoreError):
    """Raised if the file is not a database or has broken pages. The file was not changed."""


class DatabaseReadOnly(StoreError):
    """Raised if the file or its folder is not writable, or the file is not readable."""


class DiskFull(StoreError):
    """Raised if no space is left on the disk of the database."""


class DiskFailed(StoreError):
    """Raised if the disk failed to read or write."""


class BackupRefused(StoreError):
    """Raised if a backup cannot be written to its target."""


class WriterClosed(StoreError):
    """Raised by writes after the writer was closed."""


class EntryRefused(StoreError):
    """Raised if an entry cannot be stored: its position is taken, or SQLite cannot store its text."""


class NotFound(StoreError):
    """Raised if nothing has the id."""


class SessionDeleted(StoreError):
    """Raised if an event continues a session that is no longer stored."""


class Ambiguous(StoreError):
    """Raised if several ids match. The message names them."""


class EventTaken(StoreError):
    """Raised if the event id is in the log already."""


class SlotTaken(StoreError):
    """Raised if the conversation and thread already have a live run."""

    def __init__(self, run_id: str, conversation_id: str | None) -> None:
        super().__init__(f"session {conversation_id} is busy with run {run_id}; wait for it or stop it.")
        self.run_id = run_id


class AlreadyFinal(StoreError):
    """Raised if the run has already ended with another status."""


class AlreadyDecided(StoreError):
    """Raised if a queued message can no longer change as requested, because its fate is decided."""


class QueueFull(StoreError):
    """Raised if a run has the maximum number of queued messages."""


class CannotSteer(StoreError):
    """Raised if a message cannot steer the run in progress. The message says why."""


class BreakpointError(StoreError):
    """Raised if a run cannot pause there, or a pause cannot be edited that way.

    The message says why and what is possible.
    """


class OwnedByOtherHost(StoreError):
    """Raised if the run or message belongs to another process, which alone may change it."""


class HostGone(StoreError):
    """Raised if the process that hosts a run or message has ended, so that nobody can carry out a request."""


class HostSilent(StoreError):
    """Raised if the process that hosts a run is alive and did not take a request. The request was withdrawn."""


class ArtifactTaken(StoreError):
    """Raised if the artifact id exists already."""


class PathEscapes(StoreError):
    """Raised if the file of an artifact is not inside its root. The message never contains the path."""


class StateRefused(StoreError):
    """Raised if a state key or value is invalid or exceeds its limit."""


class StateTooLarge(StateRefused):
    """Raised if a state value has too many bytes."""


class StateFull(StateRefused):
    """Raised if a write would exceed the limits of a state scope."""


class StateConflict(StoreError):
    """Raised if the stored value of a key is not the expected one. The value was not changed."""

    def __init__(self, words: str, now: object, change: "StateChange | None") -> None:
        super().__init__(words)
        self.now = now
        """The stored value, or `Expected.NOTHING`. A caller can pass it as `expected` the next time."""
        self.change = change
        """The change that wrote the stored value; None if it is no longer known."""


class SessionRefused(StoreError):
    """Raised if a session id is invalid or taken, or its session has a run in progress."""


def sqlite_code(error: BaseException) -> int | None:
    """Return SQLite's primary result code of an error, also if SQLAlchemy wrapped it; None if there is none."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def translate(error: DBAPIError | sqlite3.Error | OSError, path: Path) -> StoreError:
    """Return the StoreError for an error, chosen by SQLite's result code or by errno."""
    if isinstance(error, OSError):
        return _of_system(error, path)
    text = str(error.orig if isinstance(error, DBAPIError) else error)
    words = _BY_CODE.get(sqlite_code(error))
    return words(path, text) if words is not None else StoreError(f"{path}: {text}")


def _locked(path: Path, _text: str = "") -> DatabaseLocked:
    return DatabaseLocked(
        f"{path} is locked by another process. Wait for it or end it, then try again; or name another file with --db."
    )


def _full(path: Path, _text: str = "") -> DiskFull:
    return DiskFull(
        f"no space is left for {path}. Free some space (`trackside prune` helps), or name a file elsewhere with --db. "
        "Everything recorded before is safe."
    )


def _read_only(path: Path, _text: str = "") -> DatabaseReadOnly:
    return DatabaseReadOnly(
        f"{path} cannot be written. Make the file and its folder writable for you, or name another file with --db."
    )


def missing(path: Path) -> DatabaseMissing:
    return DatabaseMissing(
        f"there is no database at {path}. `trackside run` creates one; or name another file with --db."
    )


def _not_one(path: Path, _text: str) -> DatabaseDamaged:
    return DatabaseDamaged(
        f"{path} is not a database. The file was not changed. Move it, or name another file with --db."
    )


def _damaged(path: Path, text: str) -> DatabaseDamaged:
    return DatabaseDamaged(
        f"{path} is damaged ({text}). Copy it, try `sqlite3 {path} .recover` on the copy, "
        "or name another file with --db."
    )


def _failed(path: Path, text: str) -> StoreError:
    if path.is_dir():
        return _folder(path)
    if _no_space_beside(path):
        return _full(path)
    return DiskFailed(f"the disk failed on {path} ({text}). Check the disk, or name a file elsewhere with --db.")


def _of_system(error: OSError, path: Path) -> StoreError:
    if error.errno in _NO_SPACE:
        return _full(path)
    if error.errno in _FORBIDDEN:
        return _read_only(path)
    if error.errno == errno.ENOENT:
        return missing(path)
    return _failed(path, error.strerror or str(error))


def _folder(path: Path) -> DatabaseForeign:
    return DatabaseForeign(f"{path} is a folder. Name a file with --db.")


def _cannot_open(path: Path, _text: str) -> StoreError:
    if path.is_dir():
        return _folder(path)
    if not path.parent.is_dir():
        return missing(path)
    if path.exists() and not os.access(path, os.R_OK):
        return DatabaseReadOnly(f"{path} cannot be read. Make it readable for you, or name another file with --db.")
    return _full(path) if _no_space_beside(path) else _read_only(path)


def _no_space_beside(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _NEARLY_NOTHING
    except OSError:
        return False


_BY_CODE: Final[Mapping[int | None, Callable[[Path, str], StoreError]]] = {
    sqlite3.SQLITE_BUSY: _locked,
    sqlite3.SQLITE_LOCKED: _locked,
    sqlite3.SQLITE_NOTADB: _not_one,
    sqlite3.SQLITE_CORRUPT: _damaged,
    sqlite3.SQLITE_READONLY: _read_only,
    sqlite3.SQLITE_PERM: _read_only,
    sqlite3.SQLITE_FULL: _full,
    sqlite3.SQLITE_CANTOPEN: _cannot_open,
    sqlite3.SQLITE_IOERR: _failed,
}


def speaks_of_the_file(error: BaseException) -> bool:
    """Return whether an error concerns the database file and not a single statement."""
    return sqlite_code(error) in _BY_CODE
