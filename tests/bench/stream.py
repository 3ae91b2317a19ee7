"""The stream pane: what an entry costs against RichLog, what it keeps of it, and opening a run of any length."""

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

from console.model.stream.index import CHUNK_ENTRIES as SIZE_OF_CHUNK
from console.model.stream.reader import perform_read
from console.model.stream.timeline import Timeline
from console.ui.stream.pane import StreamPane
from engine.api import Engine, Entry
from engine.store.database import Database
from tests.bench.lines import Line, at_most, print_lines, within
from tests.support.console.single_pane_app import Alone

CHUNK_ENTRIES = (160, 45)
TICKS, LOG_TICKS = 60, 12
A_TICK = 333
"""Entries in a tick at 10,000 a second."""
LONG, SHORT = 1_000_000, 1_000
DEEP = 490 * SIZE_OF_CHUNK
"""A million that ends where a chunk does: there is no run whose end takes more to read."""
BATCH = 5_000
ROUNDS = 7

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


class _Pane(Alone):
    """The pane alone, ticked by hand."""

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


class _Log(App[None]):
    """The same lines in Textual's own log."""

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


async def _cost(app: "_Pane | _Log", ticks: int) -> float:
    """Microseconds of processor an entry, from told to painted, at 10,000 a second in 30 ticks."""
    async with app.run_test(size=CHUNK_ENTRIES) as pilot:
        batches = [list(_entries(A_TICK, 1 + tick * A_TICK)) for tick in range(ticks)]
        app.write(batches[0])
        await pilot.pause()
        began = time.process_time()
        for batch in batches[1:]:
            app.write(batch)
            await pilot.pause()
        return (time.process_time() - began) / (ticks - 1) / A_TICK * 1e6


async def _memory() -> tuple[float, float]:
    """Bytes that the pane and its timeline hold after a tenth of a long run and after all of it."""
    app = _Pane(Timeline("run"))
    held: list[float] = []
    async with app.run_test(size=CHUNK_ENTRIES) as pilot:
        app.write(list(_entries(SHORT)))
        await pilot.pause()
        gc.collect()
        tracemalloc.start()
        position = SHORT
        while position < LONG:
            # As it comes up to the first look, so that whatever keeps rows has all that it ever keeps.
            count = min(A_TICK, LONG // 10 - position) if position < LONG // 10 else BATCH
            app.write(list(_entries(count, position + 1)))
            position += count
            if position in (LONG // 10, LONG):
                await pilot.pause()
                gc.collect()
                held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    return held[0], held[1]


async def _openings() -> dict[str, list[float]]:
    """Milliseconds until a page is there and painted: of a run just opened, and of its end after its beginning."""
    took: dict[str, list[float]] = {}
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        path = Path(folder, "bench.db")
        _fill(path)
        async with await Engine.open(db=path, mode="read") as engine:
            app = _Pane(Timeline("none"))
            async with app.run_test(size=CHUNK_ENTRIES) as pilot:
                for _ in range(ROUNDS):
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


async def _settle(app: _Pane, engine: Engine, pilot: Pilot[None]) -> None:
    """Tick as the console does until nothing more is wanted, and paint."""
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
        for run_id, count in (("short", SHORT), ("long", DEEP)):
            connection.exec_driver_sql(FILL, (count, run_id, tool, state, delta))
    database.close()


def measure() -> Iterator[Line]:
    """The best of three for the cost of an entry, medians for opening; memory does not mind a busy machine."""
    rounds = [(asyncio.run(_cost(_Pane(Timeline("run")), TICKS)), asyncio.run(_cost(_Log(), LOG_TICKS))) for _ in "123"]
    pane, log = (min(costs) for costs in zip(*rounds, strict=True))
    yield at_most("an entry told and painted at 10,000/s, against RichLog", pane, "µs", log, limit=0.1)
    tenth, whole = asyncio.run(_memory())
    yield within("memory of the stream per entry, at 100,000", tenth / (LONG // 10), "bytes", LONG // 10, limit=350)
    yield at_most("memory of the stream at 1,000,000 entries, against 100,000", whole, "bytes", tenth, limit=1.1)
    took = {name: median(times) for name, times in asyncio.run(_openings()).items()}
    yield at_most("opening a run of 1,000,000, against 1,000", took["open long"], "ms", took["open short"], limit=2)
    yield at_most("its end after its beginning, against 1,000", took["end long"], "ms", took["end short"], limit=2)


if __name__ == "__main__":
    print_lines(measure())
