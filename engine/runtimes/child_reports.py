"""Checks what a child reports about itself: the runner's code can forge every frame of its process."""

import os
from typing import Any, Final, cast

from engine.runtimes.runtime import Launch
from engine.runtimes.worker.file_stamps import Stamp

MAX_FILES: Final = 10_000
"""A runner that loads more modules from its folder gets a new child for each run."""
MAX_PATH_CHARS: Final = 4096
MAX_MESSAGE_CHARS: Final = 4_000
MAX_TRACEBACK_CHARS: Final = 65 * 1024
"""A little more than the worker itself sends."""
_MAX_INTEGER: Final = 2**63


def read_files(report: object, launch: Launch) -> list[Stamp] | None:
    """Return the loaded files of a report; None if the list cannot be true. Costs about 1 µs per file."""
    files = cast("dict[str, Any]", report).get("files") if isinstance(report, dict) else None
    if not isinstance(files, list) or len(cast("list[Any]", files)) > MAX_FILES:
        return None
    own, below = str(launch.path.absolute()), f"{launch.folder.absolute()}{os.sep}"
    stamps: list[Stamp] = []
    for file in cast("list[Any]", files):
        stamp = _read_stamp(file)
        if stamp is None or not (stamp[0] == own or _is_below(stamp[0], below)):
            return None
        stamps.append(stamp)
    # A child without its runner's file would be used again after every edit of it.
    return stamps if any(stamp[0] == own for stamp in stamps) else None


def read_text(value: object, limit: int) -> str:
    """Return the start of a text; empty if the value is something else."""
    return value[:limit] if isinstance(value, str) else ""


def read_size(value: object, otherwise: int) -> int:
    """Return a number of bytes, or `otherwise` if the value cannot be one."""
    return value if type(value) is int and 0 <= value < _MAX_INTEGER else otherwise


def _read_stamp(file: object) -> Stamp | None:
    if not isinstance(file, list) or len(cast("list[Any]", file)) != 3:
        return None
    path, mtime, size = cast("list[Any]", file)
    if type(path) is not str or type(mtime) is not int or type(size) is not int:
        return None
    if not 0 < len(path) <= MAX_PATH_CHARS or "\0" in path:
        return None
    in_range = -_MAX_INTEGER <= mtime < _MAX_INTEGER and -1 <= size < _MAX_INTEGER
    return (path, mtime, size) if in_range else None


def _is_below(path: str, folder: str) -> bool:
    """Whether a path is inside the folder. A path such as `FOLDER/part/../other.py` is; links are not followed."""
    if not path.startswith(folder):
        return False
    rest = path[len(folder) :]
    return ".." not in rest or os.path.normpath(rest).split(os.sep, 1)[0] != ".."
