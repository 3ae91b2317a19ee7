"""From the time of an entry until it is announced, at a steady 2,000 events per second."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.api import Entry
from engine.events import EntryKind
from engine.store.database import Database
from engine.store.entries import INSERT_ONE
from tests.bench.fresh_engine import complete_run, fresh_engine, in_process_runtime
from tests.bench.lines import Line, percentile, print_lines, within

RESULTS_PER_SECOND = 2_000
RUN_SECONDS = 3
ROUNDS = 5


async def _lags() -> list[float]:
    """Return the milliseconds from each entry's time to its announcement."""
    lags: list[float] = []

    def on_entries(entries: list[Entry]) -> None:
        now = time.time_ns() // 1_000
        lags.extend((now - entry.at) / 1_000 for entry in entries if entry.type == EntryKind.MESSAGE_DELTA)

    async with fresh_engine("steady", in_process_runtime()) as engine:
        await complete_run(engine, "1000 0.2")
        await complete_run(engine, f"{RESULTS_PER_SECOND} {RUN_SECONDS}", on_entries)
    return lags


def _time_commits() -> list[float]:
    """Return the milliseconds of commits with one row, by SQLite alone."""
    took: list[float] = []
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path = Path(folder, "raw.db")
        Database.open(path, write=True).close()
        driver = sqlite3.connect(path, isolation_level=None)
        driver.execute("PRAGMA synchronous = NORMAL")
        for position in range(1, 1_001):
            began = time.perf_counter()
            driver.execute(INSERT_ONE, Entry("run", position, 0, "runner", EntryKind.MESSAGE_DELTA.value, "x" * 300))
            took.append((time.perf_counter() - began) * 1_000)
        driver.close()
    return took


def measure() -> Iterator[Line]:
    """Take the best round: other load on the machine can only add time."""
    rounds = [asyncio.run(_lags()) for _ in range(ROUNDS)]
    p50, p99 = (min(percentile(lags, percent) for lags in rounds) for percent in (50, 99))
    commits = _time_commits()
    yield within("commit lag p50 at 2,000 events/s", p50, "ms", percentile(commits, 50))
    yield within("commit lag p99 at 2,000 events/s", p99, "ms", percentile(commits, 99), limit=15)


if __name__ == "__main__":
    print_lines(measure())
