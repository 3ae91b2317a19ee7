"""The stream pane: the cost of an entry against RichLog, its memory, and opening a run of any length."""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.text import Text
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import RichLog

from console.model.stream.index import CHUNK_ENTRIES
from console.model.stream.reader import perform_read
from console.model.stream.timeline import Timeline
from console.ui.stream.pane import StreamPane
from engine.api import Engine, Entry
from engine.store.database import Database
from tests.bench.lines import Line, at_most, print_lines, within
from tests.support.console.single_pane_app import SinglePaneApp

SIZE = (160, 45)
TICKS, LOG_TICKS = 60, 12
ENTRIES_PER_TICK = 333
"""At 10,000 entries per second and 30 ticks per second."""
LONG_RUN, SHORT_RUN = 1_000_000, 1_000
"""Entries of a run."""
STORED_LONG_RUN = 490 * CHUNK_ENTRIES
"""About a million entries that end at the end of a chunk: no other run's end takes longer to read."""
BATCH_ENTRIES = 5_000
COST_ROUNDS, OPEN_ROUNDS = 3, 7

KINDS = (
    ("message.delta", '{"chunk":{"role":"assistant","content":"a few words "}}'),
    ("message.delta", '{"chunk":{"role":"assistant","content":"and some more"}}'),
    ("tool.call.started", '{"tool_call_id":"t1","tool_name":"weather","parameters":{"city":"Kyoto"}}'),
    ("tool.call.completed", '{"tool_call_id":"t1","tool_name":"weather","result":{"sky":"clear"},"error":null}'),
    ("state.updated", '{"scope":"conversation","key":"trip.city","value":"Kyoto"}'),
    ("call.requested", '{"call_id":"c1","action":"state_get","arguments":{"key":"trip.city"}}'),
)
FILL = """
INSERT INTO journal (run_id, position, at, source, type, data, turn)
WITH RECURSIVE count(position) AS (SELECT 1 UNION ALL SELECT position + 1 FROM count WHERE position < ?)
SELECT ?, position, position * 100, 'runner',
       CASE position % 6 WHEN 0 THEN 'tool.call.started' WHEN 1 THEN 'state.updated' ELSE 'message.delta' END,
       CASE position % 6 WHEN 0 THEN ? WHEN 1 THEN ? ELSE ? END, 1
FROM count
"""


