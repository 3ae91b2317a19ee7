"""The index of a run in chunks: kind, size, time and turn of each entry, without its data."""

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from console.model.journal.names import NAMING_KINDS, Names
from console.model.stream.rows import Row, describe
from engine.events import WITHOUT_EFFECT, Entry, EntryHead, EntryKind, Outcome

SIZE: Final = 2_048
"""Positions in a chunk. Reading one takes a few milliseconds, and a screen rarely needs more than two."""
MAX_KINDS: Final = 65_535
_DELTA: Final = EntryKind.MESSAGE_DELTA
OTHER_KIND: Final = "other"
GONE: Final = 0
"""The kind of a position without an entry."""
_BAD_OUTCOMES: Final = WITHOUT_EFFECT | {Outcome.FAILED}


def number_of(position: int) -> int:
    """The number of the chunk of a position."""
    return (position - 1) // SIZE


class Kinds:
    """Maps entry types to small numbers."""

    def __init__(self) -> None:
        self.names: list[str] = [""]
        self._ids: dict[str, int] = {}

    def id_of(self, name: str) -> int:
        """The number of a type. Types beyond `MAX_KINDS` share one number."""
        found = self._ids.get(name)
        if found is None:
            if len(self.names) >= MAX_KINDS:
                name = OTHER_KIND
            found = self._ids.setdefault(name, len(self.names))
            if found == len(self.names):
                self.names.append(name)
        return found


class Chunk:
    """The heads of up to `SIZE` entries in columns, 20 bytes each, without gaps from the chunk's first position."""

    __slots__ = ("ats", "bad", "before", "first", "has_gaps", "joins", "kinds", "look", "number", "sizes", "turns")

    def __init__(self, number: int, before: int | None = None) -> None:
        self.number = number
        self.first = number * SIZE + 1
        self.before = before
        """The time of the entry before the first one."""
        self.kinds = array("H")
        self.bad = bytearray()
        """1 for an entry without effect or of a failure."""
        self.joins = bytearray()
        """1 for a delta that may share a row with its neighbours."""
        self.sizes = array("I")
        self.ats = array("q")
        self.turns = array("I")
        self.has_gaps = False
        self.look = 0
        """The tick in which the chunk was last needed."""

    @property
    def known(self) -> int:
        """The number of known positions, from the first on."""
        return len(self.kinds)

    @property
    def next(self) -> int:
        """The first unknown position."""
        return self.first + len(self.kinds)

    def add(self, entries: Sequence[Entry], kinds: Kinds) -> None:
        """Append live entries. Hot path: see tests/bench/stream.py."""
        self._extend(entries, [len(entry.data) for entry in entries], kinds)

    def add_marks(self, marks: Sequence[EntryHead], kinds: Kinds) -> None:
        """Append heads from the journal, in order. Known positions and those of other chunks are skipped."""
        end = self.first + SIZE
        if marks and marks[0].position == self.first - 1:
            self.before = marks[0].at
        fresh = [mark for mark in marks if self.next <= mark.position < end]
        if fresh and fresh[-1].position - self.next + 1 == len(fresh):
            self._extend(fresh, [mark.size for mark in fresh], kinds)
            return
        for mark in (mark for mark in marks if mark.position >= self.next):
            while self.next < min(mark.position, end):
                gap = EntryHead(self.next, mark.at, "", "", None, mark.turn, 0)
                self._extend([gap], [0], kinds)
                self.kinds[-1] = GONE
                self.has_gaps = True
            if mark.position < end:
                self._extend([mark], [mark.size], kinds)

    def there(self, start: int) -> bytes:
        """A byte per position from an offset on: 0 if there is no entry."""
        return bytes([kind != GONE for kind in self.kinds[start:]])

    def since(self, offset: int) -> int:
        """Microseconds since the previous entry."""
        before = self.ats[offset - 1] if offset else self.before
        return 0 if before is None else self.ats[offset] - before

    def _extend(self, told: Sequence[Entry] | Sequence[EntryHead], sizes: list[int], kinds: Kinds) -> None:
        """Extend column by column, which takes half the time of entry by entry."""
        id_of = kinds.id_of
        self.kinds.extend([id_of(each.type) for each in told])
        self.bad.extend([_is_bad(each.type, each.outcome) for each in told])
        self.joins.extend([each.type == _DELTA and each.outcome is None for each in told])
        self.sizes.extend(sizes)
        self.ats.extend([each.at for each in told])
        self.turns.extend([each.turn for each in told])


