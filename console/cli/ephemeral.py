"""`--ephemeral`: a database in a temporary folder that is removed at the end."""

import argparse
import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Final

PREFIX: Final = "trackside-ephemeral-"
_UNFINISHED: Final = ".new"
"""The end of a folder's name until it is locked."""
_MAX_UNFINISHED_SECONDS: Final = 3_600
MAX_CLEANING_SECONDS: Final = 1.0
"""How long a command waits at its end; a longer removal is continued by the next start."""
_NAME: Final = re.compile(rf"{PREFIX}\w+({re.escape(_UNFINISHED)})?")


@contextmanager
def chosen_database(options: argparse.Namespace) -> Iterator[None]:
    """Set `options.db` to a temporary database if the user wants one. Also removes what killed processes have left."""
    # In a thread: the start need not wait for it.
    cleaning = Thread(target=remove_abandoned, daemon=True)
    cleaning.start()
    if options.ephemeral:
        with ephemeral_database() as options.db:
            yield
    else:
        yield
    cleaning.join(MAX_CLEANING_SECONDS)


@contextmanager
def ephemeral_database() -> Iterator[Path]:
    """Yield the path of a new database in a folder of mode 0700, and remove the folder with all its files at the end.

    The folder is locked as long as this process lives, so that `remove_abandoned` can tell whether it is in use.
    """
    made = Path(tempfile.mkdtemp(prefix=PREFIX, suffix=_UNFINISHED))
    descriptor = _lock(made)
    # Only now the folder gets a name by which others look at its lock.
    folder = made.rename(made.with_name(made.name.removesuffix(_UNFINISHED)))
    try:
        yield folder / "trackside.db"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


def remove_abandoned() -> None:
    """Remove the folders of this user's processes that were killed. Others' folders and errors are ignored."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as found:
        for each in found:
            if _NAME.fullmatch(each.name):
                with suppress(OSError):
                    _remove_if_abandoned(Path(each.path))


def _remove_if_abandoned(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return
    if folder.name.endswith(_UNFINISHED) and time.time() - status.st_mtime < _MAX_UNFINISHED_SECONDS:
        return  # its process may be about to lock it
    descriptor = _lock(folder)
    if descriptor is not None:
        try:
            shutil.rmtree(folder)
        finally:
            os.close(descriptor)


def _lock(folder: Path) -> int | None:
    """Lock a folder and return its descriptor, which children do not inherit; None if another process has locked it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
