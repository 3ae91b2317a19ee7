"""The journal of one run as rows: live or past, of any length, in bounded memory."""

from collections.abc import Iterator, Sequence
from typing import Final

from console.model.stream import entry_search
from console.model.stream.filter import Filter, FilterProgress
from console.model.stream.index import (
    SIZE,
    Chunk,
    EntriesWanted,
    EntryCache,
    MarksWanted,
    MatchesWanted,
    NotRead,
    Want,
    Window,
    number_of,
)
from console.model.stream.layout import Layout, Span
from console.model.stream.rows import Row, describe_deltas, tone_of
from console.model.text.safe import one_line
from engine.events import LAST_KIND, Entry, EntryHead, EntryKind

AT_ONCE: Final = 4
"""Reads in progress at a time."""


class Timeline:
    """One run, seen through a window. It does not read: `wanted` returns what to read, and the `take_` methods get it.

    `append` takes live entries. Rows come from memory; if memory does not have them, fewer are returned and the rest
    is requested.
    """

    def __init__(self, run_id: str, *, last: int = 0, began: int | None = None, is_live: bool = False) -> None:
        self.run_id = run_id
        self.began = began
        """The start time of the run, once it is known."""
        self.is_live = is_live
        self.version = 0
        """Grows whenever the rows may have changed."""
        self.arrived = 0
        """Number of live entries that were not hidden."""
        self.is_hiding = False
        self.is_raw = False
        self._window = Window(last)
        self._recent = EntryCache()
        self._filter_progress: FilterProgress | None = None
        """The last filter, kept after it is cleared: the user can still step through its matches."""
        self._layouts: dict[int, Layout] = {}
        self._needed: dict[int, None] = {}
        """Positions whose entries have to be read."""
        self._under_way: set[Want] = set()

    @property
    def last(self) -> int:
        """The newest position."""
        return self._window.last

    # Input

    def append(self, entries: Sequence[Entry]) -> None:
        """Append live entries, at about two microseconds each (see tests/bench/stream.py)."""
        fresh = [entry for entry in entries if entry.position > self.last]
        if not fresh:
            return
        first, last = fresh[0].position, fresh[-1].position
        follows = first == self.last + 1 and last - first + 1 == len(fresh)
        self._window.last = last
        self.version += 1
        self.is_live = fresh[-1].type != LAST_KIND
        if self.began is None and first == 1:
            self.began = fresh[0].at
        if self._filter_progress is not None:
            self._filter_progress.hear(fresh)
            if not follows:
                self._filter_progress.restart(last)  # the entries between were missed
        self._recent.keep(fresh if self.is_raw else [entry for entry in fresh if entry.type != EntryKind.MESSAGE_DELTA])
        if follows:
            self._window.push(fresh)
            self._decide()
        self.arrived += self._shown_since(first)

    def take_marks(self, want: MarksWanted, marks: Sequence[EntryHead]) -> None:
        """Take requested heads."""
        self._under_way.discard(want)
        if not marks:
            self._window.last = min(self.last, want.after)  # the run was deleted meanwhile
        elif marks[0].position == 1 and self.began is None:
            self.began = marks[0].at
        chunk = self._window.take(want, marks)
        if chunk is not None and chunk.has_gaps:
            self._layouts.pop(chunk.number, None)
        if chunk is not None and self._filter_progress is not None:
            self._filter_progress.decide(chunk)
        self.version += 1

    def take_entries(self, want: EntriesWanted, entries: Sequence[Entry]) -> None:
        """Take requested entries."""
        self._under_way.discard(want)
        self._recent.keep(entries)
        self.version += 1

    def take_matches(self, want: MatchesWanted, positions: Sequence[int]) -> None:
        """Take the matches of a text."""
        self._under_way.discard(want)
        if self._filter_progress is not None:
            self._filter_progress.found(want.text, want.first, want.last, positions)
            self._decide()
        self.version += 1

    def give_up(self, want: Want) -> None:
        """Note that a read failed; it is requested again if still needed."""
        self._under_way.discard(want)
        self.version += 1

    def wanted(self) -> list[Want]:
        """The reads to start now. Called once a tick; a request is not repeated until it was taken or given up."""
        wants: dict[Want, None] = {}
        room = AT_ONCE - len(self._under_way)
        for want in self._wants():
            if len(wants) >= room:
                break
            if want not in self._under_way:
                wants[want] = None
        self._under_way.update(wants)
        self._needed.clear()
        self._window.tick()
        return list(wants)

    # View

    def choose(self, chosen: Filter | None) -> None:
        """Apply a filter, or None for all entries."""
        if chosen is not None:
            self._filter_progress = FilterProgress(chosen, self._window.kinds, self.last)
            self._decide()
        self.is_hiding = chosen is not None
        self._lay_again()

    def show_raw(self, raw: bool) -> None:
        """Show each delta in its own row, or joined."""
        self.is_raw = raw
        self._lay_again()

    @property
    def hidden(self) -> int:
        """The number of entries that the filter is known to hide."""
        if self._filter_progress is None or not self.is_hiding:
            return 0
        tail = self._layouts.get(self._window.last_number)
        is_counted = self._window.last_number in self._filter_progress.decided
        return self._filter_progress.hidden + (0 if tail is None or is_counted else tail.hidden)

    @property
    def progress(self) -> float | None:
        """The progress of the filter, or None when it is complete."""
        if self._filter_progress is None or not self.is_hiding:
            return None
        done = self._filter_progress.progress(self.last)
        return None if done >= 1 else done

    # Rows

    def rows_after(self, position: int, count: int, *, strictly: bool = False) -> list[Span]:
        """The next rows after a position, in order. Fewer, or NotRead if `strictly`, if the rest is not in memory."""
        found: list[Span] = []
        try:
            for chunk, layout in self._laid(range(max(0, position) // SIZE, self._window.last_number + 1)):
                begin = layout.after(position - chunk.first)
                end = min(len(layout.starts), begin + count - len(found))
                found.extend(layout.span(row, chunk, self._window.kinds.names) for row in range(begin, end))
                if len(found) >= count:
                    break
        except NotRead:
            if strictly:
                raise
        return found

    def rows_before(self, position: int, count: int, *, strictly: bool = False) -> list[Span]:
        """The rows before a position, in order. Fewer, or NotRead if `strictly`, if the rest is not in memory."""
        found: list[Span] = []
        try:
            for chunk, layout in self._laid(range(number_of(min(position - 1, self.last)), -1, -1)):
                end = layout.before(position - chunk.first)
                begin = max(0, end - count + len(found))
                found[:0] = [layout.span(row, chunk, self._window.kinds.names) for row in range(begin, end)]
                if len(found) >= count:
                    break
        except NotRead:
            if strictly:
                raise
        return found

    def row_at(self, position: int) -> Span | None:
        """The row of an entry; for a hidden entry the row before it, or else the next. Raises NotRead."""
        self._window.reach(min(position, self.last))
        found = self.rows_before(position + 1, 1, strictly=True) or self.rows_after(position, 1, strictly=True)
        return found[0] if found else None

    def row(self, span: Span) -> Row:
        """The text of a row; only the kind while its entry is being read."""
        if span.is_joined:
            is_live = self.is_live and span.last == self.last
            summary = describe_deltas(span.size, span.until - span.at, is_live=is_live)
            return Row(span.first, span.at, span.kind, summary, "message")
        row = self._recent.row(span.first)
        if row is None:
            self._needed[span.first] = None
            return Row(span.first, span.at, one_line(span.kind, 100), "", tone_of(span.kind, ""))
        return row

    @property
    def is_lacking(self) -> bool:
        """Whether something that was requested since the last tick has not been read."""
        return bool(self._window.needs or self._needed)

    # Places to go; each raises NotRead until it is known

    def turn_of(self, position: int) -> int:
        return entry_search.turn_of(self._window, position)

    def turn_start(self, turn: int) -> int | None:
        """The first position of a turn, or of the next after it."""
        return entry_search.turn_start(self._window, turn)

    @property
    def has_filter(self) -> bool:
        """Whether a filter was ever set: the user can step through its matches even after it is cleared."""
        return self._filter_progress is not None

    def match_after(self, position: int) -> int | None:
        """The next match of the last filter."""
        return (
            None
            if self._filter_progress is None
            else entry_search.match_after(self._window, self._filter_progress, position)
        )

    def match_before(self, position: int) -> int | None:
        return (
            None
            if self._filter_progress is None
            else entry_search.match_before(self._window, self._filter_progress, position)
        )

    # Private

    def _shown_since(self, first: int) -> int:
        """The number of visible entries from a position to the end."""
        if not self.is_hiding:
            return self.last - first + 1
        count = 0
        for number in range(number_of(first), self._window.last_number + 1):
            chunk = self._window.get(number)
            layout = None if chunk is None else self._lay(chunk)
            if layout is not None and layout.visible is not None:
                count += layout.visible.count(1, max(0, first - number * SIZE - 1))
        return count

    def _wants(self) -> Iterator[Want]:
        """Everything that is needed, the most urgent first."""
        progress = self._filter_progress
        for number in self._window.needs:
            chunk = self._window.get(number)
            if chunk is None or self._window.is_short(chunk):
                yield self._window.rest_of(number, is_seen=True)
            if progress is not None:
                yield from (MatchesWanted(*part) for part in progress.unfound(number))
        if self._needed and not any(isinstance(want, EntriesWanted) for want in self._under_way):
            yield EntriesWanted(tuple(sorted(self._needed)))
        if progress is not None and self.is_hiding:
            for number in progress.undecided(self.last):
                if unfound := progress.unfound(number):
                    yield from (MatchesWanted(*part) for part in unfound)
                elif (chunk := self._window.get(number)) is None or self._window.is_short(chunk):
                    yield self._window.rest_of(number, is_seen=False)

    def _laid(self, numbers: range) -> Iterator[tuple[Chunk, Layout]]:
        """Chunks with their rows, in the given order. Chunks without visible rows are skipped."""
        for number in numbers:
            mask = (
                self._filter_progress.decided.get(number)
                if self._filter_progress is not None and self.is_hiding
                else None
            )
            if mask is not None and 1 not in mask:
                continue
            chunk = self._window.chunk(number)
            layout = self._lay(chunk)
            if layout is None:
                self._window.needs[number] = None
                raise NotRead(number)
            yield chunk, layout
            if numbers.step > 0 and self._window.is_short(chunk):
                raise NotRead(number)

    def _lay(self, chunk: Chunk) -> Layout | None:
        """The rows of a chunk; None until it is known which are hidden."""
        progress = self._filter_progress if self.is_hiding else None
        if progress is not None and progress.unfound(chunk.number):
            return None
        layout = self._layouts.get(chunk.number)
        if layout is None:
            for number in [number for number in self._layouts if self._window.get(number) is None]:
                del self._layouts[number]
            hides = progress is not None or chunk.has_gaps
            layout = self._layouts[chunk.number] = Layout(raw=self.is_raw, hides=hides)
        if layout.done < chunk.known:
            visible = chunk.there(layout.done) if chunk.has_gaps else None
            if progress is not None:
                visible = progress.mask(chunk, layout.done, chunk.known)
            layout.grow(chunk, visible)
        return layout

    def _decide(self) -> None:
        if self._filter_progress is not None:
            for chunk in self._window:
                self._filter_progress.decide(chunk)

    def _lay_again(self) -> None:
        self._layouts.clear()
        self.version += 1
