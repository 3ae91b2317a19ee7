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


async def focus_pane(pilot: Pilot[Any], app: RecordingConsole, pane: str) -> None:
    app.main.go_to(pane)
    await until(pilot, lambda: app.main.where() == pane)


# Focus


@pytest.mark.parametrize("size", SIZES)
async def test_prompt_has_the_focus_at_start_and_after_every_send(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        assert app.main.where() == "prompt"
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        assert app.main.where() == "prompt"
        await focus_pane(pilot, app, "conversation")
        await pilot.press(*"more")
        await until(pilot, lambda: app.main.prompt.text == "more")
        await pilot.press("enter")
        await sees(pilot, "1 queued")
        assert app.main.where() == "prompt"


@pytest.mark.parametrize("size", SIZES)
async def test_tab_and_shift_tab_cycle_through_the_panes(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        for key, expected in (("tab", (*PANES[1:], PANES[0])), ("shift+tab", (*PANES[:0:-1], PANES[0]))):
            visited: list[str] = []
            for pane in expected:
                await pilot.press(key)
                await until(pilot, lambda pane=pane: app.main.where() == pane)
                visited.append(app.main.where())
            assert tuple(visited) == expected


async def test_tab_skips_hidden_panes(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, (120, 40)) as pilot:
        visited: list[str] = []
        for _ in range(4):
            before = app.main.where()
            await pilot.press("tab")
            await until(pilot, lambda before=before: app.main.where() != before)
            visited.append(app.main.where())
        assert visited == ["conversation", "stream", "inspector", "prompt"]


@pytest.mark.parametrize("size", SIZES)
async def test_digits_select_panes_outside_of_text_fields(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await focus_pane(pilot, app, "stream")
        for key, pane in (("4", "rail"), ("2", "stream"), ("3", "inspector")):
            await pilot.press(key)
            await until(pilot, lambda pane=pane: app.main.where() == pane)
        await pilot.press("2")
        await pilot.pause()
        assert app.main.where() == "inspector"
        assert app.main.inspector.tab == "state"
        await focus_pane(pilot, app, "rail")
        await pilot.press("1")
        await until(pilot, lambda: app.main.where() == "prompt")
        await pilot.press("2")
        assert app.main.prompt.text == "2"


async def test_digits_are_typed_from_the_conversation(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await focus_pane(pilot, app, "conversation")
        await pilot.press("2")
        await until(pilot, lambda: app.main.prompt.text == "2")
        assert app.main.where() == "prompt"


async def test_function_keys_work_in_every_pane(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        for pane in PANES:
            app.toasts.clear()
            await focus_pane(pilot, app, pane)
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


async def test_unavailable_command_shows_the_reason(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        for pane, key, why in REASONS:
            app.toasts.clear()
            await focus_pane(pilot, app, pane)
            await pilot.press(key)
            await until(pilot, lambda: bool(app.toasts))
            assert app.toasts == [why]


async def test_breakpoint_cannot_be_set_after_the_run_has_ended(open_engine: Engines):
    cue = Cue()
    app = recording_console(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        cue.go()
        cue.go()
        await until(pilot, lambda: not app.services.situation.is_running)
        await focus_pane(pilot, app, "stream")
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
            await focus_pane(pilot, app, pane)
            await pilot.press("f1")
            await sees(pilot, f"Help · {pane}", with_keys(ABOUT[pane])[:30])
            await until(pilot, lambda: _is_laid_out(app))
            await pilot.press("end")
            await sees(pilot, "▾ unfolded")
            await pilot.press("f1")
            await until(pilot, lambda: app.screen is app.main)
            assert app.main.where() == pane


async def test_help_is_about_the_open_full_screen(open_engine: Engines):
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
