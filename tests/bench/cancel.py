"""From a stop request to the run's recorded end, for runners in different states, and the processes left behind."""

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from engine.api import Engine, Status, message
from engine.events import EntryKind
from engine.run.live import StopReason
from engine.run.orchestrator import KILL_GRACE_SECONDS
from tests.bench.fresh_engine import RUNNERS, complete_run
from tests.bench.lines import Line, print_lines, within

ROUNDS = 20
SETTLE_SECONDS = 0.1
"""From the runner's first result until it waits, and from a run's end until its processes are reaped."""
LIMITS_MS = {
    "cooperates": 100,
    "sleeps in a call": 300,
    "blocks its loop": KILL_GRACE_SECONDS[StopReason.CANCELLED] * 1_000 + 500,
}
"""By what the runner does when it is stopped."""
PROJECT = {
    "runners": [str(RUNNERS / "stops.py")],
    "agents": [{"id": "stops", "runner": "stops", "resources": {"allowed_tool_names": ["slow"]}}],
    "tools": [{"name": "slow", "kind": "scripted", "answers": [{"result": "done", "delay": 60}]}],
}


@asynccontextmanager
async def _open_engine() -> AsyncIterator[Engine]:
    """Open an engine with a tool that takes a minute."""
    with TemporaryDirectory(prefix="trackside-bench-") as name:
        folder = Path(name)
        (folder / "trackside.yaml").write_text(json.dumps(PROJECT))
        async with await Engine.open(folder, db=folder / "bench.db") as engine:
            yield engine


async def _time_plain_end() -> float:
    """Return the median milliseconds of a run that ends at once, in a warm child."""
    async with _open_engine() as engine:
        await complete_run(engine, "ends")
        return median([(await complete_run(engine, "ends")).seconds * 1_000 for _ in range(ROUNDS)])


@dataclass(frozen=True, slots=True)
class StoppedRuns:
    """The result of stopping many runs with the same behaviour."""

    median_ms: float
    started: int
    """Processes of the runs; all of them were alive when their run was stopped."""
    left: int
    """Processes that are still alive while the host is."""


async def _stop_runs(behaviour: str) -> StoppedRuns:
    took: list[float] = []
    started: set[int] = set()
    async with _open_engine() as engine:
        for _ in range(ROUNDS):
            ticket = await engine.runs.submit(message(engine.ids.new("evt"), behaviour, conversation_id="bench"))
            run_id = await ticket.started
            pids = await _pids(engine, run_id)
            await asyncio.sleep(SETTLE_SECONDS)
            if _alive(pids) != pids:
                raise AssertionError(f"{behaviour}: two processes should be alive")
            started |= pids
            began = time.perf_counter()
            await engine.runs.cancel(run_id)
            run = await engine.runs.wait_for_end(run_id)
            took.append((time.perf_counter() - began) * 1_000)
            if run.status != Status.CANCELLED:
                raise AssertionError(f"{behaviour}: the run ended as {run.status} ({run.status_reason})")
        await asyncio.sleep(SETTLE_SECONDS)
        left = _alive(started)
    return StoppedRuns(median(took), len(started), len(left))


async def _pids(engine: Engine, run_id: str) -> set[int]:
    """Wait for the first result of the run, which names its processes."""
    async with engine.subscribe(run_id=run_id) as subscription:
        async for batch in subscription:
            for committed in batch:
                if committed.entry.type == EntryKind.MESSAGE_DELTA:
                    return set(json.loads(json.loads(committed.entry.data)["chunk"]["content"]))
    raise AssertionError("the engine was closed")


def _alive(pids: set[int]) -> set[int]:
    """Return the live processes among these and in their process groups. Zombies count as gone."""
    listing = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, check=True, text=True).stdout
    rows = (line.split() for line in listing.splitlines())
    return {int(pid) for pid, group, state in rows if (int(pid) in pids or int(group) in pids) and state[0] not in "ZX"}


def measure() -> Iterator[Line]:
    """Take medians, against a run that ends without a stop."""
    plain = asyncio.run(_time_plain_end())
    for behaviour, limit in LIMITS_MS.items():
        stopped = asyncio.run(_stop_runs(behaviour))
        yield within(f"stop of a runner that {behaviour}", stopped.median_ms, "ms", plain, limit=limit)
        yield within(f"left by a runner that {behaviour}", stopped.left, "processes", stopped.started, limit=0)


if __name__ == "__main__":
    print_lines(measure())