def _is_bad(kind: str, outcome: str | None) -> bool:
    return outcome in _BAD_OUTCOMES if outcome is not None else kind == EntryKind.RUN_FAILED


@dataclass(frozen=True, slots=True)
class MarksWanted:
    """A request for entry heads after a position."""

    after: int
    limit: int
    number: int
    """The number of the chunk."""
    is_seen: bool
    """Whether a screen needs it; otherwise only the filter does."""


@dataclass(frozen=True, slots=True)
class EntriesWanted:
    """A request for whole entries."""

    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchesWanted:
    """A request for the positions in a range that contain a text."""

    text: str
    first: int
    last: int


Want = MarksWanted | EntriesWanted | MatchesWanted


MAX_CHUNKS: Final = 32
"""Chunks in memory beside those of the current screen: 1.3 MB."""


class NotRead(Exception):
    """The requested rows are not in memory. They have been requested; try again after the next tick."""


class Window:
    """The chunks of the index that are in memory: those on the screen, and the end of a live run."""

    def __init__(self, last: int) -> None:
        self.last = last
        """The newest position."""
        self.kinds = Kinds()
        self.needs: dict[int, None] = {}
        """Chunks that were requested and are incomplete, in order."""
        self._chunks: dict[int, Chunk] = {}
        self._turns: dict[int, tuple[int, int]] = {}
        """The first and last turn of every chunk that was ever in memory."""
        self._ahead: list[Entry] = []
        """Live entries of a chunk whose beginning has not been read."""
        self._look = 0
        self._is_looked_at = False

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks.values())

    @property
    def last_number(self) -> int:
        return number_of(self.last)

    def get(self, number: int) -> Chunk | None:
        """A chunk if it is in memory; does not count as use."""
        return self._chunks.get(number)

    def chunk(self, number: int) -> Chunk:
        """A chunk for the screen, as far as it is in memory. Raises NotRead."""
        chunk = self._chunks.get(number)
        if chunk is None or self.is_short(chunk):
            self.needs[number] = None
        if chunk is None or not chunk.known:
            raise NotRead(number)
        self._chunks[number] = self._chunks.pop(number)  # the most recently used is last
        chunk.look = self._look
        self._is_looked_at = True
        return chunk

    def reach(self, position: int) -> None:
        """Raise NotRead if the chunk of a position is in memory, but not up to that position."""
        chunk = self._chunks.get(number_of(position))
        if chunk is not None and chunk.next <= position:
            self.needs[chunk.number] = None
            raise NotRead(chunk.number)

    def turns(self, number: int) -> tuple[int, int]:
        """The first and last turn of a chunk. Raises NotRead."""
        chunk = self._chunks.get(number)
        if chunk is not None and chunk.known:
            self._turns[number] = (chunk.turns[0], chunk.turns[-1])
        elif number not in self._turns or number == self.last_number:
            self.chunk(number)
        return self._turns[number]

    def is_short(self, chunk: Chunk) -> bool:
        """Whether the journal has more entries of a chunk."""
        return chunk.next <= min(self.last, chunk.first + SIZE - 1)

    def push(self, entries: Sequence[Entry]) -> None:
        """Append live entries."""
        start = 0
        while start < len(entries):
            number = number_of(entries[start].position)
            stop = start + (number + 1) * SIZE - entries[start].position + 1
            self._push(number, entries[start:stop])
            start = stop

    def take(self, want: MarksWanted, marks: Sequence[EntryHead]) -> Chunk | None:
        """Take the requested heads, and the live entries that arrived behind them."""
        chunk = self._chunks.get(want.number) or Chunk(want.number)
        chunk.add_marks(marks, self.kinds)
        if chunk.number == self.last_number:
            ahead = [entry for entry in self._ahead if entry.position >= chunk.next]
            if ahead and ahead[0].position == chunk.next:
                chunk.add(ahead, self.kinds)
            self._ahead = []
        if not chunk.known:
            return None
        self._turns[chunk.number] = (chunk.turns[0], chunk.turns[-1])
        if want.is_seen or want.number in self._chunks:
            self._keep(chunk)
        return chunk

    def rest_of(self, number: int, *, is_seen: bool) -> MarksWanted:
        """The request for the unknown rest of a chunk and the entry before it."""
        chunk = self._chunks.get(number)
        after = max(0, (number * SIZE + 1 if chunk is None else chunk.next) - 2)
        return MarksWanted(after, (number + 1) * SIZE - after, number, is_seen)

    def tick(self) -> None:
        """Start a new tick."""
        self.needs.clear()
        if self._is_looked_at:
            self._look += 1
            self._is_looked_at = False

    def _push(self, number: int, entries: Sequence[Entry]) -> None:
        chunk = self._chunks.get(number)
        if chunk is None and entries[0].position == number * SIZE + 1:
            before = self._chunks.get(number - 1)
            chunk = Chunk(number, before.ats[-1] if before is not None and before.known == SIZE else None)
            self._ahead = []
            self._keep(chunk)
        if chunk is not None and chunk.next == entries[0].position:
            chunk.add(entries, self.kinds)
        elif len(self._ahead) < SIZE:
            self._ahead.extend(entries)
        else:
            self._ahead = []  # too many to keep: they are read with the rest of their chunk

    def _keep(self, chunk: Chunk) -> None:
        """Put a chunk into memory and remove those that have not been needed for long."""
        self._chunks[chunk.number] = chunk
        chunk.look = self._look
        for number in tuple(self._chunks):
            if len(self._chunks) <= MAX_CHUNKS:
                break
            # Chunks of the current screen stay, however many they are.
            if self._chunks[number].look < self._look - 1 and number != self.last_number:
                del self._chunks[number]


