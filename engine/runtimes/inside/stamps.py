"""What tells one state of a file from another, without reading it."""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

Mark = tuple[int, int]
"""Mtime in nanoseconds, size."""
Stamp = tuple[str, int, int]
"""Path, mtime in nanoseconds, size."""

GONE: Final[Mark] = (0, -1)
_SETTLED: Final = 20_000_000
"""Nanoseconds after which a file cannot be written again under the same mtime: kernels count that in steps of up to
10 ms."""


def mark_of(file: "os.DirEntry[str] | Path") -> Mark:
    """A file as it is now; all that cannot be looked at are alike."""
    try:
        status = file.stat()
    except OSError:
        return GONE
    return status.st_mtime_ns, status.st_size


def stamp_of(path: str) -> Stamp:
    """A file that is about to be read: taken before, so that an edit in between shows."""
    mtime, size = mark_of(Path(path))
    # Written this very moment, it may be written once more without its time telling. So its size is left open.
    return path, mtime, -1 if abs(time.time_ns() - mtime) < _SETTLED else size


def are_unchanged(stamps: Iterable[Stamp]) -> bool:
    """Whether it is certain that all are as they were."""
    return all(size >= 0 and mark_of(Path(path)) == (mtime, size) for path, mtime, size in stamps)


def have_changed(stamps: Iterable[Stamp]) -> bool:
    """Whether one is seen to be another now; that it is not certain is not enough."""
    return any(_differs(mark_of(Path(path)), mtime, size) for path, mtime, size in stamps)


def _differs(found: Mark, mtime: int, size: int) -> bool:
    return found[0] != mtime or (size >= 0 and found[1] != size)
