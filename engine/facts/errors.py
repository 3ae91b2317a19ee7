"""What can go wrong with the facts, each with the path or id and what to do about it."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from engine.facts.state_pages import StateChange

_NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_FORBIDDEN: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NEARLY_NOTHING: Final = 1 << 20
"""Below this many free bytes an input/output error is taken for a full disk."""


class FactsError(Exception):
    """The base of this room; the message says what to do."""


class DatabaseMissing(FactsError):
    """There is no database at this path."""


class DatabaseForeign(FactsError):
    """A sound database, but not one of ours."""


class DatabaseOlder(FactsError):
    """Written by an older Trackside, and opened by one that only reads."""


class DatabaseLocked(FactsError):
    """Another process kept the database locked for longer than we wait."""


class DatabaseNewer(FactsError):
    """Written by a newer Trackside; it was not touched."""


class DatabaseDamaged(FactsError):
    """Not a database, or one with broken pages; it was not touched."""


class DatabaseReadOnly(FactsError):
    """The file or its folder may not be written."""


class DiskFull(FactsError):
    """No space is left where the database lives."""


class DiskFailed(FactsError):
    """The disk refused to read or write."""


class WriterClosed(FactsError):
    """Something came to be written after the writer was closed."""


class EntryRefused(FactsError):
    """One journal entry cannot be stored: its position is taken, or it is not text that SQLite takes."""


class NotFound(FactsError):
    """Nothing of this id."""


class Ambiguous(FactsError):
    """Several ids fit; the message names them."""


class EventTaken(FactsError):
    """This event id is in the log already."""


class SlotTaken(FactsError):
    """The conversation and thread have a live run."""

    def __init__(self, run_id: str, conversation_id: str | None) -> None:
        super().__init__(f"conversation {conversation_id} is busy with run {run_id}; wait for it or cancel it.")
        self.run_id = run_id


class AlreadyFinal(FactsError):
    """The run ended before, and otherwise."""


class AlreadyDecided(FactsError):
    """A queued item's fate is decided once."""


class QueueFull(FactsError):
    """As many messages wait in a run as may."""


class CannotSteer(FactsError):
    """A message cannot go into the run at work; the message says why."""


class CannotHold(FactsError):
    """A run cannot be held there, or what is held cannot be changed so; the message says why and what is possible."""


class Elsewhere(FactsError):
    """What is to be changed belongs to another process, which alone may."""


class ArtifactTaken(FactsError):
    """An artifact of this id exists."""


class PathEscapes(FactsError):
    """A file artifact that does not lie under its root. The message never shows the path."""


class StateRefused(FactsError):
    """A state key or value over its limit."""


class StateTooLarge(StateRefused):
    """A value with more bytes than are kept."""


class StateMoved(FactsError):
    """Something else is kept under a key than who changes it had seen; it was left as it is."""

    def __init__(self, words: str, now: object, change: "StateChange | None") -> None:
        super().__init__(words)
        self.now = now
        """The whole value, or `Expected.NOTHING`: whoever was told of it may expect it the next time."""
        self.change = change
        """Who wrote that and when; nothing where that is not known any more."""


class SessionRefused(FactsError):
    """A session id that cannot be one, is taken, or whose session is at work."""


def sqlite_code(error: BaseException) -> int | None:
    """SQLite's primary result code of an error, whoever wrapped it."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def translate(error: DBAPIError | sqlite3.Error | OSError, path: Path) -> FactsError:
    """The error in our words, by SQLite's code or the system's."""
    if isinstance(error, OSError):
        return _of_system(error, path)
    text = str(error.orig if isinstance(error, DBAPIError) else error)
    words = _BY_CODE.get(sqlite_code(error))
    return words(path, text) if words is not None else FactsError(f"{path}: {text}")


def _locked(path: Path, _text: str = "") -> DatabaseLocked:
    return DatabaseLocked(
        f"{path} is locked by another process. Wait for it or end it, then try again; or name another file with --db."
    )


def _full(path: Path, _text: str = "") -> DiskFull:
    return DiskFull(
        f"no space is left for {path}. Free some space (`trackside prune` helps), or name a file elsewhere with --db. "
        "What was told as recorded is still there."
    )


def _read_only(path: Path, _text: str = "") -> DatabaseReadOnly:
    return DatabaseReadOnly(
        f"{path} cannot be written. Make the file and its folder writable for you, or name another file with --db."
    )


def missing(path: Path) -> DatabaseMissing:
    return DatabaseMissing(
        f"there is no database at {path}. `trackside run` makes one; or name another file with --db."
    )


def _not_one(path: Path, _text: str) -> DatabaseDamaged:
    return DatabaseDamaged(
        f"{path} is not a database. It was left as it is; move it away, or name another file with --db."
    )


def _damaged(path: Path, text: str) -> DatabaseDamaged:
    return DatabaseDamaged(
        f"{path} is damaged ({text}). Copy it, try `sqlite3 {path} .recover` on the copy, "
        "or name another file with --db."
    )


def _failed(path: Path, text: str) -> FactsError:
    if path.is_dir():
        return _folder(path)
    if _no_space_beside(path):
        return _full(path)
    return DiskFailed(f"the disk failed on {path} ({text}). Check the disk, or name a file elsewhere with --db.")


def _of_system(error: OSError, path: Path) -> FactsError:
    if error.errno in _NO_SPACE:
        return _full(path)
    if error.errno in _FORBIDDEN:
        return _read_only(path)
    if error.errno == errno.ENOENT:
        return missing(path)
    return _failed(path, error.strerror or str(error))


def _folder(path: Path) -> DatabaseForeign:
    return DatabaseForeign(f"{path} is a folder. Name a file with --db.")


def _cannot_open(path: Path, _text: str) -> FactsError:
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


_BY_CODE: Final[Mapping[int | None, Callable[[Path, str], FactsError]]] = {
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
    """Whether an error is about the database itself, and not about one statement."""
    return sqlite_code(error) in _BY_CODE
