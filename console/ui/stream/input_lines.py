"""The lines that open at the bottom of the stream: filter, entry number and copy menu."""

from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from console.model.commands.key_labels import current_commands_of
from console.model.stream.filter import GRAMMAR
from console.ui.shared.bindings import action_of, bindings_for, keys_of
from console.ui.shared.fields import SafeInput

_MAX_DIGITS: Final = 12


class FilterLine(SafeInput):
    """The filter line. Enter applies the filter."""

    place: ClassVar[str] = "filter"
    """The group of its commands in the command table."""
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("filter")
    DEFAULT_CSS = """
    FilterLine { dock: bottom; height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    FilterLine:focus { border: none; }
    """

    class Closed(Message):
        """Posted when the user closes the line without a change."""

    def __init__(self, placeholder: str = GRAMMAR, restrict: str | None = None) -> None:
        super().__init__(placeholder=placeholder, restrict=restrict, select_on_focus=False)

    def open(self, value: str = "") -> None:
        """Open the line with a value to edit."""
        self.value, self.cursor_position = value, len(value)
        self.display = True
        self.focus()

    def action_leave(self) -> None:
        self.post_message(self.Closed())


class EntryLine(FilterLine):
    """The line for an entry number. Enter goes to the entry."""

    def __init__(self) -> None:
        super().__init__("Entry number", restrict=rf"#?\d{{0,{_MAX_DIGITS}}}")

    @property
    def number(self) -> int | None:
        """The typed number, or None."""
        digits = self.value.removeprefix("#")
        return int(digits) if digits else None


class CopyMenu(Static, can_focus=True):
    """The copy menu: each key copies one part of the current entry."""

    place: ClassVar[str] = "yank"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("yank")
    DEFAULT_CSS = """
    CopyMenu { height: 1; dock: bottom; background: $panel; color: $foreground; display: none; }
    """

    @dataclass
    class Chosen(Message):
        """Posted when the user chooses what to copy."""

        what: str

    class Closed(Message):
        """Posted when the user closes the menu."""

    def __init__(self) -> None:
        rows = current_commands_of("yank")
        self._keys = {key for row in rows for key in keys_of(row)}
        items = [Content.from_markup(f"[@click={action_of(row)}][b]$key[/b] $label[/]", key=row.key, label=row.label)
                 for row in rows if row.what != "close"]  # fmt: skip
        super().__init__(Content(" Copy  ") + Content("  ").join(items))

    def action_yank(self, what: str) -> None:
        self.post_message(self.Chosen(what))

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def on_key(self, event: events.Key) -> None:
        """Close the menu on any other key."""
        if event.key not in self._keys | {"tab", "shift+tab"}:
            event.stop()
            self.action_close()

    def on_blur(self) -> None:
        self.action_close()
