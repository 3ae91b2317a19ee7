"""How long anything of ours lives on after the host itself was killed, whatever its child was doing."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.api import Entry
from tests.bench.lines import Line, print_lines, within
from tests.bench.stage import stage, watch

STATES = ("idle", "busy in Python", "busy in C", "blocked", "with a grandchild")
ROUNDS = 3
SETTLING = 0.1
"""Seconds between 'here' and being there."""


async def host(state: str) -> None:
    """Be a host with a child in this state, say so, and wait for the end."""

    def heard(entries: list[Entry]) -> None:
        if state != "idle" and any(entry.type == "output" for entry in entries):
            print("ready", flush=True)

    async with stage("stuck") as engine:
        await watch(engine, state, heard)
        print("ready", flush=True)
        await asyncio.sleep(3_600)


def _kill_host(state: str) -> float:
    """Milliseconds until none of the host's processes is left."""
    command = [sys.executable, "-m", "tests.bench.orphans", state]
    with (
        # What is killed cannot clean up behind itself.
        TemporaryDirectory(prefix="trackside-bench-") as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": folder}) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(SETTLING)
        below = _below(process.pid)
        if len(below) < 2:
            raise AssertionError(f"a host with {len(below)} processes has no child or no guardian")
        began = time.perf_counter()
        process.send_signal(signal.SIGKILL)
        return _until_gone([process.pid, *below], began)


def _kill_plain() -> float:
    """The same for one process that nobody has to look for."""
    with subprocess.Popen(["sleep", "3600"]) as process:
        began = time.perf_counter()
        process.kill()
        return _until_gone([process.pid], began)


def _until_gone(pids: list[int], began: float) -> float:
    while any(_lives(pid) for pid in pids):
        time.sleep(0.000_5)
    return (time.perf_counter() - began) * 1_000


def _lives(pid: int) -> bool:
    """Dead but not yet buried counts as gone."""
    try:
        os.kill(pid, 0)
        if sys.platform == "linux":
            return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}
    except OSError:
        return False
    return True


def _below(pid: int) -> list[int]:
    """All that this process started, and all that they did."""
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True, text=True).stdout
    pairs = [(int(child), int(parent)) for child, parent in (line.split() for line in listing.splitlines())]
    found = [pid]
    for parent in found:
        found.extend(child for child, of in pairs if of == parent)
    return found[1:]


def measure() -> Iterator[Line]:
    """The middle of a few for each state."""
    plain = _middle([_kill_plain() for _ in range(ROUNDS)])
    for state in STATES:
        took = _middle([_kill_host(state) for _ in range(ROUNDS)])
        yield within(f"nothing left after SIGKILL of the host, child {state}", took, "ms", plain, aim=100)


def _middle(numbers: list[float]) -> float:
    return sorted(numbers)[len(numbers) // 2]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(host(sys.argv[1]))
    else:
        print_lines(measure())
