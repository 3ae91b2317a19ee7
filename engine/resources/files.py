"""Reads files under the project's file roots. A path that leaves its root is refused."""

import os
from pathlib import Path
from typing import Final

from engine.protocol.errors import ErrorCode
from engine.rooted_files import NotRegular, OutsideRoot, RootedFile, open_folder_in_root, open_in_root

MAX_FILE_BYTES: Final = 10 << 20


class FileProblem(Exception):
    """A file that cannot be returned. The message never contains a path of the machine."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_file(key: str, roots: tuple[Path, ...]) -> bytes:
    """Read the file that a key names: a path relative to one of the roots."""
    opened = _open(key, roots)
    with os.fdopen(opened.descriptor, "rb") as file:
        if opened.status.st_size > MAX_FILE_BYTES:
            raise FileProblem(ErrorCode.PAYLOAD_TOO_LARGE, f"file {key!r:.80} has more than {MAX_FILE_BYTES} bytes")
        return file.read(MAX_FILE_BYTES)


def file_exists(key: str, roots: tuple[Path, ...]) -> bool:
    """Whether a key names an existing file under one of the roots."""
    try:
        os.close(_open(key, roots).descriptor)
    except (FileProblem, OSError):
        return False
    return True


def list_file_keys(roots: tuple[Path, ...], limit: int = 1_000) -> list[str]:
    """Return the keys of files under the roots, sorted. Hidden and linked files are left out."""
    found: set[str] = set()
    for root in roots:
        waiting = [Path()]
        while waiting and len(found) < limit:
            folder = waiting.pop(0)
            try:
                files, folders = _list_folder(root, folder)
            except (OutsideRoot, OSError):
                continue
            waiting += [folder / name for name in folders]
            found |= {str(folder / name) for name in files}
    return sorted(found)[:limit]


def _open(key: str, roots: tuple[Path, ...]) -> RootedFile:
    for root in roots:
        try:
            return open_in_root(root, key)
        except OutsideRoot:
            raise FileProblem(ErrorCode.UNAUTHORIZED, f"file {key!r:.80} is outside the file roots") from None
        except (FileNotFoundError, NotADirectoryError, NotRegular):
            continue
    raise FileProblem(ErrorCode.NOT_FOUND, f"no file {key!r:.80} under the project's file_roots")


def _list_folder(root: Path, folder: Path) -> tuple[list[str], list[str]]:
    """Return the names of the files and of the folders in a folder, without hidden ones and links."""
    descriptor = open_folder_in_root(root, str(folder))
    try:
        with os.scandir(descriptor) as listed:
            entries = [entry for entry in listed if not entry.name.startswith(".")]
            files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
            folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    finally:
        os.close(descriptor)
    return files, sorted(folders)
