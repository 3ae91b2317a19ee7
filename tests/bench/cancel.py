"""How long a cancelled run takes to its recorded end, wherever its runner is, and what is left of its processes."""

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
from engine.run.live import StopReason
from engine.run.orchestrator import KILL_GRACE_SECONDS
from tests.bench.lines import Line, print_lines, within
from tests.bench.stage import RUNNERS, watch

ROUNDS = 20
SETTLING = 0.1
"""Seconds between 'here' and being there, and between a run's end and its processes' burial."""
LIMITS = {
    "cooperates": 100,
    "sleeps in a call": 300,
    "blocks its loop": KILL_GRACE_SECONDS[StopReason.CANCELLED] * 1_000 + 500,
}
"""Milliseconds."""
PROJECT = {
    "runners": [str(RUNNERS / "stops.py")],
    "agents": [{"id": "stops", "runner": "stops", "resources": {"allowed_tool_names": ["slow"]}}],
    "tools": [{"name": "slow", "kind": "scripted", "answers": [{"result": "at last", "delay": 60}]}],
}


@asynccontextmanager
async def _stage() -> AsyncIterator[Engine]:
    """An engine with a tool that takes a minute."""
    with TemporaryDirectory(prefix="trackside-bench-") as name:
        folder = Path(name)
        _write_project(folder)
        async with await Engine.open(folder, db=folder / "bench.db") as engine:
            yield engine


def _write_project(folder: Path) -> None:
    (folder / "trackside.yaml").write_text(json.dumps(PROJECT))


async def _ends() -> float:
    """Milliseconds of a run that only ends, in a child that is there."""
    async with _stage() as engine:
        await watch(engine, "ends")
        return median([(await watch(engine, "ends")).seconds * 1_000 for _ in range(ROUNDS)])


@dataclass(frozen=True, slots=True)
class Cancelled:
    """What came of cancelling many runs of one kind."""

    took: float
    """Milliseconds, in the middle."""
    started: int
    """Processes that the runs had, all of them seen alive before the cancel."""
    left: int
    """Those that live on, while the host does."""


async def _cancel(where: str) -> Cancelled:
    took: list[float] = []
    started: set[int] = set()
    async with _stage() as engine:
        for _ in range(ROUNDS):
            ticket = await engine.runs.submit(message(engine.ids.new("evt"), where, conversation_id="bench"))
            run_id = await ticket.started
            pids = await _here(engine, run_id)
            await asyncio.sleep(SETTLING)
            if _living(pids) != pids:
                raise AssertionError(f"{where}: it should have two processes")
            started |= pids
            began = time.perf_counter()
            await engine.runs.cancel(run_id)
            run = await engine.runs.wait_for_end(run_id)
            took.append((time.perf_counter() - began) * 1_000)
            if run.status != Status.CANCELLED:
                raise AssertionError(f"{where}: it ended as {run.status} ({run.status_reason})")
        await asyncio.sleep(SETTLING)
        left = _living(started)
    return Cancelled(median(took), len(started), len(left))


async def _here(engine: Engine, run_id: str) -> set[int]:
    """The processes of a run, as soon as it has said which they are."""
    async with engine.subscribe(run_id=run_id) as news:
        async for batch in news:
            for told in batch:
                if told.entry.type == "message.delta":
                    return set(json.loads(json.loads(told.entry.data)["chunk"]["content"]))
    raise AssertionError("the engine was closed")


def _living(pids: set[int]) -> set[int]:
    """Which of them, or of their groups, the machine's own list has; dead but not yet buried counts as gone."""
    listing = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, check=True, text=True).stdout
    found = (line.split() for line in listing.splitlines())
    return {
        int(pid) for pid, group, state in found if (int(pid) in pids or int(group) in pids) and state[0] not in "ZX"
    }


def measure() -> Iterator[Line]:
    """The middle of twenty for each kind, beside a run that needs no cancel."""
    plain = asyncio.run(_ends())
    for where, limit in LIMITS.items():
        cancelled = asyncio.run(_cancel(where))
        yield within(f"cancel of a runner that {where}", cancelled.took, "ms", plain, limit=limit)
        yield within(f"left of a runner that {where}", cancelled.left, "processes", cancelled.started, limit=0)


if __name__ == "__main__":
    print_lines(measure())
