"""Delivers keys one after another: each reaches the widget that the key before it has focused."""

import asyncio
from collections import deque
from typing import Final

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.widgets import Input, TextArea

MAX_ROUNDS: Final = 6
"""Rounds of waiting for the effects of a key: it posts a message, whose handler may post another, and so on."""
MAX_KEY_SECONDS: Final = 0.5
"""Seconds after which the next key no longer waits."""


class KeyOrder(App[None]):
    """Holds back keys until the key before them has had its effect.

    Textual (8.2.8) delivers all keys of one read to the widget that has the focus at that time, but the effects of a
    key come later, by messages. Of `/tool`, typed fast or sent by a program, the letters would reach the pane that
    has just opened its filter line, as commands.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[events.Key | events.Paste] = deque()
        """Keys and pastes that are not delivered yet."""
        self._typed_path: list[MessagePump] = []
        """The widgets that may still have to handle text that was delivered."""
        self._settling: asyncio.Task[None] | None = None
        """Waits for the effects of the last key."""

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and event.key.startswith("alt+") and event.key in self.screen.active_bindings:
            event.character = None  # otherwise a focused text would insert the letter first
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._waiting.append(event)
            await self._deliver()
        else:
            await super().on_event(event)

    async def _deliver(self) -> None:
        while self._waiting and self._settling is None:
            event, focused = self._waiting[0], self.focused
            path: list[MessagePump] = [*(focused or self.screen).ancestors_with_self]
            # Text for a text field moves no focus, and there may be much of it: it is not waited for one by one.
            is_text = isinstance(event, events.Paste) or event.is_printable
            is_typing = is_text and isinstance(focused, Input | TextArea)
            if self._typed_path and not is_typing:  # a command on the text must find all of it
                path, self._typed_path = self._typed_path, []
            else:
                self._waiting.popleft()
                await super().on_event(event)
            if is_typing:
                self._typed_path = path
            else:
                self._settling = asyncio.create_task(self._settle(path))

    async def _settle(self, path: list[MessagePump]) -> None:
        """Wait until the focused widget and its ancestors have handled a key and the messages that followed."""
        try:
            async with asyncio.timeout(MAX_KEY_SECONDS):
                for _ in range(MAX_ROUNDS):
                    # A screen that the key opened or went back to sets its focus first.
                    nodes = dict.fromkeys([*path, *self.screen_stack[-1:]])
                    for node in nodes:
                        await _handle_queued_messages(node)
                    if not any(node.message_queue_size for node in nodes):
                        break
        except TimeoutError:
            pass  # a widget on the path was removed, or is slow
        finally:
            self._settling = None
            self.call_later(self._deliver)


async def _handle_queued_messages(node: MessagePump) -> None:
    """Wait until a node has handled the messages that it has now."""
    handled = asyncio.Event()
    if node.call_later(handled.set):
        await handled.wait()
