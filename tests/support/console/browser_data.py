"""What the tests of the browsers share: sessions in which something was said, and a console over them."""

from typing import Any

from textual.pilot import Pilot

from console.launch import LaunchOptions
from console.ui.shared.browser import Browser
from engine.api import Engine, RunOptions, message
from tests.support.console.pilot import until
from tests.support.console.recorded_toasts import Telling
from tests.support.engines import Engines, declares, done, said


@declares(capabilities={"steering": True})
async def parrot(ctx: Any):
    """Says what it was told."""
    yield said(f"You said: {ctx.input.to_text()}")
    yield done()


async def talked(engine: Engine, session: str, *texts: str, runner: str = "parrot") -> list[str]:
    """Say these in a session, one run each; the runs."""
    runs: list[str] = []
    for text in texts:
        given = message(engine.ids.new("evt"), text, conversation_id=session)
        ticket = await engine.runs.submit(given, RunOptions(runner=runner))
        runs.append(await ticket.started)
        await engine.runs.wait_for_end(runs[-1])
    return runs


def browsing(open_engine: Engines, *sessions: tuple[str, tuple[str, ...]], runner: Any = parrot) -> Telling:
    """A console over sessions in which these things were said, a minute apart."""

    async def opened() -> Engine:
        engine = await open_engine(runner)
        for session, texts in sessions:
            await talked(engine, session, *texts, runner=runner.__name__)
            open_engine.clock.advance(60)
        return engine

    return Telling(LaunchOptions(), opened)


async def begun(pilot: Pilot[Any], app: Telling) -> None:
    """The session that the console was opened on is shown: from now on another can be."""
    await until(pilot, lambda: app.controllers.drafts.is_open)


def listed(screen: Browser) -> list[str]:
    """The names of all that a browser lists, headings left out."""
    items = map(screen.list.source.item, range(screen.list.source.height))
    return [item.id for item in items if not item.is_heading]
