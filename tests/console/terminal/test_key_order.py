"""Keys that come all at once, as from a fast hand or a program: each does what it does when typed slowly."""

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
NAMES = {"/": "slash", ":": "colon", ".": "full_stop", " ": "space"}


def burst(app: RecordingConsole, *keys: str) -> None:
    """All of these are there before the first is heard."""
    for key in keys:
        app.post_message(events.Key(NAMES.get(key, key), key if len(key) == 1 else None))


async def after_a_word(pilot: Pilot[Any], app: RecordingConsole, pane: str) -> None:
    """A run has answered, and a pane has the keys."""
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")
    await go_to(pilot, app, pane)


@at_both_sizes
async def test_two_tabs_lead_two_panes_further(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await after_a_word(pilot, app, "prompt")
        burst(app, "tab", "tab", "shift+tab", "tab", "tab")
        await until(pilot, lambda: app.main.where() == "inspector")


@at_both_sizes
async def test_a_filter_is_typed_into_its_line(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await after_a_word(pilot, app, "stream")
        burst(app, *"/kind:message.*", "enter", "X", *"/mixed")
        await until(pilot, lambda: app.main.stream._filter_line.value == "mixed")
        assert app.main.stream._filter == ""
        assert app.toasts == []


@at_both_sizes
async def test_a_letter_behind_y_chooses_what_is_copied(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await after_a_word(pilot, app, "stream")
        burst(app, "y", "i")
        await until(pilot, lambda: bool(app.toasts))
        assert app.toasts[0].startswith("Copied id")


@at_both_sizes
async def test_up_and_d_withdraws_what_waits(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await after_a_word(pilot, app, "prompt")
        await say(pilot, "be brief")
        await until(pilot, lambda: len(app.main.queue.items) == 1)
        burst(app, "up", "d")
        await until(pilot, lambda: [item.fate for item in app.main.queue.items] == ["withdrawn"])
        assert app.main.prompt.text == ""


@at_both_sizes
async def test_what_is_typed_in_the_conversation_is_in_the_prompt_in_its_order(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await after_a_word(pilot, app, "conversation")
        burst(app, *"more words", "left", "left", "!")
        await until(pilot, lambda: "!" in app.main.prompt.text)
        assert app.main.prompt.text == "more wor!ds"


@at_both_sizes
async def test_what_to_find_is_typed_into_its_line_and_n_goes_on(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await after_a_word(pilot, app, "inspector")
        burst(app, *"/nowhere", "enter", "n", "tab")
        await until(pilot, lambda: app.main.where() in ("prompt", "rail"))
        await go_to(pilot, app, "inspector")
        await sees(pilot, "No row contains 'nowhere'")


@at_both_sizes
async def test_the_palette_gets_what_is_typed_behind_its_key(open_engine: Engines, size: Size):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await after_a_word(pilot, app, "stream")
        burst(app, "ctrl+p", *"zoom")
        await until(pilot, lambda: getattr(app.screen.focused, "value", "") == "zoom")
        assert "zoom" in shown(app).lower()


async def test_a_paste_goes_where_the_key_before_it_led(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await after_a_word(pilot, app, "stream")
        burst(app, "/")
        app.post_message(events.Paste("kind:tool.*"))
        burst(app, "left", "x")
        await until(pilot, lambda: app.main.stream._filter_line.value == "kind:tool.x*")


async def test_many_letters_and_enter_are_one_message_while_a_run_is_at_work(open_engine: Engines):
    app = recording_console(open_engine, Cue())
    text = "a long thing to say " * 50
    async with at_the_screen(app) as pilot:
        await after_a_word(pilot, app, "prompt")
        burst(app, *text, ".", "enter", "y", "o")
        await until(pilot, lambda: len(app.main.queue.items) == 1 and app.main.prompt.text == "yo")
        assert app.services.updater.item_text(app.main.queue.items[0].item_id) == f"{text}."


@at_both_sizes
async def test_a_value_is_saved_as_it_was_typed_right_before_the_key_that_saves(open_engine: Engines, size: Size):
    async def counting(ctx: Any):
        yield state_updated("count", int(ctx.input.to_text()))
        yield done("kept")

    app = browsing(open_engine, ("kyoto", ("555",)), runner=counting)
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


async def test_a_pane_that_is_stuck_does_not_keep_keys_from_others(open_engine: Engines):
    app, is_free = recording_console(open_engine), asyncio.Event()
    async with at_the_screen(app) as pilot:
        await after_a_word(pilot, app, "stream")
        app.main.stream._lines.call_later(is_free.wait)
        burst(app, "j")
        app.call_later(app.main.set_focus, app.main.prompt)
        burst(app, "a")
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                while app.main.prompt.text != "a":  # noqa: ASYNC110  (the pilot would wait for the pane)
                    await asyncio.sleep(0.02)
        finally:
            is_free.set()
