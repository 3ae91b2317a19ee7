"""Runners, and runs of them, that several tests of the console need."""

import asyncio
from contextlib import suppress
from typing import Any

from textual.pilot import Pilot

from console.app import Trackside
from engine.api import Engine
from tests.support.console.pilot import MAX_WAIT_SECONDS, Cue, say, sees, until
from tests.support.engines import Engines, declares, message, run_event, said


async def echoes(ctx: Any):
    """A runner that repeats its input."""
    yield said(f"You said: {ctx.input.to_text()}")


def unstoppable(cue: Cue) -> Any:
    """Make a runner that ignores its cancellation until the cue comes."""

    @declares(capabilities={"steering": True})
    async def ignores_stop(ctx: Any):
        yield said("Here I am.")
        cue_came = asyncio.ensure_future(asyncio.wait_for(cue.wait(), MAX_WAIT_SECONDS))
        while not cue_came.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({cue_came})
        raise asyncio.CancelledError

    return ignores_stop


async def engine_with_two_sessions(open_engine: Engines) -> Engine:
    """Open an engine that has the session `old` with two runs and the session `new` with one."""
    engine = await open_engine(echoes)
    for session, texts in (("old", ["alpha", "beta"]), ("new", ["gamma"])):
        for text in texts:
            await run_event(engine, message(text, session))
            open_engine.clock.advance(1)
    return engine


async def start_run(pilot: Pilot[Any], text: str = "hello") -> None:
    """Start a run and wait for the ribbon, which is drawn last and moves all panes below it."""
    await say(pilot, text)
    await sees(pilot, f"You said: {text}", "next pull")


async def complete_runs(pilot: Pilot[Any], app: Trackside, cue: Cue, *texts: str) -> None:
    """Send these texts, and let the run of each one end before the next is sent."""
    for text in texts:
        await say(pilot, text)
        await sees(pilot, f"You said: {text}")
        cue.go()
        cue.go()
        await until(pilot, lambda: not app.services.situation.is_running)
