"""What is wrong, in full, under the header; it is not there while nothing is."""

from textual.content import Content
from textual.widgets import Static

from console.model.trouble import Trouble
from console.widgets.guard import Guarded


class TroubleLine(Guarded, Static):
    """Says it until it is over: a toast would be gone before it is read."""

    DEFAULT_CSS = """
    TroubleLine { display: none; height: auto; max-height: 4; padding: 0 1; background: $panel; color: $text-error; }
    TroubleLine.-said { display: block; }
    """

    def __init__(self) -> None:
        super().__init__("", id="trouble", markup=False)
        self._said: Trouble | None = None

    def show(self, trouble: Trouble | None) -> None:
        """Say this, or nothing any more."""
        if trouble != self._said:
            self._said = trouble
            self.update(Content("" if trouble is None else trouble.words))
            self.set_class(trouble is not None, "-said")
