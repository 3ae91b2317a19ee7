"""Opens files under a root folder, so that no link leads outside, not even one that is put in during the call.

The path is resolved first, so links within the root can be used. Then the file is opened from a descriptor of the
root without following any link: with `openat2` if the kernel has it, else folder by folder. A folder that is swapped
for a link meanwhile is refused.
"""

import errno
import os
import stat
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""O_NONBLOCK: opening a pipe would wait for its other end."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_OPENAT2: Final = 437
"""The number of the system call, the same on all architectures except Alpha."""
_OPEN_HOW_BYTES: Final = 24
_RESOLVE: Final = 0x02 | 0x04 | 0x08
"""RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS and RESOLVE_BENEATH."""
_MAX_TRIES: Final = 16
"""The kernel answers EAGAIN if a folder is renamed during the call."""


class OutsideRoot(Exception):
    """Raised if a path leaves its root, or if a link was put into the path during the call."""


class NotRegular(OSError):
    """Raised if the path names a folder, a pipe, a device or a socket."""


class RootedFile(NamedTuple):
    """A file that was opened for reading. The caller closes the descriptor."""

    descriptor: int
    path: Path
    """The path without links."""
    status: os.stat_result


def open_in_root(root: Path, name: str) -> RootedFile:
    """Open a regular file under a root. `name` is relative to the root, or an absolute path within it.

    Raises OutsideRoot if the path leaves the root, and OSError if the file is missing, not regular or not readable.
    """
    real_root, path = _resolved(root, name)
    descriptor = _open_resolved(real_root, path, _READ)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise NotRegular(errno.EINVAL, "not a regular file")
    return RootedFile(descriptor, path, status)


def open_folder_in_root(root: Path, name: str) -> int:
    """Open a folder under a root, or the root itself, for listing. Returns the descriptor; raises as `open_in_root`."""
    return _open_resolved(*_resolved(root, name), _FOLDER)


def is_file_in_root(root: Path, name: str) -> bool:
    """Return whether `open_in_root` would succeed."""
    try:
        os.close(open_in_root(root, name).descriptor)
    except (OutsideRoot, OSError):
        return False
    return True


def _resolved(root: Path, name: str) -> tuple[Path, Path]:
    try:
        real_root = root.resolve()
        path = (real_root / name).resolve()
    except RuntimeError as error:
        raise OSError(errno.ELOOP, "the path has circular links") from error
    except ValueError as error:  # a NUL, or half a character
        raise FileNotFoundError(errno.ENOENT, "not a valid path") from error
    if not path.is_relative_to(real_root):
        raise OutsideRoot
    return real_root, path


def _open_resolved(real_root: Path, path: Path, flags: int) -> int:
    parts = path.relative_to(real_root).parts
    folder = os.open(real_root, _FOLDER | os.O_NOFOLLOW)
    try:
        if not parts:
            return os.open(".", flags, dir_fd=folder)
        return _openat2(folder, "/".join(parts), flags) if _has_openat2() else _walk(folder, parts, flags)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EXDEV):
            raise OutsideRoot from error
        raise
    finally:
        os.close(folder)


def _walk(folder: int, parts: Sequence[str], flags: int) -> int:
    """Open each folder from the descriptor of the one before, without following links."""
    opened: list[int] = []
    try:
        for part in parts[:-1]:
            folder = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            opened.append(folder)
        return os.open(parts[-1], flags | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _openat2(folder: int, name: str, flags: int) -> int:
    import ctypes  # noqa: PLC0415  (takes 8 ms, and most runs read no file)

    how = (ctypes.c_uint64 * 3)(flags, 0, _RESOLVE)
    arguments = (ctypes.c_int(folder), os.fsencode(name), ctypes.byref(how), ctypes.c_size_t(_OPEN_HOW_BYTES))
    libc, code = ctypes.CDLL(None, use_errno=True), errno.EAGAIN
    for _ in range(_MAX_TRIES):
        descriptor = libc.syscall(ctypes.c_long(_OPENAT2), *arguments)
        if descriptor >= 0:
            return descriptor
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code))


@cache
def _has_openat2() -> bool:
    """Return whether the kernel has the call. Old kernels and some sandboxes refuse it."""
    if sys.platform != "linux" or os.uname().machine == "alpha":
        return False
    root = os.open("/", _FOLDER)
    try:
        os.close(_openat2(root, ".", _FOLDER))
    except OSError:
        return False
    finally:
        os.close(root)
    return True
