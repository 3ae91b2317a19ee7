"""Data for tests of the browsers: sessions with messages, and a console on them."""

from typing import Any

from textual.pilot import Pilot

from console.launch import LaunchOptions
from console.ui.shared.browser import Browser
from engine.api import Engine, RunOptions, message
from tests.support.console.pilot import until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines, declares, done, said


@declares(capabilities={"steering": True})
async def parrot(ctx: Any):
    """A runner that repeats its input."""
    yield said(f"You said: {ctx.input.to_text()}")
    yield done()


async def talked(engine: Engine, session: str, *texts: str, runner: str = "parrot") -> list[str]:
    """Send these texts to a session, one run each. Returns the ids of the runs."""
    runs: list[str] = []
    for text in texts:
        given = message(engine.ids.new("evt"), text, conversation_id=session)
        ticket = await engine.runs.submit(given, RunOptions(runner=runner))
        runs.append(await ticket.started)
        await engine.runs.wait_for_end(runs[-1])
    return runs


def browsing(
    open_engine: Engines, *sessions: tuple[str, tuple[str, ...]], runner: Any = parrot, **project: Any
) -> RecordingConsole:
    """Make a console on a database with these sessions and messages, a minute apart."""

    async def opened() -> Engine:
        engine = await open_engine(runner, **project)
        for session, texts in sessions:
            await talked(engine, session, *texts, runner=runner.__name__)
            open_engine.clock.advance(60)
        return engine

    return RecordingConsole(LaunchOptions(), opened)


async def begun(pilot: Pilot[Any], app: RecordingConsole) -> None:
    """Wait until the console shows its first session; then it can open another."""
    await until(pilot, lambda: app.controllers.drafts.is_open)


def listed(screen: Browser) -> list[str]:
    """Return the ids of all rows of a browser, without headings."""
    items = map(screen.list.source.item, range(screen.list.source.height))
    return [item.id for item in items if not item.is_heading]
