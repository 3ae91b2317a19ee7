"""A run in progress can be stopped, and quitting asks about it, whatever the screen shows."""

from typing import Any

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.text.glyphs import GLYPHS
from tests.support.console.pilot import Cue, at_the_screen, go_to, listener, say, sees, shown, until
from tests.support.engines import Engines, done, message, run_event, said


async def test_message_sent_while_an_earlier_entry_is_shown_shows_the_new_run(open_engine: Engines):
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


async def test_f8_stops_the_run_while_another_run_is_shown(open_engine: Engines):
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


async def test_quit_asks_about_a_run_and_a_message_of_another_session(open_engine: Engines):
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


async def test_runs_list_and_session_browser_show_the_same_status(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(session="first"), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        app.controllers.sessions.action_new_session()
        await until(pilot, lambda: "● hello" in listed_sessions(app))
        await pilot.press("ctrl+l")
        await sees(pilot, "● hello  running")

        await pilot.press("escape")
        cue.go()
        cue.go()
        await until(pilot, lambda: "✓ hello" in listed_sessions(app))
        await pilot.press("ctrl+l")
        await sees(pilot, "✓ hello")


def listed_sessions(app: Trackside) -> list[str]:
    """Return the glyph and the title of each session in the runs list."""
    return [f"{GLYPHS[card.glyph]} {card.title}" for card in app.main.rail._shown.sessions]


async def test_second_b_removes_the_breakpoint(open_engine: Engines):
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
        assert [str(found.location) for found in await app.active_session.engine.breakpoints.list(run.run_id)] == [
            "message.completed"
        ]

        await pilot.press("b")
        await sees(pilot, "Breakpoint removed: message.completed")
        assert await app.active_session.engine.breakpoints.list(run.run_id) == ()


async def test_message_returns_to_the_prompt_if_the_engine_cannot_open(open_engine: Engines):
    async def fail_to_open() -> Any:
        raise OSError("the disk is gone")

    app = Trackside(LaunchOptions(), fail_to_open)
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        await sees(pilot, "the disk is gone")
        await say(pilot, "hello")
        await sees(pilot, "The message is in the prompt again.")
        assert app.main.prompt.full_text == "hello"

        await pilot.press("ctrl+q")
        await sees(pilot, "The text in the prompt will be lost.")


async def test_history_of_the_prompt_is_available_after_a_restart(open_engine: Engines):
    async def echoes(ctx: Any):
        yield said(f"You said: {ctx.input.to_text()}")
        yield done()

    async def engine_with_a_run() -> Any:
        engine = await open_engine(echoes)
        await run_event(engine, message("alpha", "old"))
        return engine

    app = Trackside(LaunchOptions(session="old"), engine_with_a_run)
    async with at_the_screen(app) as pilot:
        await sees(pilot, "You said: alpha")
        await pilot.press("up")
        await until(pilot, lambda: app.main.prompt.full_text == "alpha")
        assert "alpha" in shown(app)
