"""The scrolling list with a cursor: `RowList` shows the rows of a source, `ItemList` shows items."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from time import monotonic
from typing import ClassVar, Final

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
from console.ui.shared.styled_text import TONES

MAX_CACHED_STRIPS: Final = 1_000
LAST_ROW: Final = 2**31
"""A row behind all others; `go_to` and `show` move it to the last row."""


@dataclass
class View:
    """The rows that a list shows, the row of the cursor and the first visible row."""

    source: Source
    cursor: int = 0
    top: int = 0


class RowList(PaneGuard, Widget, can_focus=True):
    """A list of rows. Its only state is the view, so several views can share one list.

    Its tones are styles and not component classes: Textual computes all component classes whenever a screen is opened
    or the focus moves, which was a third of the time to open a screen.
    """

    DEFAULT_CSS = """
    RowList { height: 1fr; width: 1fr; }
    """
    WHEEL_ROWS: ClassVar[int] = 3

    @dataclass
    class Jump(Message):
        """Posted when the user opens the entry that a row refers to."""

        position: int

    @dataclass
    class Folded(Message):
        """Posted when the user folds or unfolds a row."""

    keeps_cursor = False
    """Whether the cursor is also visible without the focus."""
    only_jumps_to_links = False
    """Whether jump mode labels only rows that fold or refer to an entry."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (as Textual has it)
        super().__init__(id=id)
        self.view: View | None = None
        self.empty_text = ""
        """Shown if the list has no rows."""
        self.moved_at = 0.0
        """When the user last moved or scrolled, by the monotonic clock."""
        self._strips: dict[tuple[int, bool], Strip] = {}
        self._tone_styles: dict[str, Style] = {}

    # Content

    def show(self, view: View | None) -> None:
        """Show a view at its own cursor and scroll position."""
        self.view = view
        self._fit(self.size)

    @property
    def cursor(self) -> int:
        """The row of the cursor."""
        return 0 if self.view is None else self.view.cursor

    @property
    def row_count(self) -> int:
        return 0 if self.view is None else self.view.source.height

    @property
    def visible_rows(self) -> range:
        """The rows on the screen."""
        top = 0 if self.view is None else self.view.top
        return range(top, min(self.row_count, top + self.size.height))

    def on_resize(self) -> None:
        self._fit(self.size)  # the size of the event includes the padding

    def _fit(self, size: Size) -> None:
        if self.view is not None and size.width:
            self.view.source.fit(size.width)
            self.view.cursor = min(self.view.cursor, max(0, self.row_count - 1))
            self._scroll_to_cursor()
        self.redraw()

    def redraw(self) -> None:
        """Draw again after rows or colours have changed."""
        self._strips.clear()
        self._tone_styles.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._tone_styles.clear()

    # Moving

    def move(self, rows: int) -> None:
        self.moved_at = monotonic()
        if self.view is not None:
            self.go_to(self.view.cursor + rows)

    def page(self, pages: int) -> None:
        self.move(pages * max(1, self.size.height - 1))

    def edge(self, *, is_last: bool) -> None:
        """Move to the first or the last row."""
        self.move(self.row_count if is_last else -self.row_count)

    def go_to(self, row: int) -> None:
        """Put the cursor on a row; a row beyond an edge means the row at the edge."""
        if (view := self.view) is None:
            return
        cursor, top = view.cursor, view.top
        view.cursor = max(0, min(row, view.source.height - 1))
        self._scroll_to_cursor()
        if view.top != top:
            self.refresh()
        elif view.cursor != cursor:
            self.refresh(*(Region(0, at - top, self.size.width, 1) for at in (cursor, view.cursor)))

    def _scroll_to_cursor(self) -> None:
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
        self._scroll(self.WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(-self.WHEEL_ROWS)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor. A row that folds is toggled; a double click opens the entry that a row refers to."""
        if (clicked := self._row_at(event)) is None:
            return
        self.go_to(clicked)
        row = self.row
        if row is not None and (row.is_open is not None or event.chain == 2):
            self.fold()

    def _row_at(self, event: events.Click) -> int | None:
        """The row under the mouse, or None."""
        offset = event.get_content_offset(self)
        visible = self.visible_rows
        return visible[offset.y] if offset is not None and offset.y < len(visible) else None

    def jump_offsets(self) -> Iterator[Offset]:
        """The offsets of the rows that jump mode labels."""
        inset = self.content_region.offset - self.region.offset
        for y, row in enumerate(self.visible_rows):
            if self._is_jump_target(row):
                yield inset + Offset(0, y)

    def _is_jump_target(self, index: int) -> bool:
        row = self.view.source.row(index) if self.view is not None else None
        if row is None or row.is_open is not None or row.jump is not None:
            return row is not None
        return not self.only_jumps_to_links and any(piece.text.strip() for piece in row.pieces)

    # Commands

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.view.source.row(self.view.cursor) if self.view is not None and self.row_count else None

    def fold(self) -> bool:
        """Fold or unfold the row, or post `Jump` if it refers to an entry. Returns whether it did either."""
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
        """Go to the next row that contains a text; after the last row, search from the first."""
        view = self.view
        if view is None or not text or not view.source.height:
            return False
        found = view.source.find(text, view.cursor)
        if found is None:
            found = view.source.find(text)
        if found is not None:
            self.go_to(found)
            self.redraw()  # the search may have unfolded rows
        return found is not None

    # Drawing

    def render_line(self, y: int) -> Strip:
        view, width = self.view, self.size.width
        row = -1 if view is None else view.top + y
        if self.empty_text and not self.row_count:
            return self._empty_line(y)
        if view is None or row >= view.source.height:
            return Strip.blank(width, self._parse_style(""))
        is_cursor = row == view.cursor
        strip = self._strips.get((row, is_cursor))
        if strip is None:
            if len(self._strips) >= MAX_CACHED_STRIPS:
                self._strips.clear()
            strip = self._strips[row, is_cursor] = self._draw(view.source.row(row), width, is_cursor=is_cursor)
        return strip

    def _empty_line(self, y: int) -> Strip:
        width = self.size.width
        lines = [text for line in self.empty_text.split("\n") for text in broken(line, max(1, width - 2))]
        at = y - 1 if self.size.height > len(lines) else y  # an empty row above, if there is room for one
        text = f" {lines[at]}" if 0 <= at < len(lines) else ""
        return Strip([Segment(text, self._tone_style("faint"))]).adjust_cell_length(width, self.rich_style)

    def _draw(self, row: Row, width: int, *, is_cursor: bool) -> Strip:
        over = self._cursor_style() if is_cursor else Style.null()
        base = self._parse_style("") + over
        mark = GLYPHS["cursor"] if is_cursor and (self.has_focus or self.keeps_cursor) else " "
        glyph = "" if row.is_open is None else GLYPHS["open" if row.is_open else "folded"] + " "
        segments = [Segment(mark + " " * row.indent + glyph, base)]
        room = width - cell_len(segments[0].text)
        for piece in row.pieces:
            text = _printable(piece.text)
            columns = cell_len(text)
            if columns > room:
                text = set_cell_size(text, max(0, room - 1)) + GLYPHS["ellipsis"] if room > 0 else ""
                columns = room
            segments.append(Segment(text, self._tone_style(piece.tone) + over))
            room -= columns
            if room <= 0:
                break
        if row.right is not None and room > cell_len(row.right.text):
            text = _printable(row.right.text)
            segments.append(Segment(" " * (room - cell_len(text)), base))
            segments.append(Segment(text, self._tone_style(row.right.tone) + over))
        return Strip(segments).adjust_cell_length(width, base)

    def _cursor_style(self) -> Style:
        """The background of the cursor's row, blended: Rich takes a transparent colour as opaque."""
        style = self._parse_style("bold on $chosen" if self.has_focus else "on $boost" if self.keeps_cursor else "")
        return Style(bgcolor=style.bgcolor, bold=style.bold or None)

    def _tone_style(self, tone: str) -> Style:
        return self._parse_style(TONES.get(tone, ""))

    def _parse_style(self, text: str) -> Style:
        style = self._tone_styles.get(text)
        if style is None:
            style = self._tone_styles[text] = (self.visual_style + VisualStyle.parse(text)).rich_style
        return style

    def on_focus(self) -> None:
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()


def _printable(text: str) -> str:
    """Models remove control characters already; this is the last check before the terminal."""
    return text if text.isprintable() else one_line(text, 10 * len(text))


PREFETCH_ROWS: Final = 30
"""Rows before the end at which the list wants more items."""


class ItemList(RowList):
    """A list of items. The cursor stays on its item while items come and go, and passes over headings."""

    @dataclass
    class Chosen(Message):
        """Posted when the user double-clicks an item."""

        item_list: "ItemList"

    @dataclass
    class Moved(Message):
        """Posted when the cursor is on another item, because of the user or of new items."""

        item_list: "ItemList"

    @dataclass
    class WantMore(Message):
        """Posted when the end of the list is near, once for each length of the list."""

        item_list: "ItemList"

    class Empty(Message):
        """Posted when the user moves the cursor in an empty list."""

    chooses_on_click = False
    """Whether a single click posts `Chosen`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (as Textual has it)
        super().__init__(id=id)
        self.source = ListItems()
        self._wanted_more_at = -1
        """The length of the list when `WantMore` was posted last."""
        self._current_id: str | None = None
        """The item under the cursor when it was checked last; items may have come and gone since."""

    def fill(self, source: ListItems, empty_text: str = "") -> None:
        """Show items. The cursor stays on its item, or on its row if the item is gone."""
        place = source.place_of(self._current_id) if self._current_id is not None else None
        cursor, top = (0, 0) if self.view is None else (self.view.cursor, self.view.top)
        rows_above = cursor - top
        self.source, self.empty_text = source, empty_text
        cursor = cursor if place is None else place
        self.show(View(source, cursor, max(0, cursor - rows_above)))
        self.go_to(self.cursor)

    def want_more_again(self) -> None:
        """Post `WantMore` when the end is near, even if the last page did not make the list longer."""
        self._wanted_more_at = -1

    def clear(self) -> None:
        """Forget the items and the cursor, so that the next `fill` starts at the top."""
        self.source, self._wanted_more_at, self._current_id = ListItems(), -1, None
        self.view = View(self.source)

    @property
    def current(self) -> Item | None:
        """The item under the cursor."""
        return self.source.item(self.cursor) if self.cursor < self.source.height else None

    @property
    def current_id(self) -> str | None:
        """The id of the item under the cursor; None on a heading."""
        current = self.current
        return None if current is None or current.is_heading else current.id

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return self.source.height

    def move(self, rows: int) -> None:
        if self.source.height:
            super().move(rows)
        else:
            self.post_message(self.Empty())

    def go_to(self, row: int) -> None:
        """Put the cursor on a row; from a heading it goes on in the direction of the move, or else back."""
        source = self.source
        row = max(0, min(row, source.height - 1))
        down, up = range(row, source.height), range(min(row, source.height - 1), -1, -1)
        order = chain(down, up) if row >= self.cursor else chain(up, down)
        place = next((at for at in order if not source.item(at).is_heading), row)
        super().go_to(place)
        if self.view is not None and place and place == self.view.top and source.item(place - 1).is_heading:
            self.view.top -= 1  # keep the heading of the item visible
            self.redraw()
        self._cursor_moved()

    def on_click(self, event: events.Click) -> None:
        """Move the cursor; a double click chooses the item, but not from its heading."""
        if (clicked := self._row_at(event)) is not None:
            self.go_to(clicked)
            is_heading = self.source.item(clicked).is_heading
            if not is_heading and (event.chain == 2 or self.chooses_on_click):
                self.post_message(self.Chosen(self))

    # Private

    def _scroll(self, rows: int) -> None:
        super()._scroll(rows)
        self._want_more()

    def _is_jump_target(self, index: int) -> bool:
        return not self.source.item(index).is_heading

    def _cursor_moved(self) -> None:
        current = self.current.id if self.current is not None else None
        if current != self._current_id:
            self._current_id = current
            self.post_message(self.Moved(self))
        self._want_more()

    def _want_more(self) -> None:
        last_seen = max(self.cursor, self.visible_rows.start + self.size.height)
        if last_seen + PREFETCH_ROWS >= self.source.height and self._wanted_more_at != self.source.height:
            self._wanted_more_at = self.source.height
            self.post_message(self.WantMore(self))
