"""A few lines beside a list: what is to be known of the thing that the cursor is on."""

from collections.abc import Iterable, Sequence

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive

from console.model.text.columns import cells, wrapped
from console.model.text.piece import Piece
from console.ui.shared.styled_text import StyledText

NAMES = "faint"
"""The tone in which a line begins that names a fact; what is said of it hangs beside the name."""


class Details(StyledText):
    """Wraps what it is given; what does not fit is cut at the end, and the last line says so. It can be scrolled."""

    lines: reactive[Sequence[Sequence[Piece]]] = reactive((), layout=True)
    top: reactive[int] = reactive(0)
    """The first row that is seen."""

    def show(self, lines: Iterable[Sequence[Piece]]) -> None:
        """Say this from now on."""
        said = tuple(lines)
        if said != self.lines:
            self.top = 0
        self.lines = said

    def page(self, pages: int) -> None:
        """Go on to what is cut, or back."""
        step = max(1, self.content_size.height - 1)  # the row of the `…` is seen then, too
        self.top = max(0, min(self._first + pages * step, self._most))

    def can_page(self, pages: int) -> bool:
        """Whether there is more that way."""
        return self._first > 0 if pages < 0 else self._first < self._most

    def why_not(self, what: str) -> str | None:
        """Why it goes neither on nor back."""
        if what == "more" and not self.can_page(1):
            return "that is all that is told of it"
        return "this is where it begins" if what == "less" and not self.can_page(-1) else None

    @property
    def _most(self) -> int:
        """The first row that is seen where the last is, too."""
        width, height = self.content_size
        return max(0, len(self._rows(width)) - height) if height else 0

    @property
    def _first(self) -> int:
        """There may be more room than when it was scrolled."""
        return min(self.top, self._most)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  (as Textual has it)
        return len(self._rows(width))

    def render(self) -> Content:
        width, height = self.content_size
        rows = self._rows(width)[self._first :]
        if 0 < height < len(rows):
            rows = [*rows[: height - 1], [Piece("…", NAMES)]]
        return Content("\n").join(self.content_of(row) for row in rows)

    def _rows(self, width: int) -> list[Sequence[Piece]]:
        return [row for line in self.lines for row in _wrapped(line, width)]


def _wrapped(line: Sequence[Piece], width: int) -> list[Sequence[Piece]]:
    if len(line) < 2 or line[0].tone != NAMES:
        return wrapped(line, width)
    name, *said = line
    hang = cells(name.text)
    first, *others = wrapped(said, width - hang)
    return [[name, *first], *([Piece(" " * hang, NAMES), *row] for row in others)]
