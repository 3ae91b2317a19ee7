"""From a message of a second process to the pull that returns it, and from its stop to the recorded request."""

import asyncio
import json
import random
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.api import Engine, RunOptions, message
from engine.events import EntryKind
from tests.bench.fresh_engine import RUNNERS, start_run, wait_for_deltas
from tests.bench.lines import Line, percentile, print_lines, within

RESULTS_PER_SECOND = 500
"""Of a run in another conversation of the same host."""
MESSAGES = 200
STOPS = 100
CALLS = 400
"""Calls of `run_get`, the baseline."""
SECONDS_BETWEEN = 0.01, 0.11
"""Random in this range, so that requests fall on every moment between two looks of the host."""
LIMIT_MS = 150


async def _host(database: Path) -> None:
    """The first process: run what is asked for on standard input, and print the ids of the runs."""
    async with await Engine.open(RUNNERS, db=database) as engine:
        streaming = await start_run(engine, "steady", f"{RESULTS_PER_SECOND} 3600")
        await wait_for_deltas(engine, streaming, RESULTS_PER_SECOND // 2)
        while line := await asyncio.to_thread(sys.stdin.readline):
            runner, text, session = json.loads(line)
            event = message(engine.ids.new("evt"), text, conversation_id=session)
            ticket = await engine.runs.submit(event, RunOptions(runner=runner))
            run_id = await ticket.started
            await wait_for_deltas(engine, run_id, 1)
            print(run_id, flush=True)


class _OtherHost:
    """The process that hosts the runs."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def start(self, runner: str, text: str, session: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([runner, text, session]).encode() + b"\n")
        return (await self._process.stdout.readline()).decode().strip()


@asynccontextmanager
async def _two_processes() -> AsyncIterator[tuple[_OtherHost, Engine]]:
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        database = Path(folder, "bench.db")
        async with await Engine.open(RUNNERS, db=database) as engine:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tests.bench.steer_elsewhere",
                str(database),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            try:
                yield _OtherHost(process), engine
            finally:
                assert process.stdin is not None
                process.stdin.close()
                await process.wait()


async def _time_messages() -> tuple[list[float], list[float]]:
    """Return the milliseconds of each message, and of each `run_get` that the same child called before."""
    dice, sent_at = random.Random(4), dict[str, int]()
    async with _two_processes() as (host, engine):
        run_id = await host.start("pulls", f"{CALLS} {MESSAGES}", "pulls")
        for number in range(MESSAGES):
            await asyncio.sleep(dice.uniform(*SECONDS_BETWEEN))
            event = message(engine.ids.new("evt"), str(number), conversation_id="pulls")
            sent_at[str(number)] = time.time_ns()
            ticket = await engine.runs.submit(event, RunOptions(runner="pulls"), ask_elsewhere=True)
            if ticket.claimed_by != run_id:
                raise AssertionError(f"a message was not claimed: {ticket.not_claimed_reason}")
        while (await engine.runs.get(run_id)).finished_at is None:  # noqa: ASYNC110  (another process ends it)
            await asyncio.sleep(0.05)
        entries = [entry async for entry in engine.runs.entries(run_id)]
        (completed,) = (entry for entry in entries if entry.type == EntryKind.MESSAGE_COMPLETED)
        report = json.loads(json.loads(completed.data)["message"]["content"])
    steered = [(report["pulled_at"][text] - at) / 1e6 for text, at in sent_at.items()]
    return steered, [seconds * 1_000 for seconds in report["call_seconds"]]


async def _time_stops() -> list[float]:
    """Return the milliseconds from each stop to its entry in the journal, which the host writes when it notices."""
    dice, took = random.Random(4), list[float]()
    async with _two_processes() as (host, engine):
        for number in range(STOPS):
            run_id = await host.start("stops", "cooperates", f"s{number}")
            await asyncio.sleep(dice.uniform(*SECONDS_BETWEEN))
            asked_at = time.time_ns() // 1_000
            await engine.runs.stop(run_id)
            entries = [entry async for entry in engine.runs.entries(run_id)]
            (noticed,) = (entry for entry in entries if entry.type == EntryKind.CANCEL_REQUESTED)
            took.append((noticed.at - asked_at) / 1_000)
    return took


def measure() -> Iterator[Line]:
    """Measure once: the time is mostly that between two looks of the host, and other load can only add to it."""
    steered, called = asyncio.run(_time_messages())
    stopped = asyncio.run(_time_stops())
    for percent, limit in ((50, None), (99, LIMIT_MS)):
        baseline = percentile(called, percent)
        name = f"message of a second process from sent to pulled p{percent}"
        yield within(name, percentile(steered, percent), "ms", baseline, limit=limit)
        yield within(f"stop by a second process p{percent}", percentile(stopped, percent), "ms", baseline, limit=limit)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(_host(Path(sys.argv[1])))
    else:
        print_lines(measure())
