"""Keys on the whole screen: where they move the focus, and the reason that is shown if a key has no effect."""

from typing import Any

import pytest
from textual.pilot import Pilot

from console.model.commands.help import ABOUT
from console.model.commands.key_labels import with_keys
from tests.support.console.pilot import NARROW, SIZES, WIDE, Cue, at_the_screen, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole, recording_console
from tests.support.engines import Engines

PANES = ("prompt", "queue", "conversation", "stream", "inspector", "rail")
SCREENS = {
    "app.runners": "runners", "app.settings": "form", "app.compose": "composer", "app.artifacts": "artifacts",
    "app.sessions": "sessions", "app.states": "states",
}  # fmt: skip


async def in_pane(pilot: Pilot[Any], app: RecordingConsole, pane: str) -> None:
    app.main.go_to(pane)
    await until(pilot, lambda: app.main.where() == pane)


# Focus


@pytest.mark.parametrize("size", SIZES)
async def test_the_prompt_has_the_focus_at_the_start_and_after_every_send(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        assert app.main.where() == "prompt"
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        assert app.main.where() == "prompt"
        await in_pane(pilot, app, "conversation")
        await pilot.press(*"more")
        await until(pilot, lambda: app.main.prompt.text == "more")
        await pilot.press("enter")
        await sees(pilot, "1 queued")
        assert app.main.where() == "prompt"


@pytest.mark.parametrize("size", SIZES)
async def test_tab_goes_round_the_panes_and_shift_tab_back(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        for key, wanted in (("tab", (*PANES[1:], PANES[0])), ("shift+tab", (*PANES[:0:-1], PANES[0]))):
            seen: list[str] = []
            for pane in wanted:
                await pilot.press(key)
                await until(pilot, lambda pane=pane: app.main.where() == pane)
                seen.append(app.main.where())
            assert tuple(seen) == wanted


async def test_tab_leaves_out_what_is_not_there(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, (120, 40)) as pilot:
        seen: list[str] = []
        for _ in range(4):
            before = app.main.where()
            await pilot.press("tab")
            await until(pilot, lambda before=before: app.main.where() != before)
            seen.append(app.main.where())
        assert seen == ["conversation", "stream", "inspector", "prompt"]


@pytest.mark.parametrize("size", SIZES)
async def test_digits_lead_to_panes_from_where_nothing_is_typed(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await in_pane(pilot, app, "stream")
        for key, pane in (("4", "rail"), ("2", "stream"), ("3", "inspector")):
            await pilot.press(key)
            await until(pilot, lambda pane=pane: app.main.where() == pane)
        await pilot.press("2")
        await pilot.pause()
        assert app.main.where() == "inspector"
        assert app.main.inspector.tab == "state"
        await in_pane(pilot, app, "rail")
        await pilot.press("1")
        await until(pilot, lambda: app.main.where() == "prompt")
        await pilot.press("2")
        assert app.main.prompt.text == "2"


async def test_digits_are_typed_from_the_conversation(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await in_pane(pilot, app, "conversation")
        await pilot.press("2")
        await until(pilot, lambda: app.main.prompt.text == "2")
        assert app.main.where() == "prompt"


async def test_function_keys_are_heard_in_every_pane(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        for pane in PANES:
            app.toasts.clear()
            await in_pane(pilot, app, pane)
            await pilot.press("f7")
            await until(pilot, lambda: bool(app.toasts))
            assert app.toasts == ["The run is not paused. f6 pauses it at its next steering point."]


# Reasons for commands that are not available


REASONS = (
    ("prompt", "enter", "The prompt is empty. Type a message first."),
    ("prompt", "ctrl+t", "No run in progress. Messages are sent at once."),
    ("prompt", "up", "No earlier message."),
    ("stream", "y", "No entries yet."),
    ("stream", "b", "No entries yet."),
    ("stream", "X", "No filter is set."),
    ("conversation", "enter", "No messages yet."),
    ("inspector", "y", "This tab is empty."),
    ("inspector", "r", "Only the Calls tab can be sorted. Press 5 to open it."),
    ("rail", "enter", "There are no runs yet."),
    ("rail", "f8", "No run in progress."),
    ("stream", "f5", "There is nothing to run again. Send a message first."),
)


async def test_what_cannot_be_done_says_why(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        for pane, key, why in REASONS:
            app.toasts.clear()
            await in_pane(pilot, app, pane)
            await pilot.press(key)
            await until(pilot, lambda: bool(app.toasts))
            assert app.toasts == [why]


async def test_a_run_that_is_over_cannot_be_held_on_a_kind(open_engine: Engines):
    cue = Cue()
    app = recording_console(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        cue.go()
        cue.go()
        await until(pilot, lambda: not app.services.situation.is_running)
        await in_pane(pilot, app, "stream")
        await pilot.press("b")
        await until(pilot, lambda: bool(app.toasts))
        assert app.toasts == ["No run in progress."]


# Help


def _is_laid_out(app: RecordingConsole) -> bool:
    """The open help can be scrolled, or all of it is visible."""
    return app.screen.query_one("VerticalScroll").max_scroll_y > 0 or "▾ unfolded" in shown(app)


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 15)])
async def test_help_is_about_the_pane_and_scrolls_to_its_end(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        for pane in ("prompt", "stream", "inspector"):
            await in_pane(pilot, app, pane)
            await pilot.press("f1")
            await sees(pilot, f"Help · {pane}", with_keys(ABOUT[pane])[:30])
            await until(pilot, lambda: _is_laid_out(app))
            await pilot.press("end")
            await sees(pilot, "▾ unfolded")
            await pilot.press("f1")
            await until(pilot, lambda: app.screen is app.main)
            assert app.main.where() == pane


async def test_help_is_about_the_screen_that_lies_over_the_panes(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        for command, place in SCREENS.items():
            await app.action_perform(command)
            await until(pilot, lambda: app.services.full_screen is not None)
            await pilot.press("f1")
            await sees(pilot, f"Help · {place}", with_keys(ABOUT[place])[:30])
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.services.full_screen)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
