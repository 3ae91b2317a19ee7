"""The way back by esc: one rung a press, and nothing is destroyed by the first."""

from typing import Any

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from console.app import Trackside
from tests.support.console.pilot import NARROW, SIZES, WIDE, at_the_screen, narrow, say, sees, until
from tests.support.console.recorded_toasts import recording_console
from tests.support.engines import Engines, FakeClock


def is_running(app: Trackside) -> bool:
    return app.services.situation.is_running


async def running(app: Trackside, pilot: Pilot[Any]) -> None:
    await say(pilot, "hello")
    await sees(pilot, "▌ You said: hello")  # in the conversation: other panes may be quicker


@pytest.mark.parametrize("size", SIZES)
async def test_at_the_foot_the_first_press_warns_and_the_second_stops(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await running(app, pilot)
        await pilot.press("escape")
        assert app.toasts == ["Press esc again to stop the run."]
        assert is_running(app)
        await pilot.press("escape")
        await until(pilot, lambda: not is_running(app))


async def test_a_second_press_that_comes_late_is_a_first_one(open_engine: Engines, clock: FakeClock):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await running(app, pilot)
        await pilot.press("escape")
        clock.advance(1.6)
        await pilot.press("escape")
        assert app.toasts == ["Press esc again to stop the run."] * 2
        assert is_running(app)


async def test_a_press_that_does_something_else_is_not_half_of_a_stop(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await running(app, pilot)
        await pilot.press("escape")
        app.main.go_to("stream")
        await until(pilot, lambda: app.main.where() == "stream")
        await pilot.press("escape", "escape")
        assert app.main.where() == "prompt"
        assert app.toasts == ["Press esc again to stop the run."] * 2
        assert is_running(app)


async def test_without_a_run_there_is_nothing_to_stop(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await pilot.press("escape", "escape", "escape")
        assert app.toasts == []
        assert app.is_running


@pytest.mark.parametrize("size", SIZES)
async def test_every_rung_in_its_order(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        main = app.main
        await running(app, pilot)
        main.go_to("stream")
        await until(pilot, lambda: main.where() == "stream")
        await pilot.press("k")
        await narrow(pilot, app, "run")
        await pilot.press("y")
        await until(pilot, lambda: app.services.updater.as_of is not None)
        main.conversation._set_cursor(0)

        def state() -> tuple[bool, ...]:
            pane = main.stream
            return (
                pane._copy_menu.display,
                main.conversation.cursor is not None,
                bool(pane._filter),
                app.services.updater.as_of is not None,
                main.where() != "prompt",
            )

        rungs = [state()]
        for _ in range(5):
            await pilot.press("escape")
            await pilot.pause()
            rungs.append(state())

        assert rungs == [(False,) * done + (True,) * (5 - done) for done in range(6)]
        assert is_running(app)
        assert app.toasts == []


async def test_what_the_mouse_marked_is_let_go_before_anything_else_is_left(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await running(app, pilot)
        app.main.selections = {app.main.conversation: Selection(Offset(0, 0), Offset(5, 1))}
        await until(pilot, lambda: not app.main.conversation.follow.is_tail)
        await pilot.press("escape")
        await until(pilot, lambda: not app.main.selections)
        assert not app.main.conversation.follow.is_tail
        await pilot.press("escape")
        await until(pilot, lambda: app.main.conversation.follow.is_tail)
        assert app.toasts == []


async def test_what_is_marked_in_the_prompt_is_let_go_and_stays_typed(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await running(app, pilot)
        await pilot.press(*"abc", "shift+home", "escape")
        assert app.main.prompt.selection.is_empty
        assert app.main.prompt.text == "abc"
        assert app.toasts == []


async def test_editing_a_queued_message_is_left_first(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await running(app, pilot)
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        await pilot.press(*"draft")
        await pilot.press("ctrl+a", "ctrl+k", "up", "enter")
        await until(pilot, lambda: app.main.prompt.item_id is not None)
        await pilot.press("escape")
        assert app.main.prompt.item_id is None
        assert app.toasts == []


async def test_reading_further_up_in_the_conversation_goes_live(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await running(app, pilot)
        viewport = app.main.conversation._viewport
        await until(pilot, lambda: bool(viewport.seen))
        viewport.stay()
        await pilot.press("escape")
        await until(pilot, lambda: app.main.conversation.follow.is_tail)
        assert app.toasts == []


async def test_the_line_for_finding_is_closed_first(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await running(app, pilot)
        app.main.go_to("inspector")
        await until(pilot, lambda: app.main.where() == "inspector")
        await pilot.press("slash", "x", "escape")
        assert app.main.where() == "inspector"
        await pilot.press("escape")
        await until(pilot, lambda: app.main.where() == "prompt")


async def test_the_runs_that_lie_over_the_rest_are_put_away(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, (120, 40)) as pilot:
        await pilot.press("ctrl+b")
        await until(pilot, lambda: app.main.where() == "rail")
        await pilot.press("escape")
        await until(pilot, lambda: not app.main.rail.display)
        assert app.main.where() == "prompt"


@pytest.mark.parametrize("key", ["f1", "ctrl+p"])
async def test_what_lies_over_the_whole_screen_is_closed_and_nothing_else(open_engine: Engines, key: str):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await running(app, pilot)
        app.main.go_to("stream")
        await until(pilot, lambda: app.main.where() == "stream")
        await pilot.press(key)
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.where() == "stream"
        assert app.toasts == []
