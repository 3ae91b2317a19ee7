"""A child process with everything it starts: its group, its session, and processes with its mark."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from engine.runtimes.environment import MARK

MAX_EXIT_SECONDS: Final = 2.0
"""How long to wait for the killed processes of a group to exit."""


class ProcessGroup:
    """Watches the group's leader from a thread, kills the rest when it is gone, and reaps it last.

    A leader that is not reaped keeps its number, so a kill can never hit a foreign process.
    """

    def __init__(self, leader: "subprocess.Popen[bytes]", mark: str, loop: asyncio.AbstractEventLoop) -> None:
        self.pid = leader.pid
        self._mark = mark
        self.gone: asyncio.Future[int] = loop.create_future()
        """The leader's exit code, or minus its signal, once no process of the group is left."""
        self._leader = leader
        self._loop = loop
        self._lock = threading.Lock()
        self._is_reaped = False
        threading.Thread(target=self._watch, name=f"trackside-child-{self.pid}", daemon=True).start()

    def kill(self) -> None:
        """Send SIGKILL to every process of the group."""
        with self._lock:
            if not self._is_reaped:
                kill_group(self.pid)

    def _watch(self) -> None:
        try:
            if hasattr(os, "waitid"):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            else:  # macOS before Python 3.13: the number may be reused between these two lines
                self._leader.wait()
            self._kill_all()
        finally:
            with self._lock:
                self._is_reaped = True
                code = self._leader.wait()
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._set_exit_code, code)

    def _kill_all(self) -> None:
        """Kill what the leader left, until nothing is found any more."""
        end = time.monotonic() + MAX_EXIT_SECONDS
        while True:
            kill_group(self.pid)
            try:
                left = others(self.pid, self._mark)
            except OSError:  # no descriptor is free to look: try again
                left = None
            if left == [] or time.monotonic() > end:
                return
            for pid in left or ():  # in a group or a session of their own
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.002 if left else 0.02)

    def _set_exit_code(self, code: int) -> None:
        if not self.gone.done():
            self.gone.set_result(code)


def kill_group(group: int) -> None:
    """Send SIGKILL to the group. Does nothing if it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def others(group: int, mark: str) -> list[int]:
    """Return living processes of the group, of its session or with the mark, without the leader.

    Blocks for some milliseconds. Without a /proc only the group is known.
    """
    if sys.platform != "linux":
        return [pid for pid, of, state in _from_ps() if group == of and pid != group and state not in "ZX"]
    listing = {process.pid: process for process in _from_proc()}
    leader = listing.pop(group, None)
    began = leader.began if leader is not None else 0
    wanted = f"\0{MARK}={mark}\0".encode()
    return [
        process.pid
        for process in listing.values()
        if process.state not in "ZX"
        and (
            group in (process.group, process.session)
            # Older processes cannot have it: reading their environment would double the time.
            or (process.began >= began and _has_mark(process.pid, wanted))
        )
    ]


def find_descendants(pid: int) -> list[int]:
    """Return the living processes below a process, whatever their session. Blocks for some milliseconds. Linux only.

    Within a pid namespace this is complete: a process whose parent ends becomes a child of the namespace's process 1.
    """
    children: dict[int, list[_Process]] = {}
    for process in _from_proc():
        children.setdefault(process.parent, []).append(process)
    found, waiting = list[int](), [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += [process.pid for process in below if process.state not in "ZX"]
        waiting += [process.pid for process in below]
    return found


class _Process(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    state: str
    began: int
    """Clock ticks from the start of the machine to the start of the process."""


def _from_proc() -> Iterator[_Process]:
    with os.scandir("/proc") as entries:
        for entry in entries:
            if not entry.name.isdecimal():
                continue
            with contextlib.suppress(OSError):  # it ended meanwhile
                # The name in brackets may itself hold brackets and spaces.
                fields = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
                parent, group, session, began = (int(fields[place]) for place in (1, 2, 3, 19))
                yield _Process(int(entry.name), parent, group, session, fields[0].decode(), began)


def _has_mark(pid: int, wanted: bytes) -> bool:
    try:
        return wanted in b"\0%b\0" % Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it ended meanwhile, or belongs to another user
        return False


def _from_ps() -> Iterator[tuple[int, int, str]]:
    listing = subprocess.run(["/bin/ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, check=False, text=True)
    for line in listing.stdout.splitlines():
        pid, group, state = line.split()
        yield int(pid), int(group), state[0]
