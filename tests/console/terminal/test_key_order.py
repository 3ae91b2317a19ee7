"""Keys that arrive in a burst, as from a program, have the same effect as keys typed slowly."""

import asyncio
from typing import Any

from textual import events
from textual.pilot import Pilot

from console.ui.state.edit import EditValue
from console.ui.state.screen import StateScreen
from tests.support.console.browser_data import browsing
from tests.support.console.pilot import (
    MAX_WAIT_SECONDS,
    Cue,
    at_both_sizes,
    at_the_screen,
    go_to,
    say,
    sees,
    shown,
    until,
)
from tests.support.console.recorded_toasts import RecordingConsole, recording_console
from tests.support.engines import Engines, done, state_updated

Size = tuple[int, int]
KEY_NAMES = {"/": "slash", ":": "colon", ".": "full_stop", " ": "space"}


def burst(app: RecordingConsole, *keys: str) -> None:
    """Post all keys before the first one is handled."""
    for key in keys:
        app.post_message(events.Key(KEY_NAMES.get(key, key), key if len(key) == 1 else None))


async def start_run_and_focus(pilot: Pilot[Any], app: RecordingConsole, pane: str) -> None:
    """Start a run, wait for its message, and focus a pane."""
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")
    await go_to(pilot, app, pane)


@at_both_sizes
async def test_each_tab_of_a_burst_moves_the_focus(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run_and_focus(pilot, app, "prompt")
        burst(app, "tab", "tab", "shift+tab", "tab", "tab")
        await until(pilot, lambda: app.main.where() == "inspector")


@at_both_sizes
async def test_burst_after_slash_goes_into_the_filter(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run_and_focus(pilot, app, "stream")
        burst(app, *"/kind:message.*", "enter", "X", *"/mixed")
        await until(pilot, lambda: app.main.stream._filter_line.value == "mixed")
        assert app.main.stream._filter == ""
        assert app.toasts == []


@at_both_sizes
async def test_letter_after_y_selects_what_is_copied(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run_and_focus(pilot, app, "stream")
        burst(app, "y", "i")
        await until(pilot, lambda: bool(app.toasts))
        assert app.toasts[0].startswith("Copied id")


@at_both_sizes
async def test_up_and_d_withdraw_a_queued_message(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run_and_focus(pilot, app, "prompt")
        await say(pilot, "be brief")
        await until(pilot, lambda: len(app.main.queue.items) == 1)
        burst(app, "up", "d")
        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["withdrawn"])
        assert app.main.prompt.text == ""


@at_both_sizes
async def test_text_typed_in_the_conversation_keeps_its_order_in_the_prompt(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run_and_focus(pilot, app, "conversation")
        burst(app, *"more words", "left", "left", "!")
        await until(pilot, lambda: "!" in app.main.prompt.text)
        assert app.main.prompt.text == "more wor!ds"


@at_both_sizes
async def test_burst_after_slash_goes_into_the_search_of_the_inspector(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run_and_focus(pilot, app, "inspector")
        burst(app, *"/nowhere", "enter", "n", "tab")
        await until(pilot, lambda: app.main.where() in ("prompt", "rail"))
        await go_to(pilot, app, "inspector")
        await sees(pilot, "No row contains 'nowhere'")


@at_both_sizes
async def test_text_after_the_palette_key_goes_into_the_palette(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run_and_focus(pilot, app, "stream")
        burst(app, "ctrl+p", *"zoom")
        await until(pilot, lambda: getattr(app.screen.focused, "value", "") == "zoom")
        assert "zoom" in shown(app).lower()


async def test_paste_goes_to_the_widget_focused_by_the_key_before_it(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run_and_focus(pilot, app, "stream")
        burst(app, "/")
        app.post_message(events.Paste("kind:tool.*"))
        burst(app, "left", "x")
        await until(pilot, lambda: app.main.stream._filter_line.value == "kind:tool.x*")


async def test_long_burst_with_enter_is_one_message_during_a_run(open_engine: Engines):
    app = recording_console(open_engine, Cue())
    text = "a long thing to say " * 50
    async with at_the_screen(app) as pilot:
        await start_run_and_focus(pilot, app, "prompt")
        burst(app, *text, ".", "enter", "y", "o")
        await until(pilot, lambda: len(app.main.queue.items) == 1 and app.main.prompt.text == "yo")
        assert app.services.updater.item_text(app.main.queue.items[0].item_id) == f"{text}."


@at_both_sizes
async def test_value_typed_right_before_the_save_key_is_saved_whole(open_engine: Engines, size: Size):
    async def stores_number(ctx: Any):
        yield state_updated("count", int(ctx.input.to_text()))
        yield done("kept")

    app = browsing(open_engine, ("kyoto", ("555",)), runner=stores_number)
    async with at_the_screen(app, size) as pilot:
        await app.action_perform("app.states")
        await until(pilot, lambda: isinstance(app.screen, StateScreen) and app.screen.row is not None)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditValue) and app.screen.area.has_focus)
        burst(app, "end", *"7777", "f4")
        await until(pilot, lambda: isinstance(app.screen, StateScreen))
        await sees(pilot, "5557777")
        (row,) = await app.active_session.engine.state.browse()
        assert row.glimpse == "5557777"


async def test_blocked_pane_does_not_delay_keys_of_other_panes(open_engine: Engines):
    app, may_continue = recording_console(open_engine), asyncio.Event()
    async with at_the_screen(app) as pilot:
        await start_run_and_focus(pilot, app, "stream")
        app.main.stream._lines.call_later(may_continue.wait)
        burst(app, "j")
        app.call_later(app.main.set_focus, app.main.prompt)
        burst(app, "a")
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                while app.main.prompt.text != "a":  # noqa: ASYNC110  (the pilot would wait for the pane)
                    await asyncio.sleep(0.02)
        finally:
            may_continue.set()
