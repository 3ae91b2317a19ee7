"""From SIGKILL of the host until all its processes are gone, for each state of its child."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from engine.api import Entry
from engine.events import EntryKind
from tests.bench.fresh_engine import complete_run, fresh_engine
from tests.bench.lines import Line, print_lines, within

STATES = ("idle", "busy in Python", "busy in C", "blocked", "with a grandchild")
ROUNDS = 3
SETTLE_SECONDS = 0.1
"""From the child's output until it is in its state."""


async def host(state: str) -> None:
    """Host a child in this state, print `ready`, and wait to be killed."""

    def on_entries(entries: list[Entry]) -> None:
        if state != "idle" and any(entry.type == EntryKind.OUTPUT for entry in entries):
            print("ready", flush=True)

    async with fresh_engine("stuck") as engine:
        await complete_run(engine, state, on_entries)
        print("ready", flush=True)
        await asyncio.sleep(3_600)


def _kill_host(state: str) -> float:
    """Return the milliseconds until all processes of the host are gone."""
    command = [sys.executable, "-m", "tests.bench.orphans", state]
    with (
        # A killed host does not remove its temporary folder; this one does.
        TemporaryDirectory(prefix="trackside-bench-") as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": folder}) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(SETTLE_SECONDS)
        descendants = _descendants(process.pid)
        if len(descendants) < 2:
            raise AssertionError(f"the host has no child or no guardian: {len(descendants)} processes")
        began = time.perf_counter()
        process.send_signal(signal.SIGKILL)
        return _wait_until_gone([process.pid, *descendants], began)


def _kill_plain() -> float:
    """The baseline: the same for one process without children."""
    with subprocess.Popen(["sleep", "3600"]) as process:
        began = time.perf_counter()
        process.kill()
        return _wait_until_gone([process.pid], began)


def _wait_until_gone(pids: list[int], began: float) -> float:
    """Return the milliseconds since `began`."""
    while any(_is_alive(pid) for pid in pids):
        time.sleep(0.000_5)
    return (time.perf_counter() - began) * 1_000


def _is_alive(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        os.kill(pid, 0)
        if sys.platform == "linux":
            return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}
    except OSError:
        return False
    return True


def _descendants(pid: int) -> list[int]:
    """Return the children of a process, their children, and so on."""
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True, text=True).stdout
    pairs = [(int(child), int(parent)) for child, parent in (line.split() for line in listing.splitlines())]
    found = [pid]
    for parent in found:
        found.extend(child for child, its_parent in pairs if its_parent == parent)
    return found[1:]


def measure() -> Iterator[Line]:
    plain = median([_kill_plain() for _ in range(ROUNDS)])
    for state in STATES:
        took = median([_kill_host(state) for _ in range(ROUNDS)])
        yield within(f"no process left after SIGKILL of the host, child {state}", took, "ms", plain, aim=100)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(host(sys.argv[1]))
    else:
        print_lines(measure())
