"""The first result of a child that is already there."""

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from engine.api import Engine, message
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import Launch
from tests.bench.lines import Line, print_lines, within
from tests.bench.stage import RUNNERS, stage, watch

ROUNDS = 40


class _FirstResult:
    """A sink that only wants to know when the first result came."""

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

    def silent(self, seconds: float) -> None:
        raise AssertionError(f"silent for {seconds} s")

    def answers_again(self, seconds: float) -> None:
        raise AssertionError(f"silent for {seconds} s")

    def gone(self) -> None:
        raise AssertionError("the child is gone")

    async def call(self, action: str, data: dict[str, Any]) -> Any:
        raise AssertionError(action)


async def _through_the_runtime() -> list[float]:
    """Milliseconds from `begin` to the first result, of a pool alone."""
    path = RUNNERS / "stream.py"
    launch = Launch(path, None, path.parent, path.parent)
    context = await _context()
    pool = ChildPool()
    await pool.warm(launch)
    took: list[float] = []
    for number in range(ROUNDS):
        sink = _FirstResult()
        began = time.perf_counter()
        execution = await pool.begin(launch, f"run_{number}", {**context, "run_id": f"run_{number}"}, sink)
        await execution.ended()
        took.append((sink.at - began) * 1_000)
        await pool.warm(launch)  # it is looked over before it is used again, and that is not what we measure
    await pool.close()
    return took


async def _context() -> dict[str, Any]:
    """A context as a real run gets it."""
    async with stage("stream") as engine:
        run = await watch(engine, "1")
        started = (await engine.runs.journal(run.run_id, limit=1))[0]
    return orjson.loads(started.data)["context"]


async def _through_the_engine() -> list[float]:
    """Milliseconds from `submit` to the first result told: three commits lie on the way."""
    async with stage("stream") as engine:
        await watch(engine, "1")
        return [await _first_told(engine) for _ in range(ROUNDS)]


async def _first_told(engine: Engine) -> float:
    async with engine.subscribe(await engine.last_row()) as news:
        batches = aiter(news)
        began = time.perf_counter()
        ticket = await engine.runs.submit(message(engine.ids.new("evt"), "1", conversation_id="bench"))
        async for batch in batches:
            if any(told.entry.type == "message.delta" for told in batch):
                break
        took = time.perf_counter() - began
    await engine.runs.wait_for_end(await ticket.started)
    await asyncio.sleep(0.02)  # as above: the child is looked over
    return took * 1_000


def through_pipes(rounds: int = ROUNDS) -> list[float]:
    """Milliseconds of a line to another process and back."""
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
    """The middle of many."""
    pipes = _middle(through_pipes())
    runtime = _middle(asyncio.run(_through_the_runtime()))
    yield within("a warm child's first result", runtime, "ms", pipes, limit=2)
    yield within("an event's first result told, child warm", _middle(asyncio.run(_through_the_engine())), "ms", pipes)


def _middle(numbers: list[float]) -> float:
    return sorted(numbers)[len(numbers) // 2]


if __name__ == "__main__":
    print_lines(measure())