class _PaneApp(SinglePaneApp):
    """The stream pane alone. `write` does what a tick of the console does."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self.timeline = timeline
        self.pane = StreamPane()

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_mount(self) -> None:
        self.pane.show(self.timeline)
        self.pane.focus()

    def write(self, entries: list[Entry]) -> None:
        self.timeline.append(entries)
        self.pane.on_batch()
        self.timeline.next_requests()


class _LogApp(App[None]):
    """The baseline: the same entries in a RichLog."""

    def compose(self) -> ComposeResult:
        yield RichLog()

    def write(self, entries: list[Entry]) -> None:
        log = self.query_one(RichLog)
        for entry in entries:
            log.write(Text(f"  {entry.position:>8}  {entry.type:22} {entry.data}"))


def _entries(count: int, start: int = 1) -> Iterator[Entry]:
    kinds = islice(cycle(KINDS), count)
    return (
        Entry("run", position, position * 100, "runner", kind, data)
        for position, (kind, data) in enumerate(kinds, start)
    )


async def _time_entry(app: _PaneApp | _LogApp, ticks: int) -> float:
    """Return the microseconds of processor time per entry, from its arrival until it is painted."""
    async with app.run_test(size=SIZE) as pilot:
        batches = [list(_entries(ENTRIES_PER_TICK, 1 + tick * ENTRIES_PER_TICK)) for tick in range(ticks)]
        app.write(batches[0])
        await pilot.pause()
        began = time.process_time()
        for batch in batches[1:]:
            app.write(batch)
            await pilot.pause()
        return (time.process_time() - began) / (ticks - 1) / ENTRIES_PER_TICK * 1e6


async def _memory() -> tuple[float, float]:
    """Return the bytes of the pane and its timeline after a tenth of a long run, and after all of it."""
    app = _PaneApp(Timeline("run"))
    sizes: list[float] = []
    async with app.run_test(size=SIZE) as pilot:
        app.write(list(_entries(SHORT_RUN)))
        await pilot.pause()
        gc.collect()
        tracemalloc.start()
        position = SHORT_RUN
        while position < LONG_RUN:
            # Tick by tick until the first measurement, so that all caches of rows are full by then.
            count = min(ENTRIES_PER_TICK, LONG_RUN // 10 - position) if position < LONG_RUN // 10 else BATCH_ENTRIES
            app.write(list(_entries(count, position + 1)))
            position += count
            if position in (LONG_RUN // 10, LONG_RUN):
                await pilot.pause()
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    return sizes[0], sizes[1]


async def _time_openings() -> dict[str, list[float]]:
    """Return the milliseconds until a page is read and painted: of a run just opened, and of a jump to its end."""
    took: dict[str, list[float]] = {}
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path = Path(folder, "bench.db")
        _fill(path)
        async with await Engine.open(db=path, mode="read") as engine:
            app = _PaneApp(Timeline("none"))
            async with app.run_test(size=SIZE) as pilot:
                for _ in range(OPEN_ROUNDS):
                    for run_id in ("short", "long"):
                        began = time.perf_counter()
                        app.timeline = Timeline(run_id, last=await engine.runs.last_position(run_id))
                        app.pane.show(app.timeline)
                        await _settle(app, engine, pilot)
                        took.setdefault(f"open {run_id}", []).append((time.perf_counter() - began) * 1_000)
                        app.pane.action_first()
                        await _settle(app, engine, pilot)
                        began = time.perf_counter()
                        app.pane.action_end()
                        await _settle(app, engine, pilot)
                        took.setdefault(f"end {run_id}", []).append((time.perf_counter() - began) * 1_000)
    return took


async def _settle(app: _PaneApp, engine: Engine, pilot: Pilot[None]) -> None:
    """Tick and read, as the console does, until the pane has all it needs, and wait for the frame."""
    app.pane.on_batch()
    while requests := app.timeline.next_requests():
        for request in requests:
            await perform_read(app.timeline, request, engine.runs)
        app.pane.on_batch()
    await pilot.pause()


def _fill(path: Path) -> None:
    database = Database.open(path, write=True)
    delta, tool, state = (KINDS[number][1] for number in (0, 2, 4))
    with database.writing_connection() as connection:
        for run_id, count in (("short", SHORT_RUN), ("long", STORED_LONG_RUN)):
            connection.exec_driver_sql(FILL, (count, run_id, tool, state, delta))
    database.close()


def measure() -> Iterator[Line]:
    """Take the best round for the cost of an entry, and medians for opening."""
    rounds = [
        (
            asyncio.run(_time_entry(_PaneApp(Timeline("run")), TICKS)),
            asyncio.run(_time_entry(_LogApp(), LOG_TICKS)),
        )
        for _ in range(COST_ROUNDS)
    ]
    pane, log = (min(costs) for costs in zip(*rounds, strict=True))
    yield at_most("an entry received and painted at 10,000/s, against RichLog", pane, "µs", log, limit=0.1)
    tenth, whole = asyncio.run(_memory())
    yield within(
        "memory of the stream per entry, at 100,000", tenth / (LONG_RUN // 10), "bytes", LONG_RUN // 10, limit=350
    )
    yield at_most("memory of the stream at 1,000,000 entries, against 100,000", whole, "bytes", tenth, limit=1.1)
    took = {name: median(times) for name, times in asyncio.run(_time_openings()).items()}
    yield at_most("opening a run of 1,000,000, against 1,000", took["open long"], "ms", took["open short"], limit=2)
    yield at_most(
        "jump from the first to the last of 1,000,000 entries, against 1,000",
        took["end long"],
        "ms",
        took["end short"],
        limit=2,
    )


if __name__ == "__main__":
    print_lines(measure())
