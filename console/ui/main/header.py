"""The line at the top."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import var

from console.model.run.headline import Headline
from console.model.text.piece import Piece
from console.ui.shared.styled_text import StyledText

Halves = tuple[Sequence[Piece], Sequence[Piece]]


class Header(StyledText):
    """Who runs, where it stands, and what waits."""

    DEFAULT_CSS = """
    Header { height: 1; dock: top; padding: 0 1; background: $panel; }
    """

    headline: var[Headline | None] = var(None, always_update=True)

    def __init__(self) -> None:
        super().__init__()
        self._painted: Halves = ((), ())

    def watch_headline(self) -> None:
        """Most ticks change nothing that is seen; then nothing is painted."""
        if self._halves() != self._painted:
            self.refresh()

    def render(self) -> Content:
        """Both halves, with what is left between them."""
        self._painted = self._halves()
        left, right = (self.content_of(half) for half in self._painted)
        between = " " * max(1, self.content_size.width - cell_len(left.plain) - cell_len(right.plain))
        return Content.assemble(left, between, right)

    def _halves(self) -> Halves:
        return self.headline.fit(self.content_size.width) if self.headline is not None else ((), ())
