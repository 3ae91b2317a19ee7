"""Files under the project's roots. What leads out of them, by any way, is not there."""

import os
import stat
from pathlib import Path
from typing import Final

from engine.protocol.errors import ErrorCode

LARGEST: Final = 10 << 20


class FileProblem(Exception):
    """A file that cannot be given; never names a path of the machine."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_file(key: str, roots: tuple[Path, ...]) -> bytes:
    """The file that a key names: a path relative to one of the roots."""
    return _read(_found(key, roots), key)


def is_there(key: str, roots: tuple[Path, ...]) -> bool:
    """Whether a key names a file that could be read now; one outside the roots is not there."""
    try:
        _found(key, roots)
    except (FileProblem, OSError, RuntimeError, ValueError):  # also links in a circle, and what can be no path
        return False
    return True


def _found(key: str, roots: tuple[Path, ...]) -> Path:
    for root in roots:
        real_root = root.resolve()
        path = (real_root / key).resolve()
        if not path.is_relative_to(real_root):
            raise FileProblem(ErrorCode.UNAUTHORIZED, f"file {key!r:.80} does not lie under a file root")
        if path.is_file():
            return path
    raise FileProblem(ErrorCode.NOT_FOUND, f"no file {key!r:.80} under the project's file_roots")


def keys_under(roots: tuple[Path, ...], most: int = 1_000) -> list[str]:
    """Keys of files that can be named, in order; hidden ones and those behind links are not listed."""
    found: set[str] = set()
    for root in (root.resolve() for root in roots):
        waiting = [root]
        while waiting and len(found) < most:
            try:
                with os.scandir(waiting.pop(0)) as listed:
                    entries = sorted(listed, key=lambda entry: entry.name)
            except OSError:
                continue
            seen = [entry for entry in entries if not entry.name.startswith(".")]
            waiting += [Path(entry.path) for entry in seen if entry.is_dir(follow_symlinks=False)]
            found |= {str(Path(entry.path).relative_to(root)) for entry in seen if entry.is_file(follow_symlinks=False)}
    return sorted(found)[:most]


def _read(path: Path, key: str) -> bytes:
    # Not followed any more: the last part was resolved, so a link here was put in since.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileProblem(ErrorCode.NOT_FOUND, f"{key!r:.80} is no regular file")
        if status.st_size > LARGEST:
            raise FileProblem(ErrorCode.PAYLOAD_TOO_LARGE, f"file {key!r:.80} has more than {LARGEST} bytes")
        return file.read(LARGEST)
