"""Files and folders that only their owner may read: creates them, and finds and tightens wider ones."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
_OTHERS: Final = 0o077
"""The permissions of the group and of all other users."""
_OF_SQLITE: Final = ("", "-wal", "-shm", "-journal")


def make_private_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 0700, whatever the umask. Existing folders keep their mode."""
    missing: list[Path] = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        with suppress(FileExistsError):
            folder.mkdir(mode=FOLDER_MODE)
            folder.chmod(FOLDER_MODE)


def create_private_file(path: Path) -> None:
    """Create an empty file with mode 0600, whatever the umask. Raises FileExistsError if the file exists."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    try:
        os.fchmod(descriptor, FILE_MODE)
    finally:
        os.close(descriptor)


def tighten(paths: Iterable[Path]) -> None:
    """Take the permissions of group and others from paths that this user owns. Others are left to `doctor`."""
    for path in paths:
        with suppress(OSError):
            status = path.stat()
            if status.st_uid == os.geteuid() and status.st_mode & _OTHERS:
                path.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)


def open_to_others(paths: Iterable[Path]) -> list[Path]:
    """Return the existing paths that the group or others may read, write or enter."""
    found: list[Path] = []
    for path in paths:
        with suppress(OSError):
            if path.stat().st_mode & _OTHERS:
                found.append(path)
    return found


def sqlite_files(database: Path) -> list[Path]:
    """Return the paths of a database and of the files that SQLite keeps beside it. Not all of them exist."""
    return _with_suffixes(database.resolve())


def _with_suffixes(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in _OF_SQLITE]


def upgrade_copy(database: Path) -> Path:
    """Return the path of the copy of a database that an upgrade keeps until it has succeeded."""
    real = database.resolve()
    return real.with_name(f"{real.name}.upgrade-copy")


def unfinished_copy(database: Path) -> Path:
    """Return the path of that copy until it is complete."""
    copy = upgrade_copy(database)
    return copy.with_name(f"{copy.name}.part")


def upgrade_copies(database: Path) -> list[Path]:
    """Return the paths at which an upgrade may have left something: both copies, and the files of SQLite beside them.

    Links are not followed, so that deleting these paths never deletes another file.
    """
    return [*_with_suffixes(upgrade_copy(database)), *_with_suffixes(unfinished_copy(database))]


def files_beside(database: Path) -> list[Path]:
    """Return the files of a database: those of SQLite, and the locks, drafts, backups and crash reports beside it."""
    real = database.resolve()
    try:
        others = [path for path in real.parent.iterdir() if path.name.startswith(f"{real.name}.") and path.is_file()]
    except OSError:
        others = []
    return [*(path for path in sqlite_files(database) if path.exists()), *sorted(others)]
