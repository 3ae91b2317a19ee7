"""Where someone looks in a timeline: the end of it, a place further up, or one entry; and how they move."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from console.model.stream.filters import Filter
from console.model.stream.follow import NEAR, Follow
from console.model.stream.layout import Span
from console.model.stream.rows import Row
from console.model.stream.timeline import Timeline
from console.model.stream.window import NotRead


class Shown(NamedTuple):
    """One row of a page."""

    span: Span
    row: Row
    since: int | None
    """When the row above it ended."""


class Page(NamedTuple):
    """What fits on the screen."""

    rows: list[Shown]
    current: Span | None
    """The row that commands mean."""
    is_whole: bool
    """Whether nothing of it is still to be read."""


Goal = Callable[[], Span | None]
"""A place to go; raises NotRead until it is known."""


class Look:
    """One pair of eyes on a timeline. Moves that lead to what is not read yet are made when it is there."""

    def __init__(self, timeline: Timeline, flags: set[int] | None = None) -> None:
        self.timeline = timeline
        self.follow = Follow()
        self.flags: set[int] = set() if flags is None else flags
        """Positions that someone has marked."""
        self.aside: int | None = None
        """The entry that the cursor was put on, where a filter hides it: then the cursor is on the nearest row."""
        self._meant: int | None = None
        """The entry that the cursor was put on."""
        self._is_settled = True
        """The cursor is on a row that is shown."""
        self._height = 1
        self._top = 1
        """The first position on the screen, unless it follows the end."""
        self._goal: Callable[[], None] | None = None
        """A move that waits for something to be read."""
        self._arrived = timeline.arrived

    @property
    def cursor(self) -> int | None:
        """The position that all is shown as of; none is now."""
        return self.follow.position

    @property
    def is_going(self) -> bool:
        """Whether a move waits for something to be read."""
        return self._goal is not None

    def resize(self, height: int) -> None:
        self._height = max(1, height)

    def tick(self) -> None:
        """Once a tick: count what is new, and go on where something was waited for."""
        arrived = self.timeline.arrived
        self.follow = self.follow.grown(arrived - self._arrived)
        self._arrived = arrived
        if self._goal is not None:
            self._goal()
        elif not self._is_settled:
            self._settle()

    def choose(self, chosen: Filter | None) -> None:
        """Hide what the filter does not mean; none shows all again. The cursor goes along to a row that is shown."""
        self.timeline.choose(chosen)
        self._settle()

    def show_raw(self, raw: bool) -> None:
        """Each delta in a row of its own, or not."""
        self.timeline.show_raw(raw)
        self._settle()

    def page(self) -> Page:
        """The rows to show."""
        rows = self._spans()
        before = self.timeline.rows_before(rows[0].first, 1) if rows else []
        ends = [before[0].until if before else None, *(span.until for span in rows)]
        shown = [Shown(span, self.timeline.row(span), end) for span, end in zip(rows, ends, strict=False)]
        return Page(shown, self._current(rows), not self.timeline.is_lacking)

    # Moves

    def move(self, rows: int) -> None:
        """The cursor up or down; below the last row is now."""
        current = self.current()
        if current is None:
            return
        if rows < 0:
            found = self.timeline.rows_before(current.first, -rows)
            self._pin(found[0] if found else current)
        elif not self.follow.is_tail:
            found = self.timeline.rows_after(current.first, rows)
            if found:
                self._pin(found[-1])
            elif self._below(current, 1) == 0:
                self.end()

    def scroll(self, rows: int) -> None:
        """What is seen up or down; the cursor stays where it is."""
        self._goal = None
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
            left = self._below((below or spans)[-1], NEAR + 1)
            if left is not None:
                self.follow = self.follow.moved_down(left)

    def page_by(self, share: float) -> None:
        """The cursor by a part of a page, up where it is negative."""
        self.move(int(self._height * share) or (1 if share > 0 else -1))

    def first(self) -> None:
        self._go(lambda: next(iter(self.timeline.rows_after(0, 1, strictly=True)), None))

    def end(self) -> None:
        """Back to now."""
        self._goal = self._meant = self.aside = None
        self._is_settled = True
        self.follow = self.follow.end()

    def stay(self) -> None:
        """What is seen is to stay, whatever comes."""
        if self.follow.is_tail and (rows := self._spans()):
            self._top = rows[0].first
            self.follow = self.follow.moved_up()

    def go(self, position: int) -> None:
        """To an entry; one that is hidden is come to when it is shown again."""
        self._go(lambda: self.timeline.row_at(position), meant=position)

    def click(self, row: int) -> None:
        """To a row of the page."""
        spans = self._spans()
        if 0 <= row < len(spans):
            self._pin(spans[row])

    def turn(self, step: int) -> None:
        """To the beginning of this turn or the one before, or of the next; behind the last is now."""
        current = self.current()
        if current is None:
            return
        if step < 0:
            self._go(lambda: self._turn_before(current))
        elif not self.follow.is_tail:
            self._go(lambda: self._turn_after(current))

    def go_to_turn(self, turn: int) -> None:
        """To the beginning of a turn."""
        self._go(lambda: self._beginning_of(turn))

    def match(self, step: int) -> None:
        """To the next or the previous entry that the last filter means."""
        current = self.current()
        if current is not None:
            self._go(lambda: self._match(current, step))

    def flag(self) -> None:
        """Mark the row, or no longer."""
        current = self.current()
        if current is not None:
            self.flags ^= {current.first}

    def next_flag(self) -> None:
        """To the next mark; after the last comes the first."""
        current = self.current()
        if current is None or not self.flags:
            return
        later = [position for position in self.flags if position > current.first]
        self.go(min(later or self.flags))

    def current(self) -> Span | None:
        """The row that a command means: the cursor's, or else the last that is seen."""
        is_end = self.follow.is_tail
        return self._current(self.timeline.rows_before(self.timeline.last + 1, 1) if is_end else self._spans())

    @property
    def entry(self) -> int | None:
        """The entry that the cursor is on, whether someone put it there or not."""
        return self.cursor or (None if (span := self.current()) is None else span.last)

    # Inside

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

    def _below(self, span: Span, most: int) -> int | None:
        """How many rows come after one, as far as it matters; none while that is not read."""
        try:
            return len(self.timeline.rows_after(span.first, most, strictly=True))
        except NotRead:
            return None

    def _go(self, goal: Goal, meant: int | None = None) -> None:
        """Now, or as soon as it is known where."""
        try:
            target = goal()
        except NotRead:
            self._goal = partial(self._go, goal, meant)
            return
        self._goal = None
        if target is not None:
            self._pin(target, is_far=True, meant=meant)

    def _settle(self) -> None:
        """Other rows are shown: the cursor is on the one that it was put on, or on the nearest to it."""
        if self._meant is None:
            return
        try:
            span = self.timeline.row_at(self._meant)
        except NotRead:
            span = None
        self._is_settled = span is not None
        if span is not None:
            self._pin(span, is_far=True, meant=self._meant)

    def _pin(self, span: Span, *, is_far: bool = False, meant: int | None = None) -> None:
        """Put the cursor on a row, and the row on the screen: at its edge, or with a third of it above."""
        self._goal, self._is_settled = None, True
        self._meant = span.last if meant is None else meant
        is_there = span.first <= self._meant <= span.last
        self.aside = None if is_there else self._meant
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
        self.follow = self.follow.pinned(self._meant if is_there else span.last)

    def _turn_before(self, current: Span) -> Span | None:
        start = self.timeline.turn_start(current.turn)
        if start is not None and start >= current.first > 1:
            start = self.timeline.turn_start(self.timeline.turn_of(current.first - 1))
        return None if start is None else next(iter(self.timeline.rows_after(start - 1, 1, strictly=True)), None)

    def _beginning_of(self, turn: int) -> Span | None:
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
