"""How long after it was recorded an entry is told, at a steady 2,000 events a second."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from engine.api import Entry
from engine.store.database import Database
from engine.store.entries import INSERT_ONE
from tests.bench.lines import Line, print_lines, within
from tests.bench.stage import in_this_process, stage, watch

RATE = 2_000
SECONDS = 3
ROUNDS = 5


async def _lags() -> list[float]:
    """Milliseconds from an entry's own stamp to its being told."""
    lags: list[float] = []

    def heard(entries: list[Entry]) -> None:
        now = time.time_ns() // 1_000
        lags.extend((now - entry.at) / 1_000 for entry in entries if entry.type == "message.delta")

    async with stage("steady", in_this_process()) as engine:
        await watch(engine, "1000 0.2")
        await watch(engine, f"{RATE} {SECONDS}", heard)
    return lags


def _commits() -> list[float]:
    """Milliseconds of a commit with one row: what SQLite alone needs to be sure."""
    took: list[float] = []
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path = Path(folder, "raw.db")
        Database.open(path, write=True).close()
        driver = sqlite3.connect(path, isolation_level=None)
        driver.execute("PRAGMA synchronous = NORMAL")
        for position in range(1, 1_001):
            began = time.perf_counter()
            driver.execute(INSERT_ONE, Entry("run", position, 0, "runner", "message.delta", "x" * 300))
            took.append((time.perf_counter() - began) * 1_000)
        driver.close()
    return took


def measure() -> Iterator[Line]:
    """The best round: what others do to the machine only ever adds."""
    rounds = [asyncio.run(_lags()) for _ in range(ROUNDS)]
    p50, p99 = (min(_at(lags, percent) for lags in rounds) for percent in (50, 99))
    commits = _commits()
    yield within("commit lag p50 at 2,000 events/s", p50, "ms", _at(commits, 50))
    yield within("commit lag p99 at 2,000 events/s", p99, "ms", _at(commits, 99), limit=15)


def _at(numbers: list[float], percent: int) -> float:
    return quantiles(numbers, n=100)[percent - 1]


if __name__ == "__main__":
    print_lines(measure())
