"""Tells two states of a file apart without reading it."""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

Mark = tuple[int, int]
"""Modification time in nanoseconds, and size."""
Stamp = tuple[str, int, int]
"""Path, modification time in nanoseconds, and size."""

GONE: Final[Mark] = (0, -1)
_SETTLED_NANOSECONDS: Final = 20_000_000
"""After this long a file cannot be written again with the same modification time: kernels count in steps of up to
10 ms.
"""


def mark_of(file: "os.DirEntry[str] | Path") -> Mark:
    """Return the mark of a file now; all unreadable files have the same mark."""
    try:
        status = file.stat()
    except (OSError, ValueError):  # ValueError: the path holds a NUL, which no file has
        return GONE
    return status.st_mtime_ns, status.st_size


def stamp_of(path: str) -> Stamp:
    """Return the stamp of a file that is about to be read, so that an edit in between is noticed."""
    mtime, size = mark_of(Path(path))
    # A file that was just written may be written again with the same time, so its size is left open.
    return path, mtime, -1 if abs(time.time_ns() - mtime) < _SETTLED_NANOSECONDS else size


def are_unchanged(stamps: Iterable[Stamp]) -> bool:
    """Whether all files are certainly unchanged."""
    return all(size >= 0 and mark_of(Path(path)) == (mtime, size) for path, mtime, size in stamps)


def have_changed(stamps: Iterable[Stamp]) -> bool:
    """Whether a file has certainly changed."""
    return any(_differs(mark_of(Path(path)), mtime, size) for path, mtime, size in stamps)


def _differs(found: Mark, mtime: int, size: int) -> bool:
    return found[0] != mtime or (size >= 0 and found[1] != size)
