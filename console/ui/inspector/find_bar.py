"""The search line of the inspector."""

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

from console.ui.shared.bindings import bindings_for


class FindBar(Horizontal):
    """Shown while the user types, and while nothing is found."""

    DEFAULT_CSS = """
    FindBar { height: 1; display: none; }
    FindBar Label { width: auto; color: $text-muted; padding: 0 1; }
    FindBar Input { height: 1; border: none; padding: 0; width: 1fr; background: $boost; }
    """

    place: ClassVar[str] = "find"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("find")

    @dataclass
    class Wanted(Message):
        """Posted when the user searches for a text."""

        text: str

    @dataclass
    class Left(Message):
        """Posted when the user leaves the line."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._input = Input(placeholder="find, then n for the next")
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

    def tell(self, *, found: bool) -> None:
        """Show that nothing was found, or close."""
        self.display = not found
        self._input.display = False
        self._note.update(f"Nothing here holds {self.text!r:.60}." if self.text else "Type / and what to find first.")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.text = event.value or self.text
        self.post_message(self.Wanted(self.text))

    def action_leave(self) -> None:
        self.hide()
        self.post_message(self.Left())
