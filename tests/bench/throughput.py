"""Events a second through the whole engine, every one on disk before it is told."""

import asyncio
from collections.abc import Callable, Iterator

from engine.api import Entry
from tests.bench.lines import Line, at_least, print_lines
from tests.bench.raw import rows_per_second
from tests.bench.stage import in_this_process, stage, watch

EVENTS = 40_000
ROUNDS = 5


Round = tuple[float, float, float]
"""Raw rows, events in this process and events through a child, each a second."""


async def _round() -> Round:
    """All three right after each other: they share the machine's mood."""
    kept: list[Entry] = []
    async with stage("stream", in_this_process()) as engine:
        await watch(engine, "1000")
        inside = await watch(engine, str(EVENTS), kept.extend)
    raw = rows_per_second(kept)
    kept.clear()
    async with stage("stream") as engine:
        await watch(engine, "1000")
        behind = await watch(engine, str(EVENTS))
    return raw, inside.entries / inside.seconds, behind.entries / behind.seconds


def measure() -> Iterator[Line]:
    """The middle round by each ratio."""
    rounds = [asyncio.run(_round()) for _ in range(ROUNDS)]
    raw, inside, _ = _middle(rounds, lambda one: one[1] / one[0])
    yield at_least("events through the engine", inside, "1/s", raw, aim=0.30, limit=0.15)
    _, inside, behind = _middle(rounds, lambda one: one[2] / one[1])
    yield at_least("events through a child", behind, "1/s", inside, aim=0.80, limit=0.60)


def _middle(rounds: list[Round], ratio: Callable[[Round], float]) -> Round:
    return sorted(rounds, key=ratio)[len(rounds) // 2]


if __name__ == "__main__":
    print_lines(measure())
