"""A list to choose from, however long: only the rows that are seen are drawn, and more is asked for near its end."""

from dataclasses import dataclass
from typing import Final

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from console.model.columns import broken
from console.model.shelf import Item, Shelf
from console.widgets.inspector.row_list import RowList, View

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
        self.shelf = Shelf()
        self.words = ""
        """What is said where there is nothing."""
        self._asked = -1
        self._current: str | None = None
        """What the cursor was on when that was noted last: things may have come and gone since."""

    def fill(self, shelf: Shelf, words: str = "") -> None:
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
        self.shelf, self._asked, self._current = Shelf(), -1, None
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
