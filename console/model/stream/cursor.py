"""The view on a timeline: its end, a scroll position or one entry, and how it moves."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from console.model.stream.filter import Filter
from console.model.stream.index import NotRead
from console.model.stream.layout import Span
from console.model.stream.rows import Row
from console.model.stream.timeline import Timeline
from console.model.text.follow import NEAR_END_ROWS, Follow


class PageRow(NamedTuple):
    """One row of the page."""

    span: Span
    row: Row
    previous_at: int | None
    """The time of the last entry of the row above."""


class Page(NamedTuple):
    """The rows that fit on the screen."""

    rows: list[PageRow]
    current: Span | None
    """The row that commands act on."""
    is_whole: bool
    """Whether everything on the page has been read."""


FindRow = Callable[[], Span | None]
"""Finds the row to go to. Raises NotRead until the row is in memory."""


class StreamCursor:
    """One view on a timeline. A move to a row that is not in memory is made when the row has been read."""

    def __init__(self, timeline: Timeline, marks: set[int] | None = None) -> None:
        self.timeline = timeline
        self.follow = Follow()
        self.marks: set[int] = set() if marks is None else marks
        """Positions that the user has marked."""
        self.hidden_target: int | None = None
        """The entry that the user went to, if a filter hides it; the cursor is then on the nearest row."""
        self._target: int | None = None
        """The entry that the user went to."""
        self._is_at_target = True
        """False while the row of the target is not in memory."""
        self._height = 1
        self._top = 1
        """The first position on the screen unless the end is followed."""
        self._pending_move: Callable[[], None] | None = None
        """A move that waits for rows to be read."""
        self._arrived = timeline.arrived

    @property
    def cursor(self) -> int | None:
        """The entry as of which the screen shows the session; None at the end."""
        return self.follow.position

    @property
    def is_moving(self) -> bool:
        """Whether a move waits for rows to be read."""
        return self._pending_move is not None

    def resize(self, height: int) -> None:
        self._height = max(1, height)

    def tick(self) -> None:
        """Called once a tick: count new rows and continue a waiting move."""
        arrived = self.timeline.arrived
        self.follow = self.follow.grown(arrived - self._arrived)
        self._arrived = arrived
        if self._pending_move is not None:
            self._pending_move()
        elif not self._is_at_target:
            self._move_to_target()

    def set_filter(self, new_filter: Filter | None) -> None:
        """Apply a filter, or None for all entries. The cursor moves to a visible row."""
        self.timeline.set_filter(new_filter)
        self._move_to_target()

    def show_raw(self, raw: bool) -> None:
        """Show each delta in its own row, or joined."""
        self.timeline.show_raw(raw)
        self._move_to_target()

    def page(self) -> Page:
        rows = self._spans()
        before = self.timeline.rows_before(rows[0].first, 1) if rows else []
        ends = [before[0].until if before else None, *(span.until for span in rows)]
        shown = [PageRow(span, self.timeline.row(span), end) for span, end in zip(rows, ends, strict=False)]
        return Page(shown, self._current(rows), not self.timeline.is_incomplete)

    # Moves

    def move(self, rows: int) -> None:
        """Move the cursor. Moving below the last row follows the end."""
        current = self.current()
        if current is None:
            return
        if rows < 0:
            found = self.timeline.rows_before(current.first, -rows)
            self._move_to(found[0] if found else current)
        elif not self.follow.is_tail:
            found = self.timeline.rows_after(current.first, rows)
            if found:
                self._move_to(found[-1])
            elif self._count_below(current, 1) == 0:
                self.end()

    def scroll(self, rows: int) -> None:
        """Scroll the page; the cursor stays."""
        self._pending_move = None
        spans = self._spans()
        if not spans:
            return
        if rows < 0:
            above = self.timeline.rows_before(spans[0].first, -rows)
            if above:
                self._top = above[0].first
                self.follow = self.follow.moved_up()
        elif not self.follow.is_tail:
            below = self.timeline.rows_after(spans[-1].first, rows)
            self._top = [*spans, *below][len(below)].first
            left = self._count_below((below or spans)[-1], NEAR_END_ROWS + 1)
            if left is not None:
                self.follow = self.follow.moved_down(left)

    def page_by(self, share: float) -> None:
        """Move the cursor by a share of the page; negative is up."""
        self.move(int(self._height * share) or (1 if share > 0 else -1))

    def first(self) -> None:
        self._go(lambda: next(iter(self.timeline.rows_after(0, 1, strictly=True)), None))

    def end(self) -> None:
        """Follow the end."""
        self._pending_move = self._target = self.hidden_target = None
        self._is_at_target = True
        self.follow = self.follow.end()

    def stop_following(self) -> None:
        """Stop following the end and keep the page."""
        if self.follow.is_tail and (rows := self._spans()):
            self._top = rows[0].first
            self.follow = self.follow.moved_up()

    def go(self, position: int) -> None:
        """Go to an entry. If a filter hides it, the cursor moves there once the filter is removed."""
        self._go(lambda: self.timeline.row_at(position), target=position)

    def click(self, row: int) -> None:
        """Go to a row of the page."""
        spans = self._spans()
        if 0 <= row < len(spans):
            self._move_to(spans[row])

    def turn(self, step: int) -> None:
        """Go to the start of this or the previous turn, or of the next; behind the last turn, follow the end."""
        current = self.current()
        if current is None:
            return
        if step < 0:
            self._go(lambda: self._turn_before(current))
        elif not self.follow.is_tail:
            self._go(lambda: self._turn_after(current))

    def go_to_turn(self, turn: int) -> None:
        """Go to the start of a turn."""
        self._go(lambda: self._turn_row(turn))

    def match(self, step: int) -> None:
        """Go to the next or previous match of the last filter."""
        current = self.current()
        if current is not None:
            self._go(lambda: self._match(current, step))

    def toggle_mark(self) -> None:
        current = self.current()
        if current is not None:
            self.marks ^= {current.first}

    def go_to_next_mark(self) -> None:
        """Go to the next mark, and from the last to the first."""
        current = self.current()
        if current is None or not self.marks:
            return
        later = [position for position in self.marks if position > current.first]
        self.go(min(later or self.marks))

    def current(self) -> Span | None:
        """The row that commands act on: the cursor's, or else the last one on the page."""
        is_end = self.follow.is_tail
        return self._current(self.timeline.rows_before(self.timeline.last + 1, 1) if is_end else self._spans())

    @property
    def entry(self) -> int | None:
        """The entry of the current row."""
        return self.cursor or (None if (span := self.current()) is None else span.last)

    # Private

    def _spans(self) -> list[Span]:
        if self.follow.is_tail:
            return self.timeline.rows_before(self.timeline.last + 1, self._height)
        try:
            rows = self.timeline.rows_after(self._top - 1, self._height, strictly=True)
        except NotRead:
            return self.timeline.rows_after(self._top - 1, self._height)
        return [*self.timeline.rows_before(self._top, self._height - len(rows)), *rows]

    def _current(self, rows: list[Span]) -> Span | None:
        if self.follow.position is None:
            return rows[-1] if rows else None
        try:
            return self.timeline.row_at(self.follow.position)
        except NotRead:
            return None

    def _count_below(self, span: Span, limit: int) -> int | None:
        """The number of rows after one, up to `limit`; None while they are not in memory."""
        try:
            return len(self.timeline.rows_after(span.first, limit, strictly=True))
        except NotRead:
            return None

    def _go(self, find_row: FindRow, target: int | None = None) -> None:
        """Go to a row now, or as soon as it has been read."""
        try:
            row = find_row()
        except NotRead:
            self._pending_move = partial(self._go, find_row, target)
            return
        self._pending_move = None
        if row is not None:
            self._move_to(row, is_far=True, target=target)

    def _move_to_target(self) -> None:
        """Put the cursor on the target, or on the nearest visible row."""
        if self._target is None:
            return
        try:
            span = self.timeline.row_at(self._target)
        except NotRead:
            span = None
        self._is_at_target = span is not None
        if span is not None:
            self._move_to(span, is_far=True, target=self._target)

    def _move_to(self, span: Span, *, is_far: bool = False, target: int | None = None) -> None:
        """Put the cursor on a row and scroll to it: at the edge, or a third from the top if it is far."""
        self._pending_move, self._is_at_target = None, True
        self._target = span.last if target is None else target
        is_visible = span.first <= self._target <= span.last
        self.hidden_target = None if is_visible else self._target
        rows = self._spans()
        if rows and rows[0].first <= span.first <= rows[-1].first:
            self._top = rows[0].first
        elif is_far:
            above = self.timeline.rows_before(span.first, self._height // 3)
            self._top = above[0].first if above else span.first
        elif not rows or span.first < rows[0].first:
            self._top = span.first
        else:
            self._top = self.timeline.rows_before(span.first + 1, self._height)[0].first
        self.follow = self.follow.pinned(self._target if is_visible else span.last)

    def _turn_before(self, current: Span) -> Span | None:
        start = self.timeline.turn_start(current.turn)
        if start is not None and start >= current.first > 1:
            start = self.timeline.turn_start(self.timeline.turn_of(current.first - 1))
        return None if start is None else next(iter(self.timeline.rows_after(start - 1, 1, strictly=True)), None)

    def _turn_row(self, turn: int) -> Span | None:
        start = self.timeline.turn_start(turn)
        return None if start is None else next(iter(self.timeline.rows_after(start - 1, 1, strictly=True)), None)

    def _turn_after(self, current: Span) -> Span | None:
        start = self.timeline.turn_start(current.turn + 1)
        if start is not None:
            found = self.timeline.rows_after(start - 1, 1, strictly=True)
            if found:
                return found[0]
        self.end()
        return None

    def _match(self, current: Span, step: int) -> Span | None:
        timeline = self.timeline
        position = timeline.match_after(current.last) if step > 0 else timeline.match_before(current.first)
        return None if position is None else timeline.row_at(position)
