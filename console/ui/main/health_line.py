"""The line under the header that shows a health problem in full, or that the database is being upgraded."""

from typing import Final

from textual.content import Content
from textual.widgets import Static

from console.data.health import HealthProblem
from console.ui.shared.crash_guard import PaneGuard

UPGRADING: Final = (
    "The database is being upgraded for this version of Trackside; a large one takes minutes. Messages that you send "
    "now are delivered afterwards. Quitting is safe: the database stays as it was, and the next start begins again."
)


class HealthLine(PaneGuard, Static):
    """Shows a problem until it is over; a toast would disappear before it is read."""

    DEFAULT_CSS = """
    HealthLine { display: none; height: auto; max-height: 4; padding: 0 1; background: $panel; color: $text-error; }
    HealthLine.-said { display: block; }
    HealthLine.-upgrading { color: $text; }
    """

    def __init__(self) -> None:
        super().__init__("", id="trouble", markup=False)
        self._text = ""

    def show(self, problem: HealthProblem | None, *, is_upgrading: bool = False) -> None:
        """Show a problem or an upgrade, or hide the line."""
        text = problem.text if problem is not None else UPGRADING if is_upgrading else ""
        if text != self._text:
            self._text = text
            self.update(Content(text))
            self.set_class(bool(text), "-said")
            self.set_class(problem is None and is_upgrading, "-upgrading")
