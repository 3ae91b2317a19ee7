"""The header line: runner, session, status and queue."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import var

from console.model.run.headline import Headline
from console.model.text.piece import Piece
from console.ui.shared.styled_text import StyledText

Halves = tuple[Sequence[Piece], Sequence[Piece]]


class Header(StyledText):
    """Shows a headline in the width there is."""

    DEFAULT_CSS = """
    Header { height: 1; dock: top; padding: 0 1; background: $panel; }
    """

    headline: var[Headline | None] = var(None, always_update=True)

    def __init__(self) -> None:
        super().__init__()
        self._drawn: Halves = ((), ())

    def watch_headline(self) -> None:
        """Draw only if the visible text has changed: most ticks change nothing."""
        if self._halves() != self._drawn:
            self.refresh()

    def render(self) -> Content:
        self._drawn = self._halves()
        left, right = (self.content_of(half) for half in self._drawn)
        between = " " * max(1, self.content_size.width - cell_len(left.plain) - cell_len(right.plain))
        return Content.assemble(left, between, right)

    def _halves(self) -> Halves:
        return self.headline.fit(self.content_size.width) if self.headline is not None else ((), ())
