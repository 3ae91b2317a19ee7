"""The time to the first result of a warm child."""

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import orjson

from engine.api import Engine, message
from engine.events import EntryKind
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import Launch, ProcessFacts, RunnerCall
from tests.bench.fresh_engine import RUNNERS, complete_run, fresh_engine
from tests.bench.lines import Line, print_lines, within

ROUNDS = 40


class _FirstResultSink:
    """Notes when the first result came."""

    full = False

    def __init__(self) -> None:
        self.at = 0.0

    def when_room(self, call: Callable[[], None]) -> None:
        call()

    def result(self, result: object, size: int) -> None:
        self.at = self.at or time.perf_counter()

    def unreadable(self, reason: str, size: int) -> None:
        raise AssertionError(reason)

    def output(self, stream: str, text: str) -> None:
        raise AssertionError(text)

    def waiting(self, before: Callable[[], int] | None, reason: str = "") -> None:
        raise AssertionError(reason)

    def prepare(self, result: object) -> object:
        return result

    def output_lost(self, stream: str, size: int) -> None:
        raise AssertionError(f"{size} bytes of {stream}")

    def silent(self, seconds: float) -> None:
        raise AssertionError(f"silent for {seconds} s")

    def answers_again(self, seconds: float) -> None:
        raise AssertionError(f"silent for {seconds} s")

    def opened(self, what: str, target: str) -> None:
        raise AssertionError(target)

    def process_chosen(self, process: ProcessFacts, reason: str, *, is_replaced: bool = False) -> None:
        raise AssertionError(reason)

    def gone(self) -> None:
        raise AssertionError("the child is gone")

    def request(self, action: str, data: dict[str, Any]) -> RunnerCall:
        raise AssertionError(action)


async def _time_pool() -> list[float]:
    """Return the milliseconds from `begin` of a pool alone to the first result."""
    path = RUNNERS / "stream.py"
    launch = Launch(path, None, path.parent, path.parent)
    context = await _context()
    pool = ChildPool()
    await pool.warm(launch)
    took: list[float] = []
    for number in range(ROUNDS):
        sink = _FirstResultSink()
        began = time.perf_counter()
        reserved = await pool.reserve(launch)
        execution = await reserved.begin(f"run_{number}", {**context, "run_id": f"run_{number}"}, sink)
        await execution.ended()
        took.append((sink.at - began) * 1_000)
        await pool.warm(launch)  # waits for the check of the child before its next use, which is not measured
    await pool.close()
    return took


async def _context() -> dict[str, Any]:
    """Return the context of a real run."""
    async with fresh_engine("stream") as engine:
        run = await complete_run(engine, "1")
        started = (await engine.runs.journal(run.run_id, limit=1))[0]
    return orjson.loads(started.data)["context"]


async def _time_engine() -> list[float]:
    """Return the milliseconds from `submit` until the first result is announced, which takes three commits."""
    async with fresh_engine("stream") as engine:
        await complete_run(engine, "1")
        return [await _time_submit(engine) for _ in range(ROUNDS)]


async def _time_submit(engine: Engine) -> float:
    async with engine.subscribe(await engine.last_row()) as subscription:
        batches = aiter(subscription)
        began = time.perf_counter()
        ticket = await engine.runs.submit(message(engine.ids.new("evt"), "1", conversation_id="bench"))
        async for batch in batches:
            if any(committed.entry.type == EntryKind.MESSAGE_DELTA for committed in batch):
                break
        took = time.perf_counter() - began
    await engine.runs.wait_for_end(await ticket.started)
    await asyncio.sleep(0.02)  # time for the check of the child before its next use
    return took * 1_000


def time_pipes(rounds: int = ROUNDS) -> list[float]:
    """The baseline: return the milliseconds of sending a line to another process and back."""
    took: list[float] = []
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as cat:
        assert cat.stdin is not None
        assert cat.stdout is not None
        for _ in range(rounds):
            began = time.perf_counter()
            os.write(cat.stdin.fileno(), b"x" * 1_000 + b"\n")
            os.read(cat.stdout.fileno(), 4_096)
            took.append((time.perf_counter() - began) * 1_000)
        cat.stdin.close()
    return took


def measure() -> Iterator[Line]:
    pipes = median(time_pipes())
    yield within("a warm child's first result", median(asyncio.run(_time_pool())), "ms", pipes, limit=2)
    yield within("an event's first result announced, child warm", median(asyncio.run(_time_engine())), "ms", pipes)


if __name__ == "__main__":
    print_lines(measure())
