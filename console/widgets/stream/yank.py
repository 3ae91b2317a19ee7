"""The yank menu: one line, one letter, one thing to copy."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from console.bindings import action_of, bindings_for
from console.model.commands import of

_ROWS = of("yank")
_CHOICES = tuple(row for row in _ROWS if row.what != "close")
_KEYS = {key for row in _ROWS for key in row.keys.split(",")}


class YankMenu(Static, can_focus=True):
    """What can be copied of the row that the cursor is on."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("yank")
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
        items = [Content.from_markup(f"[@click={action_of(row)}][b]{row.key}[/b] $words[/]", words=row.words)
                 for row in _CHOICES]  # fmt: skip
        super().__init__(Content(" copy  ") + Content("  ").join(items))

    def action_yank(self, what: str) -> None:
        self.post_message(self.Chosen(what))

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def on_key(self, event: events.Key) -> None:
        """Any other key closes it, and does nothing else."""
        if event.key not in _KEYS | {"tab", "shift+tab"}:
            event.stop()
            self.action_close()

    def on_blur(self) -> None:
        self.action_close()
