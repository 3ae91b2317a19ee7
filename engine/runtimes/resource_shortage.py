"""Which limit of the system keeps a process from being started, and how to raise it."""

import errno
import os
from pathlib import Path
from typing import Final

from engine.runtimes.runtime import RuntimeProblem

SHORTAGES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})
"""Errors that may be over as soon as another process has ended."""
RESERVED_DESCRIPTORS: Final = 24
"""Descriptors that children leave free, for the database and everything else that the host opens."""
DESCRIPTORS_PER_START: Final = 12
"""Descriptors that are open at once while a child is started; four of them stay open."""
_ENOUGH_FILES: Final = 4096
_AGAIN: Final = "and start Trackside again."


class OutOfResources(RuntimeProblem):
    """The system allows no further process now. The message names the limit, its value and the command for it."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"No process can be started: {cause}")
        self.cause = cause


def shortage_of(code: int | None) -> OutOfResources:
    """Return the problem for an error number of `SHORTAGES`."""
    match code:
        case errno.EMFILE:
            return OutOfResources(_open_files_cause())
        case errno.ENFILE:
            return OutOfResources(_system_files_cause())
        case errno.ENOMEM:
            return OutOfResources(_memory_cause())
        case _:
            return OutOfResources(_processes_cause())


def free_descriptors() -> int:
    """Return how many more files this process may open."""
    import resource  # noqa: PLC0415 - not needed before the first run

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit == resource.RLIM_INFINITY:
        return _ENOUGH_FILES
    try:
        return max(0, limit - len(os.listdir("/dev/fd")))  # noqa: PTH208 - names are enough
    except OSError:  # listing them takes one
        return 0


def _open_files_cause() -> str:
    import resource  # noqa: PLC0415

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = max(_ENOUGH_FILES, 2 * soft)
    if hard != resource.RLIM_INFINITY and soft < hard:
        enough = min(enough, hard)
    return f"the limit of open files, {soft}, is reached. Raise it with `ulimit -n {enough}` {_AGAIN}"


def _system_files_cause() -> str:
    value = _first_line("/proc/sys/fs/file-max")
    now = f", {value}," if value else ""
    return f"the system's limit of open files{now} is reached. Raise it with `sysctl -w fs.file-max=NUMBER` {_AGAIN}"


def _processes_cause() -> str:
    import resource  # noqa: PLC0415

    soft = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    allowed = _first_line("/sys/fs/cgroup/pids.max")
    if allowed.isdecimal() and (soft == resource.RLIM_INFINITY or int(allowed) < soft):
        return (
            f"the limit of processes of this container or service, {allowed}, is reached. "
            f"Raise it with `--pids-limit` (docker) or `TasksMax=` (systemd) {_AGAIN}"
        )
    if soft == resource.RLIM_INFINITY:
        return f"the system refuses another one. End other programs {_AGAIN}"
    return f"the limit of processes of this user, {soft}, is reached. Raise it with `ulimit -u {2 * soft}` {_AGAIN}"


def _memory_cause() -> str:
    import resource  # noqa: PLC0415

    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    if soft == resource.RLIM_INFINITY:
        return f"the machine has no memory left for it. End other programs {_AGAIN}"
    return f"the limit of memory, {soft // 1024} KiB, is reached. Raise it with `ulimit -v unlimited` {_AGAIN}"


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text().partition("\n")[0].strip()
    except OSError:
        return ""
