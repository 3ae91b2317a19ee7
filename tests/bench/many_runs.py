"""Two hundred runs at once: how long the loop stalls, and how long they take."""

import asyncio
import time
from collections.abc import Iterator

from engine.api import message
from tests.bench.fresh_engine import fresh_engine
from tests.bench.lines import Line, print_lines, within

RUNS = 200
TICK_SECONDS = 0.005


async def _time_runs(count: int) -> tuple[float, float]:
    """Return the longest time in which the loop did nothing else, and the time of all runs, in milliseconds."""
    worst = 0.0

    async def watch() -> None:
        nonlocal worst
        while True:
            began = time.perf_counter()
            await asyncio.sleep(TICK_SECONDS)
            worst = max(worst, time.perf_counter() - began - TICK_SECONDS)

    async with fresh_engine("stream") as engine:
        watching = asyncio.ensure_future(watch())
        began = time.perf_counter()
        events = (message(f"event-{number}", "1", conversation_id=f"session-{number}") for number in range(count))
        tickets = await asyncio.gather(*map(engine.runs.submit, events))
        rows = [await engine.runs.wait_for_end(await ticket.started) for ticket in tickets]
        took = time.perf_counter() - began
        watching.cancel()
        if failed := [row.status_reason for row in rows if row.status_reason != "stop"]:
            raise AssertionError(f"{len(failed)} runs failed: {failed[0]}")
    return worst * 1_000, took * 1_000


def measure() -> Iterator[Line]:
    one_stall, one = asyncio.run(_time_runs(1))
    stall, took = asyncio.run(_time_runs(RUNS))
    yield within(f"longest stall of the loop, {RUNS} runs at once", stall, "ms", one_stall, aim=100, limit=250)
    yield within(f"{RUNS} runs at once", took, "ms", one)


if __name__ == "__main__":
    print_lines(measure())
