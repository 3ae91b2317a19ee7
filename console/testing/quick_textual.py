"""Makes Textual cheaper in tests without changing what a test can see.

A test that starts the console, sends a message and quits takes 340 ms of processor time instead of 600: Textual drew
frames that nobody looks at, parsed the same stylesheets for every app, and after each key sent a callback to every
widget.

The patches use private parts of Textual, whose version is pinned.
"""

import asyncio
import time
import unicodedata
from typing import Any

import pytest
import textual._wait
from textual import events
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Input, TextArea

IDLE_SECONDS = 0.005
"""Textual's pilot waits until the process has been idle for 20 ms, which a console with a 33 ms tick hardly ever is."""
IDLE_TURNS = 4
"""Turns of the event loop without any message, after which the app counts as settled."""
MAX_SETTLE_SECONDS = 30.0
TICKS_FOR_ALL_PANES = 2
"""A tick with new entries leaves some panes to the next tick; a tick without any updates all of them."""

_wait_for_handlers = Pilot._wait_for_screen
_parsed_rules: dict[tuple[Any, ...], list[RuleSet]] = {}


def apply(patch: pytest.MonkeyPatch) -> None:
    """Apply all of it for one test."""
    share_parsed_stylesheets(patch)
    skip_unseen_frames(patch)
    draw_as_for_a_frame(patch)
    wait_until_settled(patch)
    patch.setattr("gc.freeze", lambda: None)  # it would keep every app of the process


def share_parsed_stylesheets(patch: pytest.MonkeyPatch) -> None:
    """Parse each stylesheet once per process and set of variables instead of once per app."""
    parse_rules = Stylesheet._parse_rules

    def parse_once(self: Stylesheet, css: str, read_from: Any, *rest: Any, **options: Any) -> list[RuleSet]:
        key = (css, read_from, rest, tuple(options.items()), tuple(self._variables.items()))
        if key not in _parsed_rules:
            _parsed_rules[key] = parse_rules(self, css, read_from, *rest, **options)
        return _parsed_rules[key]

    patch.setattr(Stylesheet, "_parse_rules", parse_once)
    patch.setattr(RuleSet, "__hash__", object.__hash__)  # the same identity, without a Python function


def skip_unseen_frames(patch: pytest.MonkeyPatch) -> None:
    """Draw nothing for the terminal that is not there. A test that reads the screen draws it at that moment."""
    render_update = Compositor.render_update

    def render_if_read(
        self: Compositor, full: bool = False, screen_stack: list[Screen[Any]] | None = None, simplify: bool = False
    ) -> Any:
        if full:
            return render_update(self, full, screen_stack, simplify)
        visible_screen_stack.set(screen_stack or [])
        self._dirty_regions.clear()
        return None

    patch.setattr(Compositor, "render_update", render_if_read)


def draw_as_for_a_frame(patch: pytest.MonkeyPatch) -> None:
    """Prepare the screen when a test reads it as Textual does before each frame.

    The screens under a dialog are drawn too. The screen is laid out again if a widget on it was removed since.

    A removed widget has no component styles any more, and drawing it raises KeyError. Textual itself always lays out
    before it draws; a test reads the screen at any moment.
    """
    render_strips = Compositor.render_strips

    def render_prepared(self: Compositor, *options: Any) -> list[Strip]:
        if self.root is not None:
            visible_screen_stack.set(self.root.app._background_screens)
            if any(widget._parent is None for widget in self.widgets):
                self.root.screen._refresh_layout()
        return render_strips(self, *options)

    patch.setattr(Compositor, "render_strips", render_prepared)


def wait_until_settled(patch: pytest.MonkeyPatch) -> None:
    """After each input, wait until the app is settled, and then for a short rest of the process."""
    patch.setattr(textual._wait, "SLEEP_GRANULARITY", IDLE_SECONDS)
    patch.setattr(textual._wait, "SLEEP_IDLE", IDLE_SECONDS / 5)
    patch.setattr(Pilot, "press", press)
    patch.setattr(Pilot, "pause", pause)
    patch.setattr(Pilot, "_wait_for_screen", wait_for_settled_screen)


async def wait_for_settled_screen(self: Pilot[Any]) -> bool:
    """Let Textual wait for the handlers in progress, and then for what they caused. Used after the mouse too."""
    is_handled = await _wait_for_handlers(self, MAX_SETTLE_SECONDS)
    await settle_and_tick(self.app)
    return is_handled


async def press(self: Pilot[Any], *keys: str) -> None:
    """Press keys one after the other. Characters typed into a text field do not wait for the process to rest."""
    app = self.app
    driver = app._driver
    assert driver is not None
    for key in keys:
        is_typing = len(key) == 1 and isinstance(app.focused, Input | TextArea)
        event = _key_event(key)
        event.set_sender(app)
        driver.send_message(event)
        await settle(app)
        if not is_typing:
            await textual._wait.wait_for_idle(0)
    await self._wait_for_screen()


def _key_event(key: str) -> events.Key:
    """Make the same event as Textual's pilot."""
    name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
    try:
        character = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(name, name)))
    except KeyError:
        character = name if len(name) == 1 else None
    return events.Key(name, character)


async def pause(self: Pilot[Any], delay: float | None = None) -> None:
    """Settle, wait, and settle again."""
    await settle(self.app)
    await (textual._wait.wait_for_idle(0) if delay is None else asyncio.sleep(delay))
    await settle_and_tick(self.app)


async def settle(app: App[Any]) -> None:
    """Wait until all messages are handled, also those that they cause, and the screen is laid out for them.

    Afterwards widgets have the regions, the focus and the component styles that follow from what happened so far. Work
    in other threads and processes may still be in progress: a test waits for its result with a condition.
    """
    idle_turns = 0
    turns = 0
    give_up_at = time.monotonic() + MAX_SETTLE_SECONDS
    while idle_turns < IDLE_TURNS and app._exception is None:
        turns += 1
        await asyncio.sleep(0 if turns < 200 else 0.001)
        if any(map(_has_messages, (app, *app._registry))) or _lay_out(app):
            idle_turns = 0
            if time.monotonic() > give_up_at:
                return
        else:
            idle_turns += 1


async def settle_and_tick(app: App[Any]) -> None:
    """Settle, and let every pane of the console show what is new, as its timer would do up to 100 ms later."""
    await settle(app)
    tick = getattr(app, "_tick", None)
    if tick is not None and any(timer._callback == tick for timer in tuple(app._timers)):
        with app._context():
            for _ in range(TICKS_FOR_ALL_PANES):
                tick()
        await settle(app)


def _has_messages(pump: MessagePump) -> bool:
    queue = pump._message_queue
    return not pump._closing and bool(pump._next_callbacks or (queue is not None and queue.qsize()))


def _lay_out(app: App[Any]) -> bool:
    """Do at once what the screen would do with its next frame. Returns False if there was nothing to do."""
    if app._batch_count or not app._screen_stacks[app._current_mode]:
        return False
    screen = app.screen
    is_due = (
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
        or screen._callbacks
    )
    if is_due and screen.is_current and screen._running and not screen._closing:
        screen._on_timer_update()
        return True
    return False
