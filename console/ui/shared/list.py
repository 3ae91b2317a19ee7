"""A list with headings: they say what follows, and the cursor passes over them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from time import monotonic
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.widget import Widget

from console.model.text.columns import broken
from console.model.text.glyphs import GLYPHS
from console.model.text.lists import Item, ListItems, Row, Source
from console.model.text.safe import one_line
from console.ui.shared.crash_guard import PaneGuard

TONES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("faint", "index", "object", "array", "again"), "$text-muted"),
    **dict.fromkeys(("string", "good", "added"), "$text-success"),
    **dict.fromkeys(("number", "word", "warn", "changed"), "$text-warning"),
    **dict.fromkeys(("bad", "removed"), "$text-error"),
    "strong": "bold", "heading": "bold $text-primary", "key": "$text-accent", "jump": "$text-secondary",
}  # fmt: skip
WHEEL: Final = 3
KEPT: Final = 1_000
"""Lines that are drawn ahead at most: those that were seen, for who goes back to them."""


@dataclass
class View:
    """What is shown, and where in it one is."""

    source: Source
    cursor: int = 0
    top: int = 0


class RowList(PaneGuard, Widget, can_focus=True):
    """Keeps no more than the place of the cursor and of the first row.

    Its tones are styles and not component classes, of which Textual works out all whenever a screen is opened or the
    focus moves: that was a third of what it took to open one.
    """

    DEFAULT_CSS = """
    RowList { height: 1fr; width: 1fr; }
    """

    @dataclass
    class Jump(Message):
        """Someone wants to go to this entry."""

        position: int

    @dataclass
    class Folded(Message):
        """Something was folded or unfolded."""

    is_marked = False
    """Whether the cursor is seen though the keys come from elsewhere."""
    is_quiet = False
    """Whether nothing of it is seen then."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (as Textual has it)
        super().__init__(id=id)
        self.view: View | None = None
        self._strips: dict[tuple[int, bool], Strip] = {}
        self._looks: dict[str, Style] = {}
        self.moved_at = 0.0
        """When a person last moved in it."""

    # What is shown

    def show(self, view: View | None) -> None:
        """Show this where it was left."""
        self.view = view
        self._fit(self.size)

    def on_resize(self) -> None:
        self._fit(self.size)  # the event's would be with the padding

    def _fit(self, size: Size) -> None:
        if self.view is not None and size.width:
            self.view.source.fit(size.width)
            self.view.cursor = min(self.view.cursor, max(0, self.view.source.height - 1))
            self._keep_in_sight()
        self.redraw()

    def redraw(self) -> None:
        """The rows or their colours are not what they were."""
        self._strips.clear()
        self._looks.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._looks.clear()

    # Moving

    def move(self, rows: int) -> None:
        self.moved_at = monotonic()
        if self.view is not None:
            self.go_to(self.view.cursor + rows)

    def page(self, pages: int) -> None:
        self.move(pages * max(1, self.size.height - 1))

    def edge(self, *, is_last: bool) -> None:
        if self.view is not None:
            self.move(self.view.source.height if is_last else -self.view.source.height)

    def go_to(self, row: int) -> None:
        """Put the cursor on a row; beyond the edges it stays at the edge."""
        if (view := self.view) is None:
            return
        cursor, top = view.cursor, view.top
        view.cursor = max(0, min(row, view.source.height - 1))
        self._keep_in_sight()
        if view.top != top:
            self.refresh()
        elif view.cursor != cursor:
            self.refresh(*(Region(0, at - top, self.size.width, 1) for at in (cursor, view.cursor)))

    def _keep_in_sight(self) -> None:
        view, height = self.view, self.size.height
        if view is not None and height:
            view.top = min(view.top, view.cursor, max(0, view.source.height - height))
            view.top = max(view.top, view.cursor - height + 1)

    def _scroll(self, rows: int) -> None:
        self.moved_at = monotonic()
        if self.view is not None:
            self.view.top = max(0, min(self.view.top + rows, self.view.source.height - self.size.height))
            self.refresh()

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

    def landings(self) -> Iterator[Offset]:
        """Where its rows begin that can be gone to: of what is only told, those that fold or lead to an entry."""
        view = self.view
        seen = 0 if view is None else min(self.size.height, view.source.height - view.top)
        yield from (Offset(0, at) for at in range(seen) if view is not None and self._can_go_to(view.top + at))

    def _can_go_to(self, index: int) -> bool:
        row = self.view.source.row(index) if self.view is not None else None
        if row is None or row.is_open is not None or row.jump is not None:
            return row is not None
        return not self.is_quiet and any(piece.text.strip() for piece in row.pieces)

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
        self.redraw()
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
            self.redraw()  # it may have been unfolded for that
        return found is not None

    # Drawing

    def render_line(self, y: int) -> Strip:
        view, width = self.view, self.size.width
        row = -1 if view is None else view.top + y
        if view is None or row >= view.source.height:
            return Strip.blank(width, self._look(""))
        is_cursor = row == view.cursor and (self.has_focus or not self.is_quiet)
        strip = self._strips.get((row, is_cursor))
        if strip is None:
            if len(self._strips) >= KEPT:
                self._strips.clear()
            strip = self._strips[row, is_cursor] = self._drawn(view.source.row(row), width, is_cursor=is_cursor)
        return strip

    def _drawn(self, row: Row, width: int, *, is_cursor: bool) -> Strip:
        over = self._under_cursor() if is_cursor else Style.null()
        base = self._look("") + over
        mark = GLYPHS["cursor"] if is_cursor and (self.has_focus or self.is_marked) else " "
        glyph = "" if row.is_open is None else GLYPHS["open" if row.is_open else "folded"] + " "
        segments = [Segment(mark + " " * row.indent + glyph, base)]
        room = width - cell_len(segments[0].text)
        for piece in row.pieces:
            text = _printable(piece.text)
            wide = cell_len(text)
            if wide > room:
                text = set_cell_size(text, max(0, room - 1)) + GLYPHS["ellipsis"] if room > 0 else ""
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
        look = self._look("bold on $chosen" if self.has_focus else "on $boost" if self.is_marked else "")
        return Style(bgcolor=look.bgcolor, bold=look.bold or None)

    def _tone(self, tone: str) -> Style:
        return self._look(TONES.get(tone, ""))

    def _look(self, style: str) -> Style:
        look = self._looks.get(style)
        if look is None:
            look = self._looks[style] = (self.visual_style + VisualStyle.parse(style)).rich_style
        return look

    def on_focus(self) -> None:
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()


