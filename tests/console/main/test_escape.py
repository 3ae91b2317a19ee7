"""Esc goes back one step per press, and stops the run only at the second press in the prompt."""

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


async def start_run(app: Trackside, pilot: Pilot[Any]) -> None:
    await say(pilot, "hello")
    await sees(pilot, "▌ You said: hello")  # in the conversation; other panes may show it earlier


@pytest.mark.parametrize("size", SIZES)
async def test_first_press_in_the_prompt_warns_and_the_second_stops_the_run(
    open_engine: Engines, size: tuple[int, int]
):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run(app, pilot)
        await pilot.press("escape")
        assert app.toasts == ["Press esc again to stop the run."]
        assert is_running(app)
        await pilot.press("escape")
        await until(pilot, lambda: not is_running(app))


async def test_late_second_press_only_warns_again(open_engine: Engines, clock: FakeClock):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(app, pilot)
        await pilot.press("escape")
        clock.advance(1.6)
        await pilot.press("escape")
        assert app.toasts == ["Press esc again to stop the run."] * 2
        assert is_running(app)


async def test_press_that_leaves_a_pane_does_not_count_towards_a_stop(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(app, pilot)
        await pilot.press("escape")
        app.main.go_to("stream")
        await until(pilot, lambda: app.main.where() == "stream")
        await pilot.press("escape", "escape")
        assert app.main.where() == "prompt"
        assert app.toasts == ["Press esc again to stop the run."] * 2
        assert is_running(app)


async def test_esc_without_a_run_does_nothing(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await pilot.press("escape", "escape", "escape")
        assert app.toasts == []
        assert app.is_running


@pytest.mark.parametrize("size", SIZES)
async def test_each_press_goes_back_one_step_in_a_fixed_order(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        main = app.main
        await start_run(app, pilot)
        main.go_to("stream")
        await until(pilot, lambda: main.where() == "stream")
        await pilot.press("k")
        await narrow(pilot, app, "run")
        await pilot.press("y")
        await until(pilot, lambda: app.services.updater.as_of is not None)
        main.conversation._set_cursor(0)

        def open_steps() -> tuple[bool, ...]:
            pane = main.stream
            return (
                pane._copy_menu.display,
                main.conversation.cursor is not None,
                bool(pane._filter),
                app.services.updater.as_of is not None,
                main.where() != "prompt",
            )

        states = [open_steps()]
        for _ in range(5):
            await pilot.press("escape")
            await pilot.pause()
            states.append(open_steps())

        assert states == [(False,) * done + (True,) * (5 - done) for done in range(6)]
        assert is_running(app)
        assert app.toasts == []


async def test_first_press_clears_the_mouse_selection(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(app, pilot)
        app.main.selections = {app.main.conversation: Selection(Offset(0, 0), Offset(5, 1))}
        await until(pilot, lambda: not app.main.conversation.follow.is_tail)
        await pilot.press("escape")
        await until(pilot, lambda: not app.main.selections)
        assert not app.main.conversation.follow.is_tail
        await pilot.press("escape")
        await until(pilot, lambda: app.main.conversation.follow.is_tail)
        assert app.toasts == []


async def test_first_press_clears_the_selection_in_the_prompt_and_keeps_the_text(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(app, pilot)
        await pilot.press(*"abc", "shift+home", "escape")
        assert app.main.prompt.selection.is_empty
        assert app.main.prompt.text == "abc"
        assert app.toasts == []


async def test_first_press_cancels_the_edit_of_a_queued_message(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(app, pilot)
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        await pilot.press(*"draft")
        await pilot.press("ctrl+a", "ctrl+k", "up", "enter")
        await until(pilot, lambda: app.main.prompt.item_id is not None)
        await pilot.press("escape")
        assert app.main.prompt.item_id is None
        assert app.toasts == []


async def test_press_in_a_scrolled_conversation_follows_the_end_again(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await start_run(app, pilot)
        viewport = app.main.conversation._viewport
        await until(pilot, lambda: bool(viewport.seen))
        viewport.stay()
        await pilot.press("escape")
        await until(pilot, lambda: app.main.conversation.follow.is_tail)
        assert app.toasts == []


async def test_first_press_in_the_inspector_closes_its_search(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(app, pilot)
        app.main.go_to("inspector")
        await until(pilot, lambda: app.main.where() == "inspector")
        await pilot.press("slash", "x", "escape")
        assert app.main.where() == "inspector"
        await pilot.press("escape")
        await until(pilot, lambda: app.main.where() == "prompt")


async def test_press_hides_the_runs_list_over_the_panes(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, (120, 40)) as pilot:
        await pilot.press("ctrl+b")
        await until(pilot, lambda: app.main.where() == "rail")
        await pilot.press("escape")
        await until(pilot, lambda: not app.main.rail.display)
        assert app.main.where() == "prompt"


@pytest.mark.parametrize("key", ["f1", "ctrl+p"])
async def test_press_closes_a_dialog_and_changes_nothing_else(open_engine: Engines, key: str):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await start_run(app, pilot)
        app.main.go_to("stream")
        await until(pilot, lambda: app.main.where() == "stream")
        await pilot.press(key)
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.where() == "stream"
        assert app.toasts == []
