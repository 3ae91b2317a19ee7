"""Checks what a child reports about itself: the runner's code can forge every frame of its process."""

import os
import re
from collections.abc import Set
from typing import Any, Final, cast

from engine.runtimes.runtime import Launch
from engine.runtimes.worker.file_stamps import Stamp
from engine.runtimes.worker.opened import CONNECTION, PROCESS

MAX_FILES: Final = 10_000
"""A runner that loads more modules from its folder gets a new child for each run."""
MAX_PATH_CHARS: Final = 4096
MAX_MESSAGE_CHARS: Final = 4_000
MAX_TRACEBACK_CHARS: Final = 65 * 1024
"""A little more than the worker itself sends."""
MAX_MODULES: Final = 2_000
MAX_MODULE_FOLDERS: Final = 8
MAX_VERSION_CHARS: Final = 50
MAX_TARGET_CHARS: Final = 4_096
OPENED: Final = frozenset({CONNECTION, PROCESS})
_MAX_INTEGER: Final = 2**63
_INSTALLED: Final = ("/site-packages", "/dist-packages")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


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


def read_digests(report: object, paths: Set[str]) -> dict[str, str]:
    """Return the digests of loaded files by path, without those of other files and those that cannot be true."""
    pairs = cast("list[Any]", report)[:MAX_FILES] if isinstance(report, list) else ()
    return {
        path: digest
        for path, digest in map(_read_pair, pairs)
        if path in paths and _DIGEST.fullmatch(digest) is not None
    }


def read_modules(report: object) -> dict[str, list[str]]:
    """Return files of installed modules by their folder, without those that cannot be installed ones."""
    pairs = cast("list[Any]", report)[:MAX_MODULES] if isinstance(report, list) else ()
    found: dict[str, list[str]] = {}
    for folder, file in map(_read_pair, pairs):
        is_installed = folder.startswith("/") and folder.endswith(_INSTALLED)
        if is_installed and file and (folder in found or len(found) < MAX_MODULE_FOLDERS):
            found.setdefault(folder, []).append(file)
    return found


def read_opened(report: object) -> tuple[str, str] | None:
    """Return what the runner opened and its target; None if the report is not one."""
    fields = cast("dict[str, Any]", report) if isinstance(report, dict) else {}
    what, target = fields.get("what"), fields.get("target")
    if type(what) is not str or what not in OPENED or type(target) is not str or not target:
        return None
    return what, target[:MAX_TARGET_CHARS]


def read_text(value: object, limit: int) -> str:
    """Return the start of a text; empty if the value is something else."""
    return value[:limit] if isinstance(value, str) else ""


def read_size(value: object, otherwise: int) -> int:
    """Return a number of bytes, or `otherwise` if the value cannot be one."""
    return value if type(value) is int and 0 <= value < _MAX_INTEGER else otherwise


def _read_pair(pair: object) -> tuple[str, str]:
    """Return two texts; both are empty if the value is something else, or too long or not valid for a path."""
    if isinstance(pair, list) and len(cast("list[Any]", pair)) == 2:
        first, second = cast("list[Any]", pair)
        if type(first) is str and type(second) is str and len(first) <= MAX_PATH_CHARS and "\0" not in first + second:
            return first, second[:MAX_PATH_CHARS]
    return "", ""


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
