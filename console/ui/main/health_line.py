"""What is wrong, in full, under the header; it is not there while nothing is."""

from textual.content import Content
from textual.widgets import Static

from console.data.health import HealthProblem
from console.ui.shared.crash_guard import PaneGuard


class HealthLine(PaneGuard, Static):
    """Says it until it is over: a toast would be gone before it is read."""

    DEFAULT_CSS = """
    HealthLine { display: none; height: auto; max-height: 4; padding: 0 1; background: $panel; color: $text-error; }
    HealthLine.-said { display: block; }
    """

    def __init__(self) -> None:
        super().__init__("", id="trouble", markup=False)
        self._said: HealthProblem | None = None

    def show(self, trouble: HealthProblem | None) -> None:
        """Say this, or nothing any more."""
        if trouble != self._said:
            self._said = trouble
            self.update(Content("" if trouble is None else trouble.words))
            self.set_class(trouble is not None, "-said")
