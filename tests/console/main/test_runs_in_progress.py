"""A run at work is steered, stopped and asked about on leaving, whatever is shown meanwhile."""

from typing import Any

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.text.glyphs import GLYPHS
from tests.support.console.pilot import Cue, at_the_screen, go_to, listener, say, sees, shown, until
from tests.support.engines import Engines, done, message, run_event, said


async def test_who_sends_while_looking_back_sees_the_new_run(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "first")
        cue.go()
        cue.go()
        await sees(pilot, "✓ completed")
        await go_to(pilot, app, "stream")
        await pilot.press("k")
        await sees(pilot, "as of #")

        app.main.go_to("prompt")
        await pilot.pause()
        await say(pilot, "second")
        await sees(pilot, "You said: second", "● running", "◉ live", "f8 stop")


async def test_a_run_that_is_not_shown_is_stopped_all_the_same(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "first")
        cue.go()
        cue.go()
        await sees(pilot, "✓ completed")
        await say(pilot, "second")
        await sees(pilot, "You said: second")
        first = app.services.updater.conversation.run_ids[0]
        await app.services.updater.show_run(first)
        await sees(pilot, "a past run", "f8 stop")

        await pilot.press("f8")
        await until(pilot, lambda: not app.services.situation.is_running)
        assert [run.status for run in await app.active_session.engine.runs.list()] == ["cancelled", "completed"]

        await pilot.press("escape")
        await sees(pilot, "■ stopped")


async def test_leaving_asks_about_a_run_and_a_message_of_another_conversation(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await say(pilot, "first")
        await sees(pilot, "You said: first")
        await say(pilot, "then this")
        await sees(pilot, "1 queued")
        app.controllers.sessions.action_new_session()
        await sees(pilot, "○ idle")

        await pilot.press("ctrl+q")
        await sees(pilot, "A run is in progress. Quitting stops it; 1 queued", "will not be delivered")
        assert app.is_running


async def test_the_rail_says_of_a_session_what_the_browser_says(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(session="first"), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        app.controllers.sessions.action_new_session()
        await until(pilot, lambda: "● hello" in sessions_of(app))
        await pilot.press("ctrl+l")
        await sees(pilot, "● hello  running")

        await pilot.press("escape")
        cue.go()
        cue.go()
        await until(pilot, lambda: "✓ hello" in sessions_of(app))
        await pilot.press("ctrl+l")
        await sees(pilot, "✓ hello")


def sessions_of(app: Trackside) -> list[str]:
    """The glyph and the name of each session that the rail lists."""
    return [f"{GLYPHS[card.glyph]} {card.title}" for card in app.main.rail._shown.sessions]


async def test_b_a_second_time_takes_the_hold_back(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "message.completed")
        await go_to(pilot, app, "stream")
        await pilot.press("b")
        await sees(pilot, "Breakpoint set: the run pauses before each message.completed")
        run = app.services.updater.view
        assert run is not None
        assert [str(armed.location) for armed in await app.active_session.engine.breakpoints.list(run.run_id)] == [
            "message.completed"
        ]

        await pilot.press("b")
        await sees(pilot, "Breakpoint removed: message.completed")
        assert await app.active_session.engine.breakpoints.list(run.run_id) == ()


async def test_what_is_sent_to_an_engine_that_cannot_open_comes_back(open_engine: Engines):
    async def cannot() -> Any:
        raise OSError("the disk is gone")

    app = Trackside(LaunchOptions(), cannot)
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        await sees(pilot, "the disk is gone")
        await say(pilot, "hello")
        await sees(pilot, "Not sent, and back in the prompt")
        assert app.main.prompt.full_text == "hello"

        await pilot.press("ctrl+q")
        await sees(pilot, "The text in the prompt will be lost.")


async def test_what_was_said_before_can_be_said_again_after_a_restart(open_engine: Engines):
    async def echoes(ctx: Any):
        yield said(f"You said: {ctx.input.to_text()}")
        yield done()

    async def with_a_past() -> Any:
        engine = await open_engine(echoes)
        await run_event(engine, message("alpha", "old"))
        return engine

    app = Trackside(LaunchOptions(session="old"), with_a_past)
    async with at_the_screen(app) as pilot:
        await sees(pilot, "You said: alpha")
        await pilot.press("up")
        await until(pilot, lambda: app.main.prompt.full_text == "alpha")
        assert "alpha" in shown(app)
