"""Where a filter is typed, or the number of an entry."""

from typing import ClassVar, Final

from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from console.bindings import bindings_for
from console.model.stream.filters import GRAMMAR

_DIGITS: Final = 12


class FilterLine(Input):
    """One line at the bottom of the pane. Enter applies it."""

    place: ClassVar[str] = "filter"
    """Where its commands are, in the table."""
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("filter")
    DEFAULT_CSS = """
    FilterLine { dock: bottom; height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    FilterLine:focus { border: none; }
    """

    class Left(Message):
        """It was left as it was."""

    def __init__(self, placeholder: str = GRAMMAR, restrict: str | None = None) -> None:
        super().__init__(placeholder=placeholder, restrict=restrict, select_on_focus=False)

    def open(self, value: str = "") -> None:
        """Have this to be changed."""
        self.value, self.cursor_position = value, len(value)
        self.display = True
        self.focus()

    def action_leave(self) -> None:
        self.post_message(self.Left())


class EntryLine(FilterLine):
    """The same for a number. Enter goes there."""

    def __init__(self) -> None:
        super().__init__("number of the entry to go to", restrict=rf"#?\d{{0,{_DIGITS}}}")

    @property
    def number(self) -> int | None:
        """What was typed."""
        digits = self.value.removeprefix("#")
        return int(digits) if digits else None
