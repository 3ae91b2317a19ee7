"""A notice says which runner answers if the last run of the opened session used another one."""

from typing import Any

import pytest

from console.launch import LaunchOptions
from tests.console.sessions.test_sessions_screen import opened
from tests.support.console.browser_data import begun, listed, parrot, talked
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, go_to, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines, declares, done, message, said, send

WORDS = "guide answers the next message; the last run here used parrot"


async def guide(ctx: Any):
    yield said(f"Go and see: {ctx.input.to_text()}")
    yield done()


def console(open_engine: Engines, runner: str = "guide", **opening: Any) -> RecordingConsole:
    """A console over two sessions: in the older one parrot answered, in the other one parrot and then guide."""

    async def given() -> Any:
        engine = await open_engine(parrot, guide)
        await talked(engine, "kyoto", "the castle")
        open_engine.clock.advance(60)
        await talked(engine, "lima", "the museum")
        await talked(engine, "lima", "the harbour", runner="guide")
        open_engine.clock.advance(60)
        return engine

    return RecordingConsole(LaunchOptions(runner=runner, **opening), given)


async def resumed(pilot: Any, app: RecordingConsole, session: str) -> None:
    screen = await opened(pilot, app)
    await until(pilot, lambda: session in listed(screen))
    await pilot.press("g", *["down"] * listed(screen).index(session), "enter")
    await until(pilot, lambda: app.screen is app.main and app.active_session.session_id == session)


@at_both_sizes
async def test_notice_when_a_session_is_resumed(open_engine: Engines, size: tuple[int, int]):
    app = console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await resumed(pilot, app, "kyoto")
        await sees(pilot, f"{WORDS} · f3 chooses")
        await say(pilot, "the gardens")
        await sees(pilot, "Go and see: the gardens")


async def test_no_notice_if_the_runner_is_the_same(open_engine: Engines):
    app = console(open_engine)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await resumed(pilot, app, "lima")
        await sees(pilot, "Go and see: the harbour")
        assert not any("answers" in words for words in app.toasts)


@pytest.mark.parametrize("kind", ["run", "session"])
async def test_notice_when_opened_from_the_runs_list(open_engine: Engines, kind: str):
    app = console(open_engine)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        rail = app.main.rail
        await until(pilot, lambda: rail.option_count >= 6)
        (run,) = await app.active_session.engine.runs.list(conversation_id="kyoto")
        await go_to(pilot, app, "rail")
        rail.highlighted = rail.get_option_index(f"run {run.run_id}" if kind == "run" else "session kyoto")
        await pilot.press("enter")
        await sees(pilot, WORDS)


async def test_no_notice_for_an_earlier_run(open_engine: Engines):
    app = console(open_engine, runner="guide")
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        rail = app.main.rail
        first = (await app.active_session.engine.runs.list(conversation_id="lima"))[-1]
        await until(pilot, lambda: rail.option_count >= 6)
        await go_to(pilot, app, "rail")
        rail.highlighted = rail.get_option_index(f"run {first.run_id}")
        await pilot.press("enter")
        await sees(pilot, "You said: the museum")
        await until(pilot, lambda: app.services.updater.is_past)
        assert not any("answers" in words for words in app.toasts)


@pytest.mark.parametrize("opening", [{"continue_last": True}, {"session": "lima"}], ids=["-c", "--session"])
async def test_notice_when_the_console_starts_with_a_session(open_engine: Engines, opening: dict[str, Any]):
    app = console(open_engine, runner="parrot", **opening)
    async with at_the_screen(app) as pilot:
        await sees(pilot, "parrot answers the next message; the last run here used guide")


async def test_no_notice_in_a_new_session(open_engine: Engines):
    app = console(open_engine)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await until(pilot, lambda: "the castle" in shown(app))
        assert not any("answers" in words for words in app.toasts)


async def test_no_notice_when_a_message_is_sent_again(open_engine: Engines):
    app = console(open_engine)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        (run,) = await app.active_session.engine.runs.list(conversation_id="kyoto")
        await app.controllers.sessions.send_again(run.run_id)
        await until(pilot, lambda: shown(app).count("You said: the castle") > 1)
        assert not any("answers" in words for words in app.toasts)


async def test_notice_names_the_running_and_the_next_runner(open_engine: Engines):
    cue = Cue()

    @declares(capabilities={"steering": True})
    async def slow(ctx: Any):
        yield said(f"I think about {ctx.input.to_text()}")
        await cue.wait()
        yield done()

    async def given() -> Any:
        engine = await open_engine(slow, guide)
        await send(engine, message("the castle", session="kyoto"), runner="slow")
        return engine

    app = RecordingConsole(LaunchOptions(runner="guide"), given)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await resumed(pilot, app, "kyoto")
        await sees(pilot, "A run of slow is in progress; guide answers after it · f3 chooses")
        cue.go()
