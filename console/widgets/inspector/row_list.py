"""The list that every tab of the inspector is shown in. It draws the rows that are seen, and no others are made."""

from dataclasses import dataclass
from time import monotonic
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from console.model.glyphs import Glyphs
from console.model.inspect.sheet import Row, Source
from console.model.safe import one_line
from console.widgets.guard import Guarded

TONES = (
    "text", "faint", "strong", "heading", "key", "index", "string", "number", "word", "object", "array", "jump",
    "good", "bad", "warn", "added", "changed", "removed", "again",
)  # fmt: skip
WHEEL = 3


@dataclass
class View:
    """What is shown, and where in it one is."""

    source: Source
    cursor: int = 0
    top: int = 0


class RowList(Guarded, Widget, can_focus=True):
    """Keeps no more than the place of the cursor and of the first row."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", *(f"rows--{tone}" for tone in TONES)}
    DEFAULT_CSS = """
    RowList { height: 1fr; width: 1fr; }
    RowList > .rows--cursor { background: $boost; }
    RowList:focus > .rows--cursor { background: $accent 20%; text-style: bold; }
    RowList > .rows--faint, RowList > .rows--index, RowList > .rows--object, RowList > .rows--array,
    RowList > .rows--again { color: $text-muted; }
    RowList > .rows--strong { text-style: bold; }
    RowList > .rows--heading { color: $text-primary; text-style: bold; }
    RowList > .rows--key { color: $text-accent; }
    RowList > .rows--string, RowList > .rows--good, RowList > .rows--added { color: $text-success; }
    RowList > .rows--number, RowList > .rows--word, RowList > .rows--warn, RowList > .rows--changed {
        color: $text-warning;
    }
    RowList > .rows--bad, RowList > .rows--removed { color: $text-error; }
    RowList > .rows--jump { color: $text-secondary; }
    """

    @dataclass
    class Jump(Message):
        """Someone wants to go to this entry."""

        position: int

    @dataclass
    class Folded(Message):
        """Something was folded or unfolded."""

    glyphs = Glyphs()

    def __init__(self) -> None:
        super().__init__()
        self.view: View | None = None
        self._strips: dict[tuple[int, bool], Strip] = {}
        self.moved_at = 0.0
        """When a person last moved in it."""

    # What is shown

    def show(self, view: View | None) -> None:
        """Show this where it was left."""
        self.view = view
        self._fit(self.size)

    def on_resize(self, event: events.Resize) -> None:
        self._fit(event.size)

    def _fit(self, size: Size) -> None:
        if self.view is not None and size.width:
            self.view.source.fit(size.width)
            self.view.cursor = min(self.view.cursor, max(0, self.view.source.height - 1))
            self._keep_in_sight()
        self.redraw()

    def redraw(self) -> None:
        """The rows or their colours are not what they were."""
        self._strips.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    # Moving

    def move(self, rows: int) -> None:
        self.moved_at = monotonic()
        if self.view is not None:
            self.go_to(self.view.cursor + rows)

    def go_to(self, row: int) -> None:
        """Put the cursor on a row; beyond the edges it stays at the edge."""
        if self.view is not None:
            self.view.cursor = max(0, min(row, self.view.source.height - 1))
            self._keep_in_sight()
            self.redraw()

    def _keep_in_sight(self) -> None:
        view, height = self.view, self.size.height
        if view is not None and height:
            view.top = min(view.top, view.cursor, max(0, view.source.height - height))
            view.top = max(view.top, view.cursor - height + 1)

    def _scroll(self, rows: int) -> None:
        self.moved_at = monotonic()
        if self.view is not None:
            self.view.top = max(0, min(self.view.top + rows, self.view.source.height - self.size.height))
            self.redraw()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(-WHEEL)

    def on_click(self, event: events.Click) -> None:
        """Go there; what folds, folds. Twice on a row that speaks of an entry goes to the entry."""
        view = self.view
        if view is None or view.top + event.y >= view.source.height:
            return
        self.go_to(view.top + event.y)
        row = self.row
        if row is not None and (row.is_open is not None or event.chain == 2):
            self.fold()

    # Acting

    @property
    def row(self) -> Row | None:
        """The row of the cursor."""
        if self.view is None or not self.view.source.height:
            return None
        return self.view.source.row(self.view.cursor)

    def fold(self) -> bool:
        """Fold or unfold, or go to the entry that the row speaks of; whether there was anything of it to do."""
        view, row = self.view, self.row
        if view is None or row is None:
            return False
        if row.is_open is None and row.jump is not None:
            self.post_message(self.Jump(row.jump))
            return True
        cursor, height = view.cursor, view.source.height
        self.go_to(view.source.toggle(view.cursor))
        self.post_message(self.Folded())
        return row.is_open is not None or (view.cursor, view.source.height) != (cursor, height)

    def find(self, text: str) -> bool:
        """Go to the next row that holds a text, from the first again after the last."""
        view = self.view
        if view is None or not text or not view.source.height:
            return False
        found = view.source.find(text, view.cursor)
        if found is None:
            found = view.source.find(text)
        if found is not None:
            self.go_to(found)
        return found is not None

    # Drawing

    def render_line(self, y: int) -> Strip:
        view, width = self.view, self.size.width
        row = -1 if view is None else view.top + y
        if view is None or row >= view.source.height:
            return Strip.blank(width, self.rich_style)
        is_cursor = row == view.cursor
        strip = self._strips.get((row, is_cursor))
        if strip is None:
            strip = self._strips[row, is_cursor] = self._drawn(view.source.row(row), width, is_cursor=is_cursor)
        return strip

    def _drawn(self, row: Row, width: int, *, is_cursor: bool) -> Strip:
        over = self._under_cursor() if is_cursor else Style.null()
        base = self.rich_style + over
        mark = self.glyphs["cursor"] if is_cursor and self.has_focus else " "
        glyph = "" if row.is_open is None else self.glyphs["open" if row.is_open else "folded"] + " "
        segments = [Segment(mark + " " * row.indent + glyph, base)]
        room = width - cell_len(segments[0].text)
        for piece in row.pieces:
            text = _printable(piece.text)
            wide = cell_len(text)
            if wide > room:
                text = set_cell_size(text, max(0, room - 1)) + self.glyphs["ellipsis"] if room > 0 else ""
                wide = room
            segments.append(Segment(text, self._tone(piece.tone) + over))
            room -= wide
            if room <= 0:
                break
        if row.right is not None and room > cell_len(row.right.text):
            text = _printable(row.right.text)
            segments.append(Segment(" " * (room - cell_len(text)), base))
            segments.append(Segment(text, self._tone(row.right.tone) + over))
        return Strip(segments).adjust_cell_length(width, base)

    def _under_cursor(self) -> Style:
        """The cursor's colour as it comes out over the background; a partial style would take it as opaque."""
        style = self.get_component_rich_style("rows--cursor")
        return Style(bgcolor=style.bgcolor, bold=style.bold or None)

    def _tone(self, tone: str) -> Style:
        return self.get_component_rich_style(f"rows--{tone}") if tone in TONES else self.rich_style

    def on_focus(self) -> None:
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()


def _printable(text: str) -> str:
    """The rows are harmless already; what nobody thought of ends here."""
    return text if text.isprintable() else one_line(text, 10 * len(text))
