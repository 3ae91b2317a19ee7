"""A child process with everything it starts: one session, one group."""

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
from typing import Final

MAX_EXIT_SECONDS: Final = 2.0
"""How long to wait for the killed processes of a group to exit."""


class ProcessGroup:
    """Watches the group's leader from a thread, kills the rest when it is gone, and reaps it last.

    A leader that is not reaped keeps its number, so a kill can never hit a foreign process.
    """

    def __init__(self, leader: "subprocess.Popen[bytes]", loop: asyncio.AbstractEventLoop) -> None:
        self.pid = leader.pid
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
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        else:  # macOS before Python 3.13: the number may be reused between these two lines
            self._leader.wait()
        end = time.monotonic() + MAX_EXIT_SECONDS
        while True:
            kill_group(self.pid)
            left = others(self.pid)
            if not left or time.monotonic() > end:
                break
            for pid in left:  # in a group of their own, but still of this session
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)
        with self._lock:
            self._is_reaped = True
            code = self._leader.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._set_exit_code, code)

    def _set_exit_code(self, code: int) -> None:
        if not self.gone.done():
            self.gone.set_result(code)


def kill_group(group: int) -> None:
    """Send SIGKILL to the group. Does nothing if it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def others(group: int) -> list[int]:
    """Return living processes of the group or its session, without the leader. Blocks for some milliseconds."""
    listing = _from_proc() if sys.platform == "linux" else _from_ps()
    return [pid for pid, of, state in listing if group in of and pid != group and state not in "ZX"]


def _from_proc() -> Iterator[tuple[int, tuple[int, ...], str]]:
    with os.scandir("/proc") as entries:
        for entry in entries:
            if not entry.name.isdecimal():
                continue
            with contextlib.suppress(OSError):  # it ended meanwhile
                # The name in brackets may itself hold brackets and spaces.
                fields = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
                yield int(entry.name), (int(fields[2]), int(fields[3])), fields[0].decode()


def _from_ps() -> Iterator[tuple[int, tuple[int, ...], str]]:
    listing = subprocess.run(["/bin/ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, check=False, text=True)
    for line in listing.stdout.splitlines():
        pid, group, state = line.split()
        yield int(pid), (int(group),), state[0]
