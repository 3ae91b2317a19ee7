"""Events per second through the whole engine, each on disk before it is announced."""

import asyncio
from collections.abc import Callable, Iterator

from engine.api import Entry
from tests.bench.fresh_engine import complete_run, fresh_engine, in_process_runtime
from tests.bench.lines import Line, at_least, print_lines
from tests.bench.raw import rows_per_second

EVENTS = 40_000
ROUNDS = 5

Round = tuple[float, float, float]
"""Rows of SQLite alone, events of a runner in this process, and events of a child, each per second."""


async def _round() -> Round:
    """Measure all three in succession, so that other load on the machine falls on each."""
    entries: list[Entry] = []
    async with fresh_engine("stream", in_process_runtime()) as engine:
        await complete_run(engine, "1000")
        in_process = await complete_run(engine, str(EVENTS), entries.extend)
    raw = rows_per_second(entries)
    entries.clear()
    async with fresh_engine("stream") as engine:
        await complete_run(engine, "1000")
        child = await complete_run(engine, str(EVENTS))
    return raw, in_process.entries / in_process.seconds, child.entries / child.seconds


def measure() -> Iterator[Line]:
    """Take the round with the median ratio."""
    rounds = [asyncio.run(_round()) for _ in range(ROUNDS)]
    raw, in_process, _ = _median_round(rounds, lambda one: one[1] / one[0])
    yield at_least("events through the engine", in_process, "1/s", raw, aim=0.30, limit=0.15)
    _, in_process, child = _median_round(rounds, lambda one: one[2] / one[1])
    yield at_least("events through a child", child, "1/s", in_process, aim=0.80, limit=0.60)


def _median_round(rounds: list[Round], ratio: Callable[[Round], float]) -> Round:
    return sorted(rounds, key=ratio)[len(rounds) // 2]


if __name__ == "__main__":
    print_lines(measure())
