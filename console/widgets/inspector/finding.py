"""The line in which one types what to find."""

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

from console.bindings import bindings_for


class FindBar(Horizontal):
    """There while one types, and as long as nothing is found."""

    DEFAULT_CSS = """
    FindBar { height: 1; display: none; }
    FindBar Label { width: auto; color: $text-muted; padding: 0 1; }
    FindBar Input { height: 1; border: none; padding: 0; width: 1fr; background: $boost; }
    """

    place: ClassVar[str] = "find"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("find")

    @dataclass
    class Wanted(Message):
        """Someone wants this text found."""

        text: str

    @dataclass
    class Left(Message):
        """Someone does not want to find anything after all."""

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
        """Say that there is nothing like it, or go away."""
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
