"""The yank menu: one line, one letter, one thing to copy."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from console.bindings import action_of, bindings_for, keys_of
from console.model.commands.naming import now_of


class YankMenu(Static, can_focus=True):
    """What can be copied of the row that the cursor is on."""

    place: ClassVar[str] = "yank"
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
        rows = now_of("yank")
        self._keys = {key for row in rows for key in keys_of(row)}
        items = [Content.from_markup(f"[@click={action_of(row)}][b]$key[/b] $words[/]", key=row.key, words=row.words)
                 for row in rows if row.what != "close"]  # fmt: skip
        super().__init__(Content(" copy  ") + Content("  ").join(items))

    def action_yank(self, what: str) -> None:
        self.post_message(self.Chosen(what))

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def on_key(self, event: events.Key) -> None:
        """Any other key closes it, and does nothing else."""
        if event.key not in self._keys | {"tab", "shift+tab"}:
            event.stop()
            self.action_close()

    def on_blur(self) -> None:
        self.action_close()
