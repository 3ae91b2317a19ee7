"""The journal of one run as rows: live or past, of any length, in bounded memory."""

from collections.abc import Iterator, Sequence
from typing import Final

from console.model.stream.filter import Filter
from console.model.stream.filter_progress import FilterProgress
from console.model.stream.index import (
    CHUNK_ENTRIES,
    Chunk,
    ChunkCache,
    EntriesRequest,
    HeadsRequest,
    MatchesRequest,
    NotRead,
    ReadRequest,
    chunk_number,
)
from console.model.stream.layout import Layout, Span
from console.model.stream.rows import MAX_KIND_CHARS, EntryCache, Row, deltas_summary, kind_tone
from console.model.text.safe import one_line
from engine.events import LAST_KIND, Entry, EntryHead, EntryKind

MAX_READS: Final = 4
"""Reads that may be in progress at a time."""


class Timeline:
    """The rows of one run. The owner performs the reads that `next_requests` returns and passes on what was read.

    `append` adds live entries. If rows are not in memory, fewer rows are returned and the missing ones are requested.
    """

    def __init__(self, run_id: str, *, last: int = 0, began: int | None = None, is_live: bool = False) -> None:
        self.run_id = run_id
        self.began = began
        """The start time of the run, once it is known."""
        self.is_live = is_live
        self.version = 0
        """Grows whenever the rows may have changed."""
        self.arrived = 0
        """The number of live entries that were visible when they arrived."""
        self.is_filtered = False
        self.is_raw = False
        self._chunks = ChunkCache(last)
        self._entry_cache = EntryCache()
        self._progress: FilterProgress | None = None
        """The last filter, kept after it is cleared: the user can still step through its matches."""
        self._layouts: dict[int, Layout] = {}
        self._needed_entries: dict[int, None] = {}
        """Positions whose entries have to be read."""
        self._in_progress: set[ReadRequest] = set()

    @property
    def last(self) -> int:
        """The newest position."""
        return self._chunks.last

    # Input

    def append(self, entries: Sequence[Entry]) -> None:
        """Append live entries, at about two microseconds each (see tests/bench/stream.py)."""
        new = [entry for entry in entries if entry.position > self.last]
        if not new:
            return
        first, last = new[0].position, new[-1].position
        has_no_gap = first == self.last + 1 and last - first + 1 == len(new)
        self._chunks.last = last
        self.version += 1
        self.is_live = new[-1].type != LAST_KIND
        if self.began is None and first == 1:
            self.began = new[0].at
        if self._progress is not None:
            self._progress.search_live(new)
            if not has_no_gap:
                self._progress.search_again(last)  # the entries in between were missed
        self._entry_cache.add(new if self.is_raw else [entry for entry in new if entry.type != EntryKind.MESSAGE_DELTA])
        if has_no_gap:
            self._chunks.push(new)
            self._decide_chunks()
        self.arrived += self._count_visible(first)

    def add_heads(self, request: HeadsRequest, heads: Sequence[EntryHead]) -> None:
        """Add requested heads."""
        self._in_progress.discard(request)
        if not heads:
            self._chunks.last = min(self.last, request.after)  # the run was deleted meanwhile
        elif heads[0].position == 1 and self.began is None:
            self.began = heads[0].at
        chunk = self._chunks.add_heads(request, heads)
        if chunk is not None and chunk.has_gaps:
            self._layouts.pop(chunk.number, None)
        if chunk is not None and self._progress is not None:
            self._progress.decide(chunk)
        self.version += 1

    def add_entries(self, request: EntriesRequest, entries: Sequence[Entry]) -> None:
        """Add requested entries."""
        self._in_progress.discard(request)
        self._entry_cache.add(entries)
        self.version += 1

    def add_matches(self, request: MatchesRequest, positions: Sequence[int]) -> None:
        """Add the positions at which a text was found."""
        self._in_progress.discard(request)
        if self._progress is not None:
            self._progress.add_hits(request.text, request.first, request.last, positions)
            self._decide_chunks()
        self.version += 1

    def read_failed(self, request: ReadRequest) -> None:
        """Note that a read failed. It is requested again if it is still needed."""
        self._in_progress.discard(request)
        self.version += 1

    def next_requests(self) -> list[ReadRequest]:
        """Return the reads to start now. Called once a tick; a request is not repeated until its read has ended."""
        requests: dict[ReadRequest, None] = {}
        room = MAX_READS - len(self._in_progress)
        for request in self._requests():
            if len(requests) >= room:
                break
            if request not in self._in_progress:
                requests[request] = None
        self._in_progress.update(requests)
        self._needed_entries.clear()
        self._chunks.tick()
        return list(requests)

    # View

    def set_filter(self, new_filter: Filter | None) -> None:
        """Apply a filter, or None for all entries."""
        if new_filter is not None:
            self._progress = FilterProgress(new_filter, self._chunks.kinds, self.last)
            self._decide_chunks()
        self.is_filtered = new_filter is not None
        self._reset_layouts()

    def show_raw(self, raw: bool) -> None:
        """Show each delta in its own row, or joined."""
        self.is_raw = raw
        self._reset_layouts()

    @property
    def hidden(self) -> int:
        """The number of entries that the filter is known to hide."""
        if self._progress is None or not self.is_filtered:
            return 0
        tail = self._layouts.get(self._chunks.last_number)
        is_counted = self._chunks.last_number in self._progress.decided
        return self._progress.hidden + (0 if tail is None or is_counted else tail.hidden)

    @property
    def progress(self) -> float | None:
        """The progress of the filter, or None when it is complete."""
        if self._progress is None or not self.is_filtered:
            return None
        done = self._progress.progress(self.last)
        return None if done >= 1 else done

    # Rows

    def rows_after(self, position: int, count: int, *, strictly: bool = False) -> list[Span]:
        """Return the next rows after a position. If not all are in memory, returns fewer; `strictly` raises NotRead."""
        found: list[Span] = []
        try:
            for chunk, layout in self._chunks_with_rows(
                range(max(0, position) // CHUNK_ENTRIES, self._chunks.last_number + 1)
            ):
                begin = layout.row_after(position - chunk.first)
                end = min(len(layout.starts), begin + count - len(found))
                found.extend(layout.span(row, chunk, self._chunks.kinds.names) for row in range(begin, end))
                if len(found) >= count:
                    break
        except NotRead:
            if strictly:
                raise
        return found

    def rows_before(self, position: int, count: int, *, strictly: bool = False) -> list[Span]:
        """Return the rows before a position, in order. If not all are in memory, returns fewer or raises NotRead."""
        found: list[Span] = []
        try:
            for chunk, layout in self._chunks_with_rows(range(chunk_number(min(position - 1, self.last)), -1, -1)):
                end = layout.rows_before(position - chunk.first)
                begin = max(0, end - count + len(found))
                found[:0] = [layout.span(row, chunk, self._chunks.kinds.names) for row in range(begin, end)]
                if len(found) >= count:
                    break
        except NotRead:
            if strictly:
                raise
        return found

    def row_at(self, position: int) -> Span | None:
        """Return the row of an entry; for a hidden entry, the row before it or else the next. Raises NotRead."""
        self._chunks.require(min(position, self.last))
        found = self.rows_before(position + 1, 1, strictly=True) or self.rows_after(position, 1, strictly=True)
        return found[0] if found else None

    def row(self, span: Span) -> Row:
        """Return the text of a row; without a summary while its entry is being read."""
        if span.is_joined:
            is_live = self.is_live and span.last == self.last
            summary = deltas_summary(span.chars, span.until - span.at, is_live=is_live)
            return Row(span.first, span.at, span.kind, summary, "message")
        row = self._entry_cache.row(span.first)
        if row is None:
            self._needed_entries[span.first] = None
            return Row(span.first, span.at, one_line(span.kind, MAX_KIND_CHARS), "", kind_tone(span.kind, ""))
        return row

    @property
    def is_incomplete(self) -> bool:
        """Whether rows that were asked for since the last tick are not in memory."""
        return bool(self._chunks.needs or self._needed_entries)

    # Positions to go to. Each method raises NotRead until the position is known.

    def turn_of(self, position: int) -> int:
        return self._chunks.turn_of(position)

    def turn_start(self, turn: int) -> int | None:
        """Return the first position of a turn or of a later one, or None."""
        return self._chunks.turn_start(turn)

    @property
    def has_filter(self) -> bool:
        """Whether a filter was ever set: the user can step through its matches even after it is cleared."""
        return self._progress is not None

    def match_after(self, position: int) -> int | None:
        """Return the next match of the last filter."""
        return None if self._progress is None else self._progress.match_after(self._chunks, position)

    def match_before(self, position: int) -> int | None:
        return None if self._progress is None else self._progress.match_before(self._chunks, position)

    # Private

    def _count_visible(self, first: int) -> int:
        """Return the number of visible entries from a position to the end."""
        if not self.is_filtered:
            return self.last - first + 1
        count = 0
        for number in range(chunk_number(first), self._chunks.last_number + 1):
            chunk = self._chunks.get(number)
            layout = None if chunk is None else self._layout_of(chunk)
            if layout is not None and layout.visible is not None:
                count += layout.visible.count(1, max(0, first - number * CHUNK_ENTRIES - 1))
        return count

    def _requests(self) -> Iterator[ReadRequest]:
        """Yield everything that is needed, the most urgent first."""
        progress = self._progress
        for number in self._chunks.needs:
            chunk = self._chunks.get(number)
            if chunk is None or self._chunks.is_short(chunk):
                yield self._chunks.request_rest(number, for_screen=True)
            if progress is not None:
                yield from (MatchesRequest(*part) for part in progress.unsearched(number))
        if self._needed_entries and not any(isinstance(request, EntriesRequest) for request in self._in_progress):
            yield EntriesRequest(tuple(sorted(self._needed_entries)))
        if progress is not None and self.is_filtered:
            for number in progress.undecided(self.last):
                if unsearched := progress.unsearched(number):
                    yield from (MatchesRequest(*part) for part in unsearched)
                elif (chunk := self._chunks.get(number)) is None or self._chunks.is_short(chunk):
                    yield self._chunks.request_rest(number, for_screen=False)

    def _chunks_with_rows(self, numbers: range) -> Iterator[tuple[Chunk, Layout]]:
        """Yield chunks with their layouts, in the given order. Chunks without visible rows are skipped."""
        for number in numbers:
            mask = self._progress.decided.get(number) if self._progress is not None and self.is_filtered else None
            if mask is not None and 1 not in mask:
                continue
            chunk = self._chunks.chunk(number)
            layout = self._layout_of(chunk)
            if layout is None:
                self._chunks.needs[number] = None
                raise NotRead(number)
            yield chunk, layout
            if numbers.step > 0 and self._chunks.is_short(chunk):
                raise NotRead(number)

    def _layout_of(self, chunk: Chunk) -> Layout | None:
        """Return the rows of a chunk; None until it is known which entries are hidden."""
        progress = self._progress if self.is_filtered else None
        if progress is not None and progress.unsearched(chunk.number):
            return None
        layout = self._layouts.get(chunk.number)
        if layout is None:
            for number in [number for number in self._layouts if self._chunks.get(number) is None]:
                del self._layouts[number]
            hides = progress is not None or chunk.has_gaps
            layout = self._layouts[chunk.number] = Layout(raw=self.is_raw, hides=hides)
        if layout.done < chunk.known:
            visible = chunk.entry_mask(layout.done) if chunk.has_gaps else None
            if progress is not None:
                visible = progress.mask(chunk, layout.done, chunk.known)
            layout.grow(chunk, visible)
        return layout

    def _decide_chunks(self) -> None:
        if self._progress is not None:
            for chunk in self._chunks:
                self._progress.decide(chunk)

    def _reset_layouts(self) -> None:
        self._layouts.clear()
        self.version += 1
