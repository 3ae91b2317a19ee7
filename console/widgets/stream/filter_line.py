"""Where a filter is typed."""

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from console.bindings import bindings_for
from console.model.stream.filters import GRAMMAR


class FilterLine(Input):
    """One line at the bottom of the pane. Enter applies it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("filter")
    DEFAULT_CSS = """
    FilterLine { dock: bottom; height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    FilterLine:focus { border: none; }
    """

    class Left(Message):
        """It was left as it was."""

    def __init__(self) -> None:
        super().__init__(placeholder=GRAMMAR, select_on_focus=False)

    def action_leave(self) -> None:
        self.post_message(self.Left())
