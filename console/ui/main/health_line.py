"""The line under the header that shows a health problem in full."""

from textual.content import Content
from textual.widgets import Static

from console.data.health import HealthProblem
from console.ui.shared.crash_guard import PaneGuard


class HealthLine(PaneGuard, Static):
    """Shows a problem until it is over; a toast would disappear before it is read."""

    DEFAULT_CSS = """
    HealthLine { display: none; height: auto; max-height: 4; padding: 0 1; background: $panel; color: $text-error; }
    HealthLine.-said { display: block; }
    """

    def __init__(self) -> None:
        super().__init__("", id="trouble", markup=False)
        self._problem: HealthProblem | None = None

    def show(self, problem: HealthProblem | None) -> None:
        """Show a problem, or hide the line."""
        if problem != self._problem:
            self._problem = problem
            self.update(Content("" if problem is None else problem.text))
            self.set_class(problem is not None, "-said")
