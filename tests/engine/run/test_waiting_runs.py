"""A run that waits for a process: it is told so, it can be stopped, and its deadline stands still."""

import asyncio

import pytest

from engine.api import Engine
from engine.runtimes.pool import ChildPool
from tests.support.engines import Engines, FakeClock, message, send, wait_for_run
from tests.support.limits import MAX_WAIT_SECONDS

LOADS_SLOWLY = """
import os, time
while not os.path.exists(os.path.join(os.path.dirname(__file__), "go")):
    time.sleep(0.002)

async def run(ctx):
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
"""


@pytest.fixture
async def engine(open_engine: Engines) -> Engine:
    """An engine with runners `a` and `b` that starts one child at a time. Their modules wait for the file `go`."""
    for name in ("a", "b"):
        (open_engine.folder / f"{name}.py").write_text(LOADS_SLOWLY)
    return await open_engine(runtime=lambda _: ChildPool(max_starts=1))


async def send_both(engine: Engine) -> tuple[str, str]:
    """Start a run of each runner. The second waits for its start."""
    first = await send(engine, message(session="s1"), runner="a")
    second = await send(engine, message(session="s2"), runner="b", config={"timeout": 10})
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while engine.runs.starts_before(second) is None:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.002)
    return first, second


async def test_deadline_stands_still_while_a_run_waits_for_a_process(
    engine: Engine, open_engine: Engines, clock: FakeClock
):
    first, second = await send_both(engine)
    assert (engine.runs.starts_before(first), engine.runs.starts_before(second)) == (None, 0)
    clock.advance(100)
    (open_engine.folder / "go").touch()
    run = await wait_for_run(engine, second)

    assert (run.row.status, run.warnings) == ("completed", ["The run has waited 100.0 s for a process."])
    assert engine.runs.starts_before(second) is None


async def test_run_that_waits_for_a_process_can_be_stopped(engine: Engine, open_engine: Engines):
    first, second = await send_both(engine)
    await engine.runs.stop(second)
    run = await wait_for_run(engine, second)

    assert run.row.status == "cancelled"
    assert run.types[-1] == "run.finished"
    (open_engine.folder / "go").touch()
    assert (await wait_for_run(engine, first)).row.status == "completed"
