"""An upgrade in a forked process, which kills itself at a chosen moment."""

import os
import signal
from pathlib import Path

from engine.store.database import Database
from engine.store.private_files import upgrade_copy
from tests.support.faults.forked_host import FORKS

MOMENTS = (
    "before the copy",
    "while copying",
    "while renaming",
    "while counting",
    "while indexing",
    "before the commit",
)
"""Moments at which nothing has been committed."""
COMMITTED = "after the commit"


def kill_upgrade(path: Path, moment: str) -> None:
    """Upgrade a database of schema 0001 in another process, and kill that process with SIGKILL at a moment."""
    process = FORKS.Process(target=_upgrade_until, args=(path, moment))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL, process.exitcode


def _upgrade_until(path: Path, moment: str) -> None:
    copy, reports = upgrade_copy(path), 0

    def stop_at_moment(done: int, total: int) -> None:
        nonlocal reports
        reports += copy.exists()
        reached = {
            "before the copy": done == 0,
            "while copying": copy.with_name(f"{copy.name}.part").exists(),
            "while renaming": reports == 1,
            "while counting": reports == 2,
            "while indexing": reports == 3,
            "before the commit": done == total,
        }
        if reached.get(moment):
            _die()

    if moment == COMMITTED:
        Database.empty_wal = _die
    Database.open(path, write=True, on_progress=stop_at_moment)


def _die(*_: object) -> bool:
    os.kill(os.getpid(), signal.SIGKILL)
    return True
