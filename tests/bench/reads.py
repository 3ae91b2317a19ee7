"""Short reads on the kept connection against the same reads in a thread with a pooled connection."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from engine.store import entries
from engine.store.async_reader import Query, run_query
from engine.store.database import Database
from tests.bench.lines import Line, at_most, print_lines
from tests.bench.pages import FILL

ENTRIES = 20_000
ROUNDS = 3_000


def measure() -> Iterator[Line]:
    """Read both ways in turn, so that other load on the machine falls on both."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        database = Database.open(Path(folder, "bench.db"), write=True)
        with database.writing_connection() as connection:
            connection.exec_driver_sql(FILL, (ENTRIES, '{"chunk":{"content":"' + "x" * 300 + '"}}'))
        for rows in (1, 50):
            kept, pooled = asyncio.run(_time_both(database, entries.page_query("run", after=9_000, limit=rows)))
            name = f"read of {rows} row{'s' if rows > 1 else ''}"
            yield at_most(f"{name}, p50", median(kept), "ms", median(pooled), aim=0.7)
            yield at_most(f"{name}, p99", quantiles(kept, n=100)[-1], "ms", quantiles(pooled, n=100)[-1])
        database.close()


async def _time_both(database: Database, query: Query[Any]) -> tuple[list[float], list[float]]:
    kept: list[float] = []
    pooled: list[float] = []
    for number in range(ROUNDS):
        one = await _time(lambda: database.fetch(query))
        other = await _time(lambda: database.read(lambda conn: run_query(conn, query)))
        if number >= ROUNDS // 10:  # the first ones open connections
            kept.append(one)
            pooled.append(other)
    return kept, pooled


async def _time(read: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await read()
    return (time.perf_counter() - began) * 1_000


if __name__ == "__main__":
    print_lines(measure())
