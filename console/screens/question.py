"""One question before something that cannot be taken back."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Static

from console.screens.dialog import Dialog


class Question(Dialog[bool]):
    """Yes or no; escape is no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "no"),
        Binding("y", "answer(True)", "yes"),
    ]
    DEFAULT_CSS = """
    Question { align: center middle; }
    Question > Vertical { width: 56; max-width: 90%; height: auto; padding: 1 2; background: $surface; }
    Question > Vertical { border: round $warning; }
    Question Horizontal { height: auto; margin-top: 1; }
    Question Button { margin-right: 2; }
    """

    def __init__(self, words: str, yes: str, no: str = "Stay") -> None:
        super().__init__()
        self._words, self._yes, self._no = words, yes, no

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._words, markup=False)
            with Horizontal():
                yield Button(f"{self._yes} (y)", variant="warning", id="yes")
                yield Button(f"{self._no} (esc)", id="no")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class Leave(Question):
    """Whether to leave; the key that asked, once more, is yes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "answer(True)", "yes", id="app.quit")]