MAX_CACHED_ENTRIES: Final = 2_000
MAX_CACHED_BYTES: Final = 8 * 1024 * 1024
"""Characters of data of all cached entries."""


class EntryCache:
    """Caches whole entries for the rows on the screen."""

    def __init__(self) -> None:
        # Removing from the front of a plain dict makes every later search for the first key slower.
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._size = 0
        self._rows: OrderedDict[int, Row] = OrderedDict()
        self._names = Names()

    def keep(self, entries: Iterable[Entry]) -> None:
        """Add entries; the oldest are removed."""
        for entry in entries:
            if entry.position not in self._entries:
                self._entries[entry.position] = entry
                self._size += len(entry.data)
                if entry.type in NAMING_KINDS:
                    self._names.learn(entry)
        while self._entries and (len(self._entries) > MAX_CACHED_ENTRIES or self._size > MAX_CACHED_BYTES):
            self._size -= len(self._entries.popitem(last=False)[1].data)

    def entry(self, position: int) -> Entry | None:
        return self._entries.get(position)

    def row(self, position: int) -> Row | None:
        """The row of an entry if the entry or its row is cached."""
        row = self._rows.get(position)
        if row is None:
            entry = self._entries.get(position)
            if entry is None:
                return None
            row = self._rows[position] = describe(entry, self._names)
            if len(self._rows) > MAX_CACHED_ENTRIES:
                self._rows.popitem(last=False)
        return row
