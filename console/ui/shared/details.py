"""Wrapped text about the item under the cursor of a list."""

from collections.abc import Iterable, Sequence
from typing import Final

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive

from console.model.text.columns import cells, wrapped
from console.model.text.piece import Piece
from console.ui.shared.styled_text import StyledText

NAME_TONE: Final = "faint"
"""A line whose first piece has this tone is a name with a value; the value is indented behind the name."""


class Details(StyledText):
    """Wraps its lines. If they do not fit, the last row is `…` and the text can be scrolled."""

    lines: reactive[Sequence[Sequence[Piece]]] = reactive((), layout=True)
    top: reactive[int] = reactive(0)
    """The first visible row."""

    def show(self, lines: Iterable[Sequence[Piece]]) -> None:
        """Show other lines, from the first one."""
        new = tuple(lines)
        if new != self.lines:
            self.top = 0
        self.lines = new

    def page(self, pages: int) -> None:
        """Scroll by pages."""
        step = max(1, self.content_size.height - 1)  # so that the row under the `…` becomes visible
        self.top = max(0, min(self._first + pages * step, self._max_top))

    def can_page(self, pages: int) -> bool:
        """Whether there are more rows in this direction."""
        return self._first > 0 if pages < 0 else self._first < self._max_top

    def why_not(self, what: str) -> str | None:
        """The reason why it cannot be scrolled further, or None."""
        if what == "more" and not self.can_page(1):
            return "This is the end of the details."
        return "This is the start of the details." if what == "less" and not self.can_page(-1) else None

    @property
    def _max_top(self) -> int:
        """The first visible row if the last row is visible."""
        width, height = self.content_size
        return max(0, len(self._rows(width)) - height) if height else 0

    @property
    def _first(self) -> int:
        """The first visible row now; there may be more room than when it was scrolled."""
        return min(self.top, self._max_top)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  (as Textual has it)
        return len(self._rows(width))

    def render(self) -> Content:
        width, height = self.content_size
        rows = self._rows(width)[self._first :]
        if 0 < height < len(rows):
            rows = [*rows[: height - 1], [Piece("…", NAME_TONE)]]
        return Content("\n").join(self.content_of(row) for row in rows)

    def _rows(self, width: int) -> list[Sequence[Piece]]:
        return [row for line in self.lines for row in _wrapped(line, width)]


def _wrapped(line: Sequence[Piece], width: int) -> list[Sequence[Piece]]:
    if len(line) < 2 or line[0].tone != NAME_TONE:
        return wrapped(line, width)
    name, *value = line
    hang = cells(name.text)
    first, *others = wrapped(value, width - hang)
    return [[name, *first], *([Piece(" " * hang, NAME_TONE), *row] for row in others)]
