"""What the host's memory grows by while one run says a million things."""

import asyncio
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

from engine.api import Entry
from tests.bench.lines import Line, print_lines, within
from tests.bench.stage import stage, watch

EVENTS = 1_000_000
EVERY = 10_000
"""Entries between two looks at the memory."""


async def _growth() -> tuple[float, float]:
    """The most that it grew by on the way, and where it started, in MB."""
    highest, heard_of = 0.0, 0

    def heard(entries: list[Entry]) -> None:
        nonlocal highest, heard_of
        before, heard_of = heard_of, heard_of + len(entries)
        if before // EVERY != heard_of // EVERY:
            highest = max(highest, _resident())

    async with stage("stream") as engine:
        await watch(engine, "1000")
        start = _resident()
        await watch(engine, str(EVENTS), heard)
        highest = max(highest, _resident())
    return highest - start, start


def _resident() -> float:
    """MB of this process in memory; where there is no /proc, the most there ever were."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1_024) / 1e6


def measure() -> Iterator[Line]:
    """One round: it takes its time, and memory does not mind a busy machine."""
    growth, start = asyncio.run(_growth())
    yield within("host memory over 1,000,000 events in one run", growth, "MB", start, limit=60)


if __name__ == "__main__":
    print_lines(measure())
