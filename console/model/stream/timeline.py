"""A run's journal as something to move in: live or past, of any length, in memory that does not grow with it."""

from collections.abc import Iterator, Sequence
from typing import Final

from console.model.safe import one_line
from console.model.stream import places
from console.model.stream.chunks import DELTA, SIZE, Chunk, number_of
from console.model.stream.filters import Filter
from console.model.stream.layout import Layout, Span
from console.model.stream.recent import Recent
from console.model.stream.rows import Row, many_deltas, tone_of
from console.model.stream.sieve import Sieve
from console.model.stream.wants import EntriesWanted, MarksWanted, MatchesWanted, Want
from console.model.stream.window import NotRead, Window
from engine.events import Entry, Mark

AT_ONCE: Final = 4
"""Reads under way at a time."""


class Timeline:
    """One run, looked at through a window. It never reads: it says what it wants, and is given it.

    `append` takes what comes live. Rows are answered from what is in memory; where that ends, so does the answer, and
    `wanted` names the rest.
    """

    def __init__(self, run_id: str, *, last: int = 0, began: int | None = None, is_live: bool = False) -> None:
        self.run_id = run_id
        self.began = began
        """When the run started, as soon as it is known."""
        self.is_live = is_live
        self.version = 0
        """Rises whenever there may be something else to see."""
        self.arrived = 0
        """Live entries that were not hidden, in all."""
        self.is_hiding = False
        self.is_raw = False
        self._window = Window(last)
        self._recent = Recent()
        self._sieve: Sieve | None = None
        """The last filter, also after it was cleared: its matches can still be visited."""
        self._layouts: dict[int, Layout] = {}
        self._needed: dict[int, None] = {}
        """Positions whose entries are to be shown."""
        self._under_way: set[Want] = set()

    @property
    def last(self) -> int:
        """The newest position."""
        return self._window.last

    # What comes in

    def append(self, entries: Sequence[Entry]) -> None:
        """Entries as they are told. Some two microseconds each (see tests/bench/stream.py)."""
        fresh = [entry for entry in entries if entry.position > self.last]
        if not fresh:
            return
        first, last = fresh[0].position, fresh[-1].position
        follows = first == self.last + 1 and last - first + 1 == len(fresh)
        self._window.last = last
        self.version += 1
        self.is_live = fresh[-1].type != "run.finished"
        if self.began is None and first == 1:
            self.began = fresh[0].at
        if self._sieve is not None:
            self._sieve.hear(fresh)
            if not follows:
                self._sieve.restart(last)  # what came between was not heard
        self._recent.keep(fresh if self.is_raw else [entry for entry in fresh if entry.type != DELTA])
        if follows:
            self._window.push(fresh)
            self._decide()
        self.arrived += self._shown_since(first)

    def take_marks(self, want: MarksWanted, marks: Sequence[Mark]) -> None:
        """The index that was wanted."""
        self._under_way.discard(want)
        if not marks:
            self._window.last = min(self.last, want.after)  # the run was deleted meanwhile
        elif marks[0].position == 1 and self.began is None:
            self.began = marks[0].at
        chunk = self._window.take(want, marks)
        if chunk is not None and chunk.has_gaps:
            self._layouts.pop(chunk.number, None)
        if chunk is not None and self._sieve is not None:
            self._sieve.decide(chunk)
        self.version += 1

    def take_entries(self, want: EntriesWanted, entries: Sequence[Entry]) -> None:
        """The entries that were wanted."""
        self._under_way.discard(want)
        self._recent.keep(entries)
        self.version += 1

    def take_matches(self, want: MatchesWanted, positions: Sequence[int]) -> None:
        """Where a text was found."""
        self._under_way.discard(want)
        if self._sieve is not None:
            self._sieve.found(want.text, want.first, want.last, positions)
            self._decide()
        self.version += 1

    def give_up(self, want: Want) -> None:
        """It could not be read; whoever still needs it asks again."""
        self._under_way.discard(want)
        self.version += 1

    def wanted(self) -> list[Want]:
        """What to read next. Ask once a tick; nothing is named again until it was taken or given up."""
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

    # How it is shown

    def choose(self, chosen: Filter | None) -> None:
        """Hide what the filter does not mean; none shows all again."""
        if chosen is not None:
            self._sieve = Sieve(chosen, self._window.kinds, self.last)
            self._decide()
        self.is_hiding = chosen is not None
        self._lay_again()

    def show_raw(self, raw: bool) -> None:
        """Each delta in a row of its own, or not."""
        self.is_raw = raw
        self._lay_again()

    @property
    def hidden(self) -> int:
        """Entries that the filter hides, as far as it is known."""
        if self._sieve is None or not self.is_hiding:
            return 0
        tail = self._layouts.get(self._window.last_number)
        is_counted = self._window.last_number in self._sieve.decided
        return self._sieve.hidden + (0 if tail is None or is_counted else tail.hidden)

    @property
    def progress(self) -> float | None:
        """How far the filter has come; none when it is through."""
        if self._sieve is None or not self.is_hiding:
            return None
        done = self._sieve.progress(self.last)
        return None if done >= 1 else done

    # Rows

    def rows_after(self, position: int, count: int, *, strictly: bool = False) -> list[Span]:
        """The next rows that begin after a position, rising; fewer, or NotRead, where the rest is not read."""
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
        """The rows that begin before a position, rising; fewer, or NotRead, where the rest is not read."""
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
        """The row that an entry is in; of a hidden one the row before it, or else the next. Raises NotRead."""
        self._window.reach(min(position, self.last))
        found = self.rows_before(position + 1, 1, strictly=True) or self.rows_after(position, 1, strictly=True)
        return found[0] if found else None

    def row(self, span: Span) -> Row:
        """What a row says; only of what kind it is while its entry is being read."""
        if span.is_joined:
            is_live = self.is_live and span.last == self.last
            summary = many_deltas(span.size, span.until - span.at, is_live=is_live)
            return Row(span.first, span.at, span.kind, summary, "message")
        row = self._recent.row(span.first)
        if row is None:
            self._needed[span.first] = None
            return Row(span.first, span.at, one_line(span.kind, 100), "", tone_of(span.kind, ""))
        return row

    @property
    def is_lacking(self) -> bool:
        """Whether something that was asked for since the last tick is still to be read."""
        return bool(self._window.needs or self._needed)

    # Places to go; each raises NotRead while it cannot be told

    def turn_of(self, position: int) -> int:
        return places.turn_of(self._window, position)

    def turn_start(self, turn: int) -> int | None:
        """The first position of a turn, or of the next after it."""
        return places.turn_start(self._window, turn)

    @property
    def has_filter(self) -> bool:
        """Whether there ever was a filter: its matches can be visited, hidden or not."""
        return self._sieve is not None

    def match_after(self, position: int) -> int | None:
        """The next entry that the last filter means."""
        return None if self._sieve is None else places.match_after(self._window, self._sieve, position)

    def match_before(self, position: int) -> int | None:
        return None if self._sieve is None else places.match_before(self._window, self._sieve, position)

    # Inside

    def _shown_since(self, first: int) -> int:
        """Entries from a position to the end that are not hidden."""
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
        """All that is needed, the most urgent first."""
        sieve = self._sieve
        for number in self._window.needs:
            chunk = self._window.get(number)
            if chunk is None or self._window.is_short(chunk):
                yield self._window.rest_of(number, is_seen=True)
            if sieve is not None:
                yield from (MatchesWanted(*part) for part in sieve.unfound(number))
        if self._needed and not any(isinstance(want, EntriesWanted) for want in self._under_way):
            yield EntriesWanted(tuple(sorted(self._needed)))
        if sieve is not None and self.is_hiding:
            for number in sieve.undecided(self.last):
                if unfound := sieve.unfound(number):
                    yield from (MatchesWanted(*part) for part in unfound)
                elif (chunk := self._window.get(number)) is None or self._window.is_short(chunk):
                    yield self._window.rest_of(number, is_seen=False)

    def _laid(self, numbers: range) -> Iterator[tuple[Chunk, Layout]]:
        """Chunks with their rows, in this order. Those that show nothing are left out, read or not."""
        for number in numbers:
            mask = self._sieve.decided.get(number) if self._sieve is not None and self.is_hiding else None
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
        """The rows of a chunk; none while it is not known what is hidden."""
        sieve = self._sieve if self.is_hiding else None
        if sieve is not None and sieve.unfound(chunk.number):
            return None
        layout = self._layouts.get(chunk.number)
        if layout is None:
            for number in [number for number in self._layouts if self._window.get(number) is None]:
                del self._layouts[number]
            hides = sieve is not None or chunk.has_gaps
            layout = self._layouts[chunk.number] = Layout(raw=self.is_raw, hides=hides)
        if layout.done < chunk.known:
            visible = chunk.there(layout.done) if chunk.has_gaps else None
            if sieve is not None:
                visible = sieve.mask(chunk, layout.done, chunk.known)
            layout.grow(chunk, visible)
        return layout

    def _decide(self) -> None:
        if self._sieve is not None:
            for chunk in self._window:
                self._sieve.decide(chunk)

    def _lay_again(self) -> None:
        self._layouts.clear()
        self.version += 1
