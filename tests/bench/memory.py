"""The growth of the host's memory during a run with a million events."""

import asyncio
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

from engine.api import Entry
from tests.bench.fresh_engine import complete_run, fresh_engine
from tests.bench.lines import Line, print_lines, within

EVENTS = 1_000_000
ENTRIES_PER_SAMPLE = 10_000


async def _growth() -> tuple[float, float]:
    """Return the largest growth during the run, and the memory before it, in MB."""
    highest, received = 0.0, 0

    def on_entries(entries: list[Entry]) -> None:
        nonlocal highest, received
        before, received = received, received + len(entries)
        if before // ENTRIES_PER_SAMPLE != received // ENTRIES_PER_SAMPLE:
            highest = max(highest, _resident_megabytes())

    async with fresh_engine("stream") as engine:
        await complete_run(engine, "1000")
        start = _resident_megabytes()
        await complete_run(engine, str(EVENTS), on_entries)
        highest = max(highest, _resident_megabytes())
    return highest - start, start


def _resident_megabytes() -> float:
    """Return the memory of this process; without /proc, its maximum so far."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1_024) / 1e6


def measure() -> Iterator[Line]:
    """Measure once: a round takes long, and other load on the machine does not change the memory."""
    growth, start = asyncio.run(_growth())
    yield within("host memory over 1,000,000 events in one run", growth, "MB", start, limit=60)


if __name__ == "__main__":
    print_lines(measure())