def _printable(text: str) -> str:
    """The rows are harmless already; what nobody thought of ends here."""
    return text if text.isprintable() else one_line(text, 10 * len(text))


NEAR: Final = 30
"""Rows before the end at which more is wanted."""


class Listing(RowList):
    """Keeps the cursor on the thing that it was on, whatever comes or goes around it."""

    @dataclass
    class Chosen(Message):
        """Someone clicked twice on a row."""

        listing: "Listing"

    @dataclass
    class Moved(Message):
        """The cursor is on another thing."""

        listing: "Listing"

    @dataclass
    class WantMore(Message):
        """Someone comes near the end. Said once for each length of the list."""

        listing: "Listing"

    class Empty(Message):
        """Someone wants to go through it, and there is nothing in it."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (as Textual has it)
        super().__init__(id=id)
        self.shelf = ListItems()
        self.words = ""
        """What is said where there is nothing."""
        self._asked = -1
        self._current: str | None = None
        """What the cursor was on when that was noted last: things may have come and gone since."""

    def fill(self, shelf: ListItems, words: str = "") -> None:
        """Show these; the cursor stays on its thing, or where that was."""
        place = shelf.place_of(self._current) if self._current is not None else None
        cursor, top = self._at
        drop = cursor - top
        self.shelf, self.words = shelf, words
        cursor = cursor if place is None else place
        self.show(View(shelf, cursor, max(0, cursor - drop)))
        self._note()

    def ask_again(self) -> None:
        """What it asked for was read: the rest is wanted, too, even where that made the list no longer."""
        self._asked = -1

    def start_over(self) -> None:
        """What is shown next is another list: from its top."""
        self.shelf, self._asked, self._current = ListItems(), -1, None
        self.view = View(self.shelf)

    @property
    def current(self) -> Item | None:
        """What the cursor is on."""
        cursor, _ = self._at
        return self.shelf.item(cursor) if cursor < self.shelf.height else None

    @property
    def seen(self) -> range:
        """The rows that are on the screen."""
        top = self._at[1]
        return range(top, min(self.shelf.height, top + self.size.height))

    def move(self, rows: int) -> None:
        if self.shelf.height:
            super().move(rows)
        else:
            self.post_message(self.Empty())

    def go_to(self, row: int) -> None:
        super().go_to(row)
        self._note()

    def _scroll(self, rows: int) -> None:
        super()._scroll(rows)
        self._want_more()

    def on_click(self, event: events.Click) -> None:
        """Go there; twice chooses it."""
        row = self._at[1] + event.y
        if row < self.shelf.height:
            self.go_to(row)
            if event.chain == 2:
                self.post_message(self.Chosen(self))

    def _can_go_to(self, index: int) -> bool:
        return not self.shelf.item(index).is_heading

    def render_line(self, y: int) -> Strip:
        if self.shelf.height or not self.words:
            return super().render_line(y)
        width = self.size.width
        said = [text for line in self.words.split("\n") for text in broken(line, max(1, width - 2))]
        at = y - 1 if self.size.height > len(said) else y  # an empty row above, where there is room for one
        text = f" {said[at]}" if 0 <= at < len(said) else ""
        return Strip([Segment(text, self._tone("faint"))]).adjust_cell_length(width, self.rich_style)

    # Inside

    @property
    def _at(self) -> tuple[int, int]:
        """The row of the cursor, and the first that is seen."""
        return (0, 0) if self.view is None else (self.view.cursor, self.view.top)

    def _note(self) -> None:
        current = self.current.id if self.current is not None else None
        if current != self._current:
            self._current = current
            self.post_message(self.Moved(self))
        self._want_more()

    def _want_more(self) -> None:
        cursor, top = self._at
        seen = max(cursor, top + self.size.height)
        if seen + NEAR >= self.shelf.height and self._asked != self.shelf.height:
            self._asked = self.shelf.height
            self.post_message(self.WantMore(self))


class Headed(Listing):
    """The cursor is on something that can be chosen, wherever there is such a thing."""

    def fill(self, shelf: ListItems, words: str = "") -> None:
        super().fill(shelf, words)
        self.go_to(self._at[0])

    @property
    def chosen(self) -> str | None:
        """The name of what the cursor is on."""
        current = self.current
        return None if current is None or current.is_heading else current.id

    def go_to(self, row: int) -> None:
        """The row, or the nearest in the same direction that can be chosen, or else the nearest in the other."""
        shelf, cursor = self.shelf, self._at[0]
        row = max(0, min(row, shelf.height - 1))
        onward, back = range(row, shelf.height), range(min(row, shelf.height - 1), -1, -1)
        order = chain(onward, back) if row >= cursor else chain(back, onward)
        place = next((at for at in order if not shelf.item(at).is_heading), row)
        super().go_to(place)
        if self.view is not None and place and place == self.view.top and shelf.item(place - 1).is_heading:
            self.view.top -= 1  # what it stands under is seen, too
            self.redraw()
