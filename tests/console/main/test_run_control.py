"""Runs once more, runs of the past, other conversations, and leaving."""

from typing import Any

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, go_to, listener, say, sees, shown, until
from tests.support.engines import Engines, failed, lines_of, message, run_event, said

Size = tuple[int, int]


async def echoes(ctx: Any):
    yield said(f"You said: {ctx.input.to_text()}")


async def inputs(app: Trackside) -> list[Any]:
    """What was asked of each run, oldest first."""
    return [run.metadata["input"] for run in reversed(await app.active_session.engine.runs.list())]


async def heard(pilot: Any, text: str) -> None:
    """Send something and hear the answer out."""
    await say(pilot, text)
    await sees(pilot, f"You said: {text}", "completed")
    await until(pilot, lambda: not pilot.app.services.situation.is_running)


@at_both_sizes
async def test_f5_sends_the_same_once_more(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(echoes))
    async with at_the_screen(app, size) as pilot:
        await pilot.press("f5")
        await sees(pilot, "There is nothing to run again. Send a message first.")
        await heard(pilot, "hello")
        await pilot.press("f5")
        await until(pilot, lambda: shown(app).count("▌ You said: hello") == 2)  # in the conversation
        await until(pilot, lambda: not app.services.situation.is_running)
        assert await inputs(app) == ["hello", "hello"]
        assert len(await lines_of(app.active_session.engine, app.active_session.session_id)) == 4


@at_both_sizes
async def test_r_on_a_failure_sends_its_input_once_more(open_engine: Engines, size: Size):
    attempts: list[str] = []

    async def stumbles(ctx: Any):
        attempts.append(ctx.input.to_text())
        yield failed("not today") if len(attempts) == 1 else said("Today.")

    app = Trackside(LaunchOptions(), lambda: open_engine(stumbles))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "✗ failed: not today")
        app.main.conversation.focus()
        await pilot.press("alt+up", "r")
        await sees(pilot, "Today.", "completed")
        assert attempts == ["hello", "hello"]


async def with_a_past(open_engine: Engines) -> Any:
    """An engine in whose database two conversations were held."""
    engine = await open_engine(echoes)
    for session, texts in (("old", ["alpha", "beta"]), ("new", ["gamma"])):
        for text in texts:
            await run_event(engine, message(text, session))
            open_engine.clock.advance(1)
    return engine


@at_both_sizes
async def test_a_past_run_is_opened_from_the_rail_with_enter(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: with_a_past(open_engine))
    async with at_the_screen(app, size) as pilot:
        await until(pilot, lambda: app.main.rail.option_count > 3)
        await go_to(pilot, app, "rail")
        await sees(pilot, "alpha", "beta", "gamma")
        await pilot.press("home", "down", "enter")
        await sees(pilot, "You said: beta", "You said: alpha")
        assert (app.active_session.session_id, app.main.where()) == ("old", "prompt")
        assert app.services.updater.view is not None
        assert (await app.active_session.engine.runs.get(app.services.updater.view.run_id)).metadata["input"] == "beta"

        await heard(pilot, "delta")
        assert (await app.active_session.engine.runs.list(limit=1))[0].conversation_id == "old"


async def test_a_past_run_is_opened_from_the_rail_with_a_click(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: with_a_past(open_engine))
    async with at_the_screen(app) as pilot:
        await sees(pilot, "alpha", "beta", "gamma")
        (row,) = [y for y, line in enumerate(shown(app).splitlines()) if "alpha" in line[:26]][:1]
        await pilot.click(offset=(6, row))
        await sees(pilot, "You said: alpha")
        await until(pilot, lambda: app.services.updater.view is not None)
        assert app.active_session.session_id == "old"
        assert app.services.updater.view is not None
        assert (await app.active_session.engine.runs.get(app.services.updater.view.run_id)).metadata["input"] == "alpha"


@at_both_sizes
async def test_a_new_session_begins_empty_and_the_old_one_stays(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(echoes))
    async with at_the_screen(app, size) as pilot:
        await heard(pilot, "hello")
        before = app.active_session.session_id
        await pilot.press("ctrl+p", *"new session", "enter")
        await until(pilot, lambda: app.active_session.session_id != before)
        await until(pilot, lambda: "You said: hello" not in shown(app))
        await heard(pilot, "other")
        runs = await app.active_session.engine.runs.list()
        assert [run.conversation_id for run in runs] == [app.active_session.session_id, before]
        assert len(await lines_of(app.active_session.engine, app.active_session.session_id)) == 2


@at_both_sizes
async def test_going_on_shows_what_was_said_last_and_says_the_next_there(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(continue_last=True), lambda: with_a_past(open_engine))
    async with at_the_screen(app, size) as pilot:
        await sees(pilot, "You said: gamma")
        assert app.active_session.session_id == "new"
        await heard(pilot, "delta")
        assert [run.conversation_id for run in await app.active_session.engine.runs.list(limit=2)] == ["new", "new"]


async def test_going_on_where_nothing_was_said_yet_begins(open_engine: Engines):
    app = Trackside(LaunchOptions(continue_last=True), lambda: open_engine(echoes))
    async with at_the_screen(app) as pilot:
        await heard(pilot, "hello")
        assert (await app.active_session.engine.runs.list(limit=1))[0].conversation_id == app.active_session.session_id


@at_both_sizes
async def test_leaving_with_a_run_at_work_asks_first(open_engine: Engines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue)))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await pilot.press("ctrl+q")
        await sees(pilot, "A run is in progress.")
        await pilot.press("escape")
        await until(pilot, lambda: "A run is in progress." not in shown(app))
        assert app.services.situation.is_running

        await pilot.press("ctrl+q")
        await sees(pilot, "A run is in progress.")
        await pilot.press("y")
        await until(pilot, lambda: not app.is_running)
    assert app.return_code == 0
    reader = await open_engine(mode="read")
    assert (await reader.runs.list(limit=1))[0].status == "cancelled"


async def test_leaving_where_nothing_runs_asks_nothing(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(echoes))
    async with at_the_screen(app) as pilot:
        await heard(pilot, "hello")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    assert app.return_code == 0
