"""The commit lag at 2,000 events per second while deleted words are merged out of an index of a million lines."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.clock import SystemClock, TimeIds
from engine.events import Entry, EntryKind
from engine.store import index_cleanup, runs
from engine.store.cleanup import Cleanup
from engine.store.database import Database
from engine.store.runs import RunRow
from engine.store.writer import Writer
from tests.bench.lines import Line, at_most, percentile, print_lines, within
from tests.bench.search import SampleText, fill, index_all

RESULTS_PER_SECOND = 2_000
TICK_SECONDS = 0.005
ALONE_SECONDS = 10
MAX_SECONDS = 60
DELETED = "conv_7"


async def _lags(
    writer: Writer, run_id: str, lags: list[float], max_seconds: float, is_over: Callable[[], bool]
) -> None:
    """Record entries at a steady rate until it is over. `lags` gets the milliseconds until each was announced."""
    began, position = time.perf_counter(), 0
    while not is_over() and time.perf_counter() - began < max_seconds:
        due = int((time.perf_counter() - began) * RESULTS_PER_SECOND)
        for _ in range(due - position):
            position += 1
            now = time.time_ns() // 1_000
            writer.append(Entry(run_id, position, now, "runner", EntryKind.MESSAGE_DELTA.value, "x" * 300))
        await asyncio.sleep(TICK_SECONDS)
    await writer.flush()
    del lags[: len(lags) // 20]  # the first ones warm up the caches


async def _wait_until_merged(database: Database) -> float:
    """Return the time at which the words are out of the index."""
    while True:
        await asyncio.sleep(0.1)
        if all(cleanup.is_merged for cleanup in await database.read(index_cleanup.pending)):
            return time.perf_counter()


async def _measure(path: Path) -> Iterator[Line]:
    lags: list[float] = []

    def on_committed(_: int, entries: list[Entry]) -> None:
        now = time.time_ns() // 1_000
        lags.extend((now - entry.at) / 1_000 for entry in entries)

    database = Database.open(path, write=True)
    writer = Writer(database.writing_connection, path, on_committed=on_committed, on_failure=print)
    # The file is not rewritten while a run is in progress.
    run = RunRow(run_id="beside", runner_id="plugin:a/b/c", created_at=1, updated_at=1)
    await writer.submit(lambda tx: runs.create(tx.connection, run))
    await _lags(writer, "alone", lags, ALONE_SECONDS, lambda: False)
    alone = percentile(lags, 99)
    lags.clear()

    clock = SystemClock()
    cleanup = Cleanup(writer.submit, database, clock, TimeIds(clock))
    delete = "DELETE FROM transcript WHERE conversation_id = ?"
    await writer.submit(lambda tx: tx.connection.exec_driver_sql(delete, (DELETED,)))
    await writer.submit(lambda tx: index_cleanup.request(tx.connection, has_words=True))
    began = time.perf_counter()
    cleanup.start()
    cleanup.wake()
    merging = asyncio.ensure_future(_wait_until_merged(database))
    await _lags(writer, "beside", lags, MAX_SECONDS, merging.done)
    beside = percentile(lags, 99)
    seconds = time.perf_counter() - began
    if merging.done():
        seconds = merging.result() - began
    else:
        seconds /= (await database.read(index_cleanup.pending))[0].share_done  # all of it would take this long
    merging.cancel()
    await cleanup.close()
    await writer.close()
    database.close()
    return iter(
        [
            at_most("commit lag p99 beside the merge, against alone", beside, "ms", alone, limit=2.0),
            within("the merge of a million lines, in the background", seconds, "s", alone),
        ]
    )


def measure(lines: int) -> Iterator[Line]:
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path = Path(folder, "cleanup.db")
        database = Database.open(path, write=True)
        with database.writing_connection() as conn:
            fill(conn, SampleText(), lines)
            index_all(conn)
        database.close()
        yield from asyncio.run(_measure(path))


if __name__ == "__main__":
    print_lines(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
