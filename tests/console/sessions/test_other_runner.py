"""A notice says which runner answers if the last run of the opened session used another one."""

from typing import Any

import pytest

from console.launch import LaunchOptions
from tests.support.console.browser_data import begun, parrot, talked
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, go_to, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.console.regions import text_in
from tests.support.console.sessions_browser import resume_session
from tests.support.engines import Engines, declares, done, message, said, send

WORDS = "guide answers the next message; the last run here used parrot"


async def guide(ctx: Any):
    yield said(f"Go and see: {ctx.input.to_text()}")
    yield done()


def console(open_engine: Engines, runner: str = "guide", **options: Any) -> RecordingConsole:
    """A console over two sessions: in the older one parrot answered, in the other one parrot and then guide."""

    async def open_with_sessions() -> Any:
        engine = await open_engine(parrot, guide)
        await talked(engine, "kyoto", "the castle")
        open_engine.clock.advance(60)
        await talked(engine, "lima", "the museum")
        await talked(engine, "lima", "the harbour", runner="guide")
        open_engine.clock.advance(60)
        return engine

    return RecordingConsole(LaunchOptions(runner=runner, **options), open_with_sessions)


@at_both_sizes
async def test_notice_when_a_session_is_resumed(open_engine: Engines, size: tuple[int, int]):
    app = console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await resume_session(pilot, app, "kyoto")
        await sees(pilot, f"{WORDS} · f3 chooses")
        await say(pilot, "the gardens")
        await sees(pilot, "Go and see: the gardens")


async def test_no_notice_if_the_runner_is_the_same(open_engine: Engines):
    app = console(open_engine)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await resume_session(pilot, app, "lima")
        await sees(pilot, "Go and see: the harbour")
        assert not any("answers" in words for words in app.toasts)


@pytest.mark.parametrize("kind", ["run", "session"])
async def test_notice_when_opened_from_the_runs_list(open_engine: Engines, kind: str):
    app = console(open_engine)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        rail = app.main.rail
        await until(pilot, lambda: rail.row_count >= 6)
        (run,) = await app.active_session.engine.runs.list(conversation_id="kyoto")
        await go_to(pilot, app, "rail")
        rail.go_to(rail.source.place_of(f"run {run.run_id}" if kind == "run" else "session kyoto") or 0)
        await pilot.press("enter")
        await sees(pilot, WORDS)


async def test_no_notice_for_an_earlier_run(open_engine: Engines):
    app = console(open_engine, runner="guide")
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        rail = app.main.rail
        first = (await app.active_session.engine.runs.list(conversation_id="lima"))[-1]
        await until(pilot, lambda: rail.row_count >= 6)
        await go_to(pilot, app, "rail")
        rail.go_to(rail.source.place_of(f"run {first.run_id}") or 0)
        await pilot.press("enter")
        await sees(pilot, "You said: the museum")
        await until(pilot, lambda: app.services.updater.is_past)
        assert not any("answers" in words for words in app.toasts)


@pytest.mark.parametrize("options", [{"continue_last": True}, {"session": "lima"}], ids=["-c", "--session"])
async def test_notice_when_the_console_starts_with_a_session(open_engine: Engines, options: dict[str, Any]):
    app = console(open_engine, runner="parrot", **options)
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
        await until(pilot, lambda: text_in(app, app.main.conversation).count("You said: the castle") == 2)
        assert not any("answers" in words for words in app.toasts)


async def test_notice_names_the_running_and_the_next_runner(open_engine: Engines):
    cue = Cue()

    @declares(capabilities={"steering": True})
    async def slow(ctx: Any):
        yield said(f"I think about {ctx.input.to_text()}")
        await cue.wait()
        yield done()

    async def open_with_sessions() -> Any:
        engine = await open_engine(slow, guide)
        await send(engine, message("the castle", session="kyoto"), runner="slow")
        return engine

    app = RecordingConsole(LaunchOptions(runner="guide"), open_with_sessions)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await resume_session(pilot, app, "kyoto")
        await sees(pilot, "A run of slow is in progress; guide answers after it · f3 chooses")
        cue.go()
