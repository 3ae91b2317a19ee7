"""An engine on a new database with one of the runners of this package, and runs on it that are timed."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.api import Engine, Entry, RunOptions, message
from engine.events import EntryKind
from engine.runtimes.inprocess import InProcessRuntime
from engine.runtimes.runtime import Runtime
from tests.bench.runners import steady, stream

RUNNERS = Path(__file__).with_name("runners")


def in_process_runtime() -> Runtime:
    """A runtime that runs `stream` and `steady` in this process."""
    return InProcessRuntime({"stream": stream.run, "steady": steady.run})


@asynccontextmanager
async def fresh_engine(runner: str, runtime: Runtime | None = None) -> AsyncIterator[Engine]:
    """Open an engine with one runner; the runner gets child processes if no runtime is given."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        async with await Engine.open(RUNNERS / f"{runner}.py", db=Path(folder, "bench.db"), runtime=runtime) as engine:
            yield engine


@dataclass(frozen=True, slots=True)
class CompletedRun:
    run_id: str
    seconds: float
    """From the submission until the last entry was announced."""
    entries: int


async def complete_run(
    engine: Engine, text: str, on_entries: Callable[[list[Entry]], None] | None = None
) -> CompletedRun:
    """Submit a message and receive every entry of its run, as the console does."""
    since = await engine.last_row()
    entries = 0
    began = time.perf_counter()
    ticket = await engine.runs.submit(message(engine.ids.new("evt"), text, conversation_id="bench"))
    run_id = await ticket.started
    async with engine.subscribe(since, run_id=run_id) as subscription:
        async for batch in subscription:
            entries += len(batch)
            if on_entries is not None:
                on_entries([committed.entry for committed in batch])
            if batch[-1].entry.type == EntryKind.RUN_FINISHED:
                break
    seconds = time.perf_counter() - began
    await engine.runs.wait_for_end(run_id)
    return CompletedRun(run_id, seconds, entries)


async def start_run(engine: Engine, runner: str, text: str) -> str:
    """Start a run in a conversation that is named after its runner. Returns the run's id."""
    event = message(engine.ids.new("evt"), text, conversation_id=runner)
    return await (await engine.runs.submit(event, RunOptions(runner=runner))).started


async def wait_for_deltas(engine: Engine, run_id: str, count: int) -> None:
    """Return as soon as a run has streamed this many deltas."""
    async with engine.subscribe(run_id=run_id) as subscription:
        async for batch in subscription:
            count -= sum(committed.entry.type == EntryKind.MESSAGE_DELTA for committed in batch)
            if count <= 0:
                return
