"""A line in which something short is asked for."""

from collections.abc import Callable
from typing import Final

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from console.ui.shared.fields import LineField

_KEYS: Final = "enter takes it · esc leaves it"


class AskingLine(LineField):
    """Not seen until something is asked. Enter answers; who closes it has not answered."""

    DEFAULT_CSS = """
    AskingLine, AskingLine:focus { height: 3; border: round $accent; padding: 0 1; display: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.select_on_focus, self.compact = True, False
        self._then: Callable[[str], object] | None = None
        self._back: Widget | None = None
        self._needed = ""

    @property
    def is_open(self) -> bool:
        return self.display

    def ask(self, words: str, value: str, then: Callable[[str], object], *, needed: str = "") -> None:
        """Ask, with an answer that can be changed; what is typed first takes its place.

        `needed` says why nothing is no answer, where that is so.
        """
        self._then, self._back, self._needed = then, self.screen.focused, needed
        self.border_title = Content(words)
        self.border_subtitle = _KEYS
        self.value = value
        self.display = True
        self.screen.add_class("-asking")  # what is told meanwhile lies above it
        self.focus()

    def close(self) -> bool:
        """Ask no more; whether anything was asked."""
        was_open = self.is_open
        self.display = False
        self.screen.remove_class("-asking")
        self._then = None
        if was_open and self._back is not None:
            self._back.focus()
        return was_open

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._needed and not event.value.strip():
            self.border_subtitle = f"{self._needed} · {_KEYS}"
            return
        then = self._then
        self.close()
        if then is not None:
            then(event.value)
