"""The dialog that asks for the file that an artifact is saved to."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from console.model.text.safe import one_line
from console.ui.shared.dialog import Dialog
from console.ui.shared.fields import LineField


class SaveAs(Dialog[str | None]):
    """Asks for a path; the result is None if the user closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "close", priority=True)]
    own_keys = (("enter", "save"), ("esc", "close"))
    DEFAULT_CSS = """
    SaveAs { align: center middle; }
    SaveAs > Vertical { width: 70; max-width: 90%; height: auto; padding: 1 2; background: $surface;
        border: round $accent; border-subtitle-color: $text-muted; }
    SaveAs LineField { background: $boost; }
    SaveAs .wrong { height: auto; color: $text-error; }
    """

    def __init__(self, path: str, problem: str = "") -> None:
        super().__init__()
        self._path = path
        self._problem = problem
        """Why the artifact was not saved to the path that was typed before."""

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = Content("Save to which file?")
            box.border_subtitle = "enter saves · esc closes"
            yield LineField(self._path)
            if self._problem:
                yield Static(Content(f"✗ {one_line(self._problem, 400)}"), classes="wrong")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value)

    def action_leave(self) -> None:
        self.dismiss(None)
