"""A line in which something short is asked for."""

from collections.abc import Callable

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from console.widgets.fields import LineField


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

    @property
    def is_open(self) -> bool:
        return self.display

    def ask(self, words: str, value: str, then: Callable[[str], object]) -> None:
        """Ask, with an answer that can be changed; what is typed first takes its place."""
        self._then, self._back = then, self.screen.focused
        self.border_title = Content(words)
        self.border_subtitle = "enter takes it · esc leaves it"
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
        then = self._then
        self.close()
        if then is not None:
            then(event.value)
