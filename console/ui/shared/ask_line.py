"""A line at the bottom of a screen that asks for a short text."""

from collections.abc import Callable
from typing import Final

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from console.ui.shared.fields import LineField

_KEYS: Final = "enter accept · esc cancel"


class AskLine(LineField):
    """Hidden until `ask` is called. Enter submits the answer; esc, through the screen, closes the line."""

    DEFAULT_CSS = """
    AskLine, AskLine:focus { height: 3; border: round $accent; padding: 0 1; display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.select_on_focus, self.compact = True, False
        self._on_answer: Callable[[str], object] | None = None
        self._focused_before: Widget | None = None
        self._why_required = ""

    @property
    def is_open(self) -> bool:
        return self.display

    def ask(self, question: str, value: str, on_answer: Callable[[str], object], *, why_required: str = "") -> None:
        """Open the line with a value, which is selected, and call `on_answer` with the submitted text.

        `why_required` is the reason why an empty answer is not accepted, if it is not.
        """
        self._on_answer, self._focused_before, self._why_required = on_answer, self.screen.focused, why_required
        self.border_title = Content(question)
        self.border_subtitle = _KEYS
        self.value = value
        self.display = True
        self.screen.add_class("-asking")  # moves toasts above the line
        self.focus()

    def close(self) -> bool:
        """Close the line without an answer. Returns whether it was open."""
        was_open = self.is_open
        self.display = False
        self.screen.remove_class("-asking")
        self._on_answer = None
        if was_open and self._focused_before is not None:
            self._focused_before.focus()
        return was_open

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._why_required and not event.value.strip():
            self.border_subtitle = f"{self._why_required} · {_KEYS}"
            return
        on_answer = self._on_answer
        self.close()
        if on_answer is not None:
            on_answer(event.value)
