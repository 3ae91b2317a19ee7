"""Hostile runners: how long each attack blocks the host's event loop, and how much memory it takes.

Each attack is made by a real child against an engine in a process of its own.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from engine.api import Engine, RunOptions, message
from engine.events import Status
from tests.bench.fresh_engine import RUNNERS
from tests.bench.lines import Line, print_lines, within
from tests.bench.runners.hostile import ATTACKS

TICK_SECONDS: Final = 0.001
MAX_STALL_MS: Final = 250
AIM_STALL_MS: Final = 100
MAX_GROWTH_MIB: Final = 64
MAX_LATE_MS: Final = 1_000
"""From the deadline of a run to its recorded end."""
NO_ATTACK: Final = "no attack"
FLOOD: Final = "a flood past the deadline"
FLOOD_TIMEOUT_SECONDS: Final = 2
PROMPT_CHARACTERS: Final = 170_000
PROJECT: Final = {
    "runners": [str(RUNNERS / "hostile.py")],
    "agents": [{"id": "hostile", "runner": "hostile"}],
}


class Ticker:
    """Measures the longest time between two turns of the loop."""

    def __init__(self) -> None:
        self.worst_seconds = 0.0
        self.worst_cpu_seconds = 0.0
        """The same as time that this process used: other load on the machine adds to the one but not to the other."""
        self._task = asyncio.get_running_loop().create_task(self._tick())

    async def _tick(self) -> None:
        last, last_cpu = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now, cpu = time.perf_counter(), time.process_time()
            self.worst_seconds = max(self.worst_seconds, now - last - TICK_SECONDS)
            self.worst_cpu_seconds = max(self.worst_cpu_seconds, cpu - last_cpu)
            last, last_cpu = now, cpu

    def stop(self) -> None:
        self._task.cancel()


async def attack(name: str) -> dict[str, float]:
    """Run one attack and return the worst stall and the lateness in milliseconds, and the growth in MiB."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        _write_project(Path(folder))
        async with await Engine.open(Path(folder), db=Path(folder, "bench.db")) as engine:
            await _run(engine, NO_ATTACK)
            _reset_peak()
            before = _memory("VmRSS")
            ticker = Ticker()
            row = await _run(engine, name)
            ticker.stop()
            growth = _memory("VmHWM") - before
        late = 0 if row.deadline_at is None else max(0, (row.finished_at or 0) - row.deadline_at) / 1_000
        expected = Status.TIMEOUT if name == FLOOD else Status.COMPLETED
        if row.status != expected:
            raise AssertionError(f"{name}: {row.status} {row.status_reason} {row.metadata}")
        return {
            "stall": ticker.worst_seconds * 1_000,
            "cpu": ticker.worst_cpu_seconds * 1_000,
            "growth": growth,
            "before": before,
            "late": late,
        }


def _write_project(folder: Path) -> None:
    (folder / "trackside.yaml").write_text(json.dumps(PROJECT))


async def _run(engine: Engine, name: str) -> Any:
    """Run one attack, with a subscriber that receives every entry, as the console does."""
    config: dict[str, Any] = {"prompt": "x" * PROMPT_CHARACTERS}
    if name == FLOOD:
        config["timeout"] = FLOOD_TIMEOUT_SECONDS
    since = await engine.last_row()
    event = message(engine.ids.new("evt"), name, conversation_id="bench")
    run_id = await (await engine.runs.submit(event, RunOptions(config=config))).started
    async with engine.subscribe(since, run_id=run_id) as subscription:
        reading = asyncio.get_running_loop().create_task(_read_all(subscription))
        row = await engine.runs.wait_for_end(run_id)
        reading.cancel()
    return row


async def _read_all(subscription: Any) -> None:
    async for _ in subscription:
        pass


def _reset_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _memory(field: str) -> float:
    """Return a figure of this process's status in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1_024
    raise AssertionError(f"no {field}")


def _measure_in_process(name: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.hostile", name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as process:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
    if process.returncode:
        raise AssertionError(f"{name} ended with code {process.returncode}")
    return json.loads(lines[-1])


def measure() -> Iterator[Line]:
    """Measure each attack once, in a process of its own: memory that one attack left would hide that of the next."""
    idle = _measure_in_process(NO_ATTACK)["stall"]
    for name in ATTACKS:
        if name == NO_ATTACK:
            continue
        figures = _measure_in_process(name)
        yield within(f"worst stall: {name}", figures["stall"], "ms", idle, aim=AIM_STALL_MS, limit=MAX_STALL_MS)
        yield within(f"memory growth: {name}", figures["growth"], "MiB", figures["before"], limit=MAX_GROWTH_MIB)
        if name == FLOOD:
            yield within("end after the deadline: a flood", figures["late"], "ms", idle, limit=MAX_LATE_MS)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(asyncio.run(attack(sys.argv[1]))))
    else:
        print_lines(measure())
