"""Keys reach the screen one after another: each goes to where the one before it has led."""

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

from textual import events
from textual.message_pump import MessagePump
from textual.widgets import Input, TextArea

if TYPE_CHECKING:
    from textual.app import App

    _App = App[None]
else:
    _App = object

ROUNDS: Final = 6
"""How often it is asked whether a key has had its effect: a key makes a message, and that another, at most."""
KEY_WAIT_SECONDS: Final = 0.5
"""Seconds after which a key that has no end keeps the others waiting no longer."""


class KeyOrder(_App):
    """The part of the app that hands out keys.

    Textual (8.2.8) gives all that came at once to what has the focus then. What a key does comes later, by messages:
    so of `/tool`, typed fast or sent by a program, the letters would be commands of the pane that / has just left.
    """

    def __init__(self) -> None:
        super().__init__()
        self._due: deque[events.Key | events.Paste] = deque()
        """What was typed and pasted, and has to wait."""
        self._typed: list[MessagePump] = []
        """The way of the text that was handed out and may not have been heard yet."""
        self._settling: asyncio.Task[None] | None = None
        """There while the last key may still lead elsewhere."""

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and event.key.startswith("alt+") and event.key in self.screen.active_bindings:
            event.character = None  # else what has the focus would write the letter before the key is heard
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._due.append(event)
            await self._hand_out()
        else:
            await super().on_event(event)

    async def _hand_out(self) -> None:
        while self._due and self._settling is None:
            event, focused = self._due[0], self.focused
            way: list[MessagePump] = [*(focused or self.screen).ancestors_with_self]
            # Text that goes into a text leads nowhere, and there may be much of it.
            is_text = isinstance(event, events.Paste) or event.is_printable
            is_typing = is_text and isinstance(focused, Input | TextArea)
            if self._typed and not is_typing:  # what is done with the text must find it there
                way, self._typed = self._typed, []
            else:
                self._due.popleft()
                await super().on_event(event)
            if is_typing:
                self._typed = way
            else:
                self._settling = asyncio.create_task(self._settle(way))

    async def _settle(self, way: list[MessagePump]) -> None:
        """Wait until all on a key's way up from what had the focus have heard it, and what was said because of it."""
        try:
            async with asyncio.timeout(KEY_WAIT_SECONDS):
                for _ in range(ROUNDS):
                    # A screen that it opened, or went back to, finds its focus first.
                    around = dict.fromkeys([*way, *self.screen_stack[-1:]])
                    for node in around:
                        await _has_heard(node)
                    if not any(node.message_queue_size for node in around):
                        break
        except TimeoutError:
            pass  # someone on the way is gone, or stuck
        finally:
            self._settling = None
            self.call_later(self._hand_out)


async def _has_heard(node: MessagePump) -> None:
    """Wait until one has dealt with all that was said to it before now."""
    heard = asyncio.Event()
    if node.call_later(heard.set):
        await heard.wait()
