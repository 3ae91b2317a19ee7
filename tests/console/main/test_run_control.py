"""Running again, opening past runs, new and continued sessions, and quitting during a run."""

from typing import Any

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, go_to, listener, say, sees, shown, until
from tests.support.console.regions import text_in
from tests.support.console.sample_runs import echoes, engine_with_two_sessions
from tests.support.engines import Engines, failed, lines_of, said

Size = tuple[int, int]


async def inputs(app: Trackside) -> list[Any]:
    """Return the input of each run, oldest first."""
    return [run.metadata["input"] for run in reversed(await app.active_session.engine.runs.list())]


async def complete_run(pilot: Any, text: str) -> None:
    """Send a message and wait until its run has ended."""
    await say(pilot, text)
    await sees(pilot, f"You said: {text}", "completed")
    await until(pilot, lambda: not pilot.app.services.situation.is_running)


@at_both_sizes
async def test_f5_runs_the_last_message_again(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(echoes))
    async with at_the_screen(app, size) as pilot:
        await pilot.press("f5")
        await sees(pilot, "There is nothing to run again. Send a message first.")
        await complete_run(pilot, "hello")
        await pilot.press("f5")
        await until(pilot, lambda: text_in(app, app.main.conversation).count("You said: hello") == 2)
        await until(pilot, lambda: not app.services.situation.is_running)
        assert await inputs(app) == ["hello", "hello"]
        assert len(await lines_of(app.active_session.engine, app.active_session.session_id)) == 4


@at_both_sizes
async def test_r_on_a_failed_run_runs_its_input_again(open_engine: Engines, size: Size):
    attempts: list[str] = []

    async def fails_once(ctx: Any):
        attempts.append(ctx.input.to_text())
        yield failed("not today") if len(attempts) == 1 else said("Today.")

    app = Trackside(LaunchOptions(), lambda: open_engine(fails_once))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "✗ failed: not today")
        app.main.conversation.focus()
        await pilot.press("alt+up", "r")
        await sees(pilot, "Today.", "completed")
        assert attempts == ["hello", "hello"]


@at_both_sizes
async def test_enter_in_the_runs_list_opens_a_past_run(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: engine_with_two_sessions(open_engine))
    async with at_the_screen(app, size) as pilot:
        await until(pilot, lambda: app.main.rail.row_count > 3)
        await go_to(pilot, app, "rail")
        await sees(pilot, "alpha", "beta", "gamma")
        await pilot.press("home", "down", "enter")
        await sees(pilot, "You said: beta", "You said: alpha")
        assert (app.active_session.session_id, app.main.where()) == ("old", "prompt")
        await until(pilot, lambda: app.services.updater.view is not None)
        assert (await app.active_session.engine.runs.get(app.services.updater.view.run_id)).metadata["input"] == "beta"

        await complete_run(pilot, "delta")
        assert (await app.active_session.engine.runs.list(limit=1))[0].conversation_id == "old"


async def test_click_in_the_runs_list_opens_a_past_run(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: engine_with_two_sessions(open_engine))
    async with at_the_screen(app) as pilot:
        await sees(pilot, "alpha", "beta", "gamma")
        (row,) = [y for y, line in enumerate(shown(app).splitlines()) if "alpha" in line[:26]][:1]
        await pilot.click(offset=(6, row))
        await sees(pilot, "You said: alpha")
        await until(pilot, lambda: app.services.updater.view is not None)
        assert app.active_session.session_id == "old"
        await until(pilot, lambda: app.services.updater.view is not None)
        assert (await app.active_session.engine.runs.get(app.services.updater.view.run_id)).metadata["input"] == "alpha"


@at_both_sizes
async def test_new_session_is_empty_and_the_old_one_is_kept(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(echoes))
    async with at_the_screen(app, size) as pilot:
        await complete_run(pilot, "hello")
        before = app.active_session.session_id
        await pilot.press("ctrl+p", *"new session", "enter")
        await until(pilot, lambda: app.active_session.session_id != before)
        await until(pilot, lambda: "You said: hello" not in shown(app))
        await complete_run(pilot, "other")
        runs = await app.active_session.engine.runs.list()
        assert [run.conversation_id for run in runs] == [app.active_session.session_id, before]
        assert len(await lines_of(app.active_session.engine, app.active_session.session_id)) == 2


@at_both_sizes
async def test_continue_opens_the_last_session_and_sends_to_it(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(continue_last=True), lambda: engine_with_two_sessions(open_engine))
    async with at_the_screen(app, size) as pilot:
        await sees(pilot, "You said: gamma")
        assert app.active_session.session_id == "new"
        await complete_run(pilot, "delta")
        assert [run.conversation_id for run in await app.active_session.engine.runs.list(limit=2)] == ["new", "new"]


async def test_continue_without_any_session_starts_one(open_engine: Engines):
    app = Trackside(LaunchOptions(continue_last=True), lambda: open_engine(echoes))
    async with at_the_screen(app) as pilot:
        await complete_run(pilot, "hello")
        assert (await app.active_session.engine.runs.list(limit=1))[0].conversation_id == app.active_session.session_id


@at_both_sizes
async def test_quit_during_a_run_asks_first(open_engine: Engines, size: Size):
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


async def test_quit_without_a_run_does_not_ask(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(echoes))
    async with at_the_screen(app) as pilot:
        await complete_run(pilot, "hello")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    assert app.return_code == 0
