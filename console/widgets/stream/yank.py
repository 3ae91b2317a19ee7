"""The yank menu: one line, one letter, one thing to copy."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

CHOICES = {
    "e": ("event", "event JSON"),
    "p": ("payload", "payload"),
    "t": ("text", "text"),
    "i": ("id", "id"),
    "r": ("reproduce", "reproduce"),
}
"""A letter, what it names, and what the menu calls it."""


class YankMenu(Static, can_focus=True):
    """What can be copied of the row that the cursor is on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"yank('{key}')", words, id=f"yank.{what}") for key, (what, words) in CHOICES.items()),
        Binding("escape", "close", "close", id="yank.close"),
    ]
    DEFAULT_CSS = """
    YankMenu { height: 1; dock: bottom; background: $panel; color: $foreground; display: none; }
    """

    @dataclass
    class Chosen(Message):
        """One letter was pressed."""

        what: str

    class Closed(Message):
        """None was."""

    def __init__(self) -> None:
        items = [Content.from_markup(f"[@click=yank('{key}')][b]{key}[/b] $words[/]", words=words)
                 for key, (_, words) in CHOICES.items()]  # fmt: skip
        super().__init__(Content(" copy  ") + Content("  ").join(items))

    def action_yank(self, key: str) -> None:
        self.post_message(self.Chosen(CHOICES[key][0]))

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def on_key(self, event: events.Key) -> None:
        """Any other key closes it, and does nothing else."""
        if event.key not in (*CHOICES, "escape", "tab", "shift+tab"):
            event.stop()
            self.action_close()

    def on_blur(self) -> None:
        self.action_close()
