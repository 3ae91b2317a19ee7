"""Reads files under the project's file roots. A path that leaves its root is refused."""

import os
import stat
from pathlib import Path
from typing import Final

from engine.protocol.errors import ErrorCode

MAX_FILE_BYTES: Final = 10 << 20


class FileProblem(Exception):
    """A file that cannot be returned. The message never contains a path of the machine."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_file(key: str, roots: tuple[Path, ...]) -> bytes:
    """Read the file that a key names: a path relative to one of the roots."""
    return _read(_resolve(key, roots), key)


def file_exists(key: str, roots: tuple[Path, ...]) -> bool:
    """Whether a key names an existing file under one of the roots."""
    try:
        _resolve(key, roots)
    except (FileProblem, OSError, RuntimeError, ValueError):  # also circular links and invalid paths
        return False
    return True


def _resolve(key: str, roots: tuple[Path, ...]) -> Path:
    for root in roots:
        real_root = root.resolve()
        path = (real_root / key).resolve()
        if not path.is_relative_to(real_root):
            raise FileProblem(ErrorCode.UNAUTHORIZED, f"file {key!r:.80} is outside the file roots")
        if path.is_file():
            return path
    raise FileProblem(ErrorCode.NOT_FOUND, f"no file {key!r:.80} under the project's file_roots")


def list_file_keys(roots: tuple[Path, ...], limit: int = 1_000) -> list[str]:
    """Return the keys of files under the roots, sorted. Hidden and linked files are left out."""
    found: set[str] = set()
    for root in (root.resolve() for root in roots):
        waiting = [root]
        while waiting and len(found) < limit:
            try:
                with os.scandir(waiting.pop(0)) as listed:
                    entries = sorted(listed, key=lambda entry: entry.name)
            except OSError:
                continue
            seen = [entry for entry in entries if not entry.name.startswith(".")]
            waiting += [Path(entry.path) for entry in seen if entry.is_dir(follow_symlinks=False)]
            found |= {str(Path(entry.path).relative_to(root)) for entry in seen if entry.is_file(follow_symlinks=False)}
    return sorted(found)[:limit]


def _read(path: Path, key: str) -> bytes:
    # O_NOFOLLOW: the path was resolved, so a link here was put in since.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileProblem(ErrorCode.NOT_FOUND, f"{key!r:.80} is not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            raise FileProblem(ErrorCode.PAYLOAD_TOO_LARGE, f"file {key!r:.80} has more than {MAX_FILE_BYTES} bytes")
        return file.read(MAX_FILE_BYTES)
