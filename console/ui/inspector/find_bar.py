"""The search line of the inspector."""

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

from console.model.commands.key_labels import key_of
from console.ui.shared.bindings import bindings_for
from console.ui.shared.fields import SafeInput


class FindBar(Horizontal):
    """Visible while the user types, and after a search without a match."""

    DEFAULT_CSS = """
    FindBar { height: 1; display: none; }
    FindBar Label { width: auto; color: $text-muted; padding: 0 1; }
    FindBar Input { height: 1; border: none; padding: 0; width: 1fr; background: $boost; }
    """

    place: ClassVar[str] = "find"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("find")

    @dataclass
    class Submitted(Message):
        """Posted when the user searches for a text."""

        text: str

    class Closed(Message):
        """Posted when the user closes the line."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        """The last text that was searched for."""
        self._input = SafeInput(placeholder=f"Find; then {key_of('inspector.find_next')} for the next match")
        self._note = Label("/", markup=False)

    def compose(self) -> ComposeResult:
        yield self._note
        yield self._input

    def open(self) -> None:
        self.display = self._input.display = True
        self._note.update("/")
        self._input.value = ""
        self._input.focus()

    def hide(self) -> None:
        self.display = False

    def show_result(self, *, is_found: bool) -> None:
        """Close the line if the text was found; otherwise say that it was not."""
        self.display = not is_found
        self._input.display = False
        self._note.update(
            f"No row contains {self.text!r:.60}."
            if self.text
            else f"Press {key_of('inspector.find')} to enter a text first."
        )

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.text = event.value or self.text
        self.post_message(self.Submitted(self.text))

    def action_leave(self) -> None:
        self.hide()
        self.post_message(self.Closed())
