"""A real engine on a fresh database, and one run on it watched from its event to its last entry."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.api import Engine, Entry, message
from engine.runtimes.inprocess import InProcessRuntime
from engine.runtimes.runtime import Runtime
from tests.bench.runners import steady, stream

RUNNERS = Path(__file__).with_name("runners")


def in_this_process() -> Runtime:
    """The runtime without a child."""
    return InProcessRuntime({"stream": stream.run, "steady": steady.run})


@asynccontextmanager
async def stage(runner: str, runtime: Runtime | None = None) -> AsyncIterator[Engine]:
    """An engine for one of the runners here; in child processes where no runtime is given."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        async with await Engine.open(RUNNERS / f"{runner}.py", db=Path(folder, "bench.db"), runtime=runtime) as engine:
            yield engine


@dataclass(frozen=True, slots=True)
class Watched:
    """A run that was heard to its end."""

    run_id: str
    seconds: float
    """From its submission to the moment its last entry was told."""
    entries: int


async def watch(engine: Engine, text: str, heard: Callable[[list[Entry]], None] | None = None) -> Watched:
    """Submit a message and hear its run out, as a console does."""
    since = await engine.last_row()
    entries = 0
    began = time.perf_counter()
    ticket = await engine.runs.submit(message(engine.ids.new("evt"), text, conversation_id="bench"))
    run_id = await ticket.started
    async with engine.subscribe(since, run_id=run_id) as news:
        async for batch in news:
            entries += len(batch)
            if heard is not None:
                heard([told.entry for told in batch])
            if batch[-1].entry.type == "run.finished":
                break
    seconds = time.perf_counter() - began
    await engine.runs.wait_for_end(run_id)
    return Watched(run_id, seconds, entries)
