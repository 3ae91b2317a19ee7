"""The index of a run in chunks: kind, size, time and turn of each entry, without its data."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.events import WITHOUT_EFFECT, Entry, EntryHead, EntryKind, Outcome

CHUNK_ENTRIES: Final = 2_048
"""Positions in a chunk. Reading one takes a few milliseconds, and a screen rarely needs more than two."""
MAX_KINDS: Final = 65_535
_DELTA: Final = EntryKind.MESSAGE_DELTA
OTHER_KIND: Final = "other"
NO_ENTRY: Final = 0
"""The kind of a position without an entry."""
_BAD_OUTCOMES: Final = WITHOUT_EFFECT | {Outcome.FAILED}


def chunk_number(position: int) -> int:
    """Return the number of the chunk that holds a position."""
    return (position - 1) // CHUNK_ENTRIES


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
    """The heads of up to `CHUNK_ENTRIES` consecutive entries in columns, 20 bytes each."""

    __slots__ = ("ats", "bad", "before", "first", "has_gaps", "joins", "kinds", "last_tick", "number", "sizes", "turns")

    def __init__(self, number: int, before: int | None = None) -> None:
        self.number = number
        self.first = number * CHUNK_ENTRIES + 1
        self.before = before
        """The time of the entry before the first one."""
        self.kinds = array("H")
        self.bad = bytearray()
        """1 for an entry without effect or with a failure."""
        self.joins = bytearray()
        """1 for a delta that may share a row with its neighbours."""
        self.sizes = array("I")
        self.ats = array("q")
        self.turns = array("I")
        self.has_gaps = False
        self.last_tick = 0
        """The last tick in which the screen used the chunk."""

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

    def add_heads(self, heads: Sequence[EntryHead], kinds: Kinds) -> None:
        """Append heads from the journal, in order. Known positions and those of other chunks are skipped."""
        end = self.first + CHUNK_ENTRIES
        if heads and heads[0].position == self.first - 1:
            self.before = heads[0].at
        fresh = [head for head in heads if self.next <= head.position < end]
        if fresh and fresh[-1].position - self.next + 1 == len(fresh):
            self._extend(fresh, [head.size for head in fresh], kinds)
            return
        for head in (head for head in heads if head.position >= self.next):
            while self.next < min(head.position, end):
                gap = EntryHead(self.next, head.at, "", "", None, head.turn, 0)
                self._extend([gap], [0], kinds)
                self.kinds[-1] = NO_ENTRY
                self.has_gaps = True
            if head.position < end:
                self._extend([head], [head.size], kinds)

    def entry_mask(self, start: int) -> bytes:
        """A byte per position from an offset on: 0 if there is no entry."""
        return bytes([kind != NO_ENTRY for kind in self.kinds[start:]])

    def microseconds_before(self, offset: int) -> int:
        """Microseconds between an entry and the previous one."""
        before = self.ats[offset - 1] if offset else self.before
        return 0 if before is None else self.ats[offset] - before

    def _extend(self, added: Sequence[Entry] | Sequence[EntryHead], sizes: list[int], kinds: Kinds) -> None:
        """Extend column by column, which takes half the time of entry by entry."""
        id_of = kinds.id_of
        self.kinds.extend([id_of(each.type) for each in added])
        self.bad.extend([_is_bad(each.type, each.outcome) for each in added])
        self.joins.extend([each.type == _DELTA and each.outcome is None for each in added])
        self.sizes.extend(sizes)
        self.ats.extend([each.at for each in added])
        self.turns.extend([each.turn for each in added])


def _is_bad(kind: str, outcome: str | None) -> bool:
    return outcome in _BAD_OUTCOMES if outcome is not None else kind == EntryKind.RUN_FAILED


@dataclass(frozen=True, slots=True)
class HeadsRequest:
    """A request for entry heads after a position."""

    after: int
    limit: int
    number: int
    """The number of the chunk."""
    for_screen: bool
    """Whether the screen needs the chunk; otherwise only the filter does."""


@dataclass(frozen=True, slots=True)
class EntriesRequest:
    """A request for whole entries."""

    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchesRequest:
    """A request for the positions in a range that contain a text."""

    text: str
    first: int
    last: int


ReadRequest = HeadsRequest | EntriesRequest | MatchesRequest


MAX_CHUNKS: Final = 32
"""Chunks in memory beside those of the current screen: 1.3 MB."""


class NotRead(Exception):
    """The requested rows are not in memory. They have been requested; try again after the next tick."""


class ChunkCache:
    """The chunks in memory: those on the screen, and the end of a live run."""

    def __init__(self, last: int) -> None:
        self.last = last
        """The newest position."""
        self.kinds = Kinds()
        self.needs: dict[int, None] = {}
        """Numbers of chunks that were requested and are incomplete, in order."""
        self._chunks: dict[int, Chunk] = {}
        self._turns: dict[int, tuple[int, int]] = {}
        """The first and last turn of every chunk that was ever in memory."""
        self._ahead: list[Entry] = []
        """Live entries of a chunk whose beginning has not been read."""
        self._tick = 0
        self._was_used = False

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks.values())

    @property
    def last_number(self) -> int:
        return chunk_number(self.last)

    def get(self, number: int) -> Chunk | None:
        """Return a chunk if it is in memory, without counting this as use."""
        return self._chunks.get(number)

    def chunk(self, number: int) -> Chunk:
        """Return a chunk for the screen, as far as it is in memory. Raises NotRead."""
        chunk = self._chunks.get(number)
        if chunk is None or self.is_short(chunk):
            self.needs[number] = None
        if chunk is None or not chunk.known:
            raise NotRead(number)
        self._chunks[number] = self._chunks.pop(number)  # the most recently used is last
        chunk.last_tick = self._tick
        self._was_used = True
        return chunk

    def require(self, position: int) -> None:
        """Raise NotRead if the chunk of a position is in memory, but not up to that position."""
        chunk = self._chunks.get(chunk_number(position))
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

    def turn_of(self, position: int) -> int:
        """Return the turn of an entry. Raises NotRead."""
        chunk = self.chunk(chunk_number(position))
        return chunk.turns[min(position - chunk.first, chunk.known - 1)]

    def turn_start(self, turn: int) -> int | None:
        """Return the first position of a turn or of a later one, or None. Raises NotRead.

        Turns only rise, so this is a binary search: a run of a million entries takes nine steps.
        """
        if not self.last:
            return None
        low, high = 0, self.last_number
        while low < high:
            middle = (low + high) // 2
            if self.turns(middle)[1] >= turn:
                high = middle
            else:
                low = middle + 1
        if self.turns(low)[1] < turn:
            return None
        chunk = self.chunk(low)
        return chunk.first + next(offset for offset, each in enumerate(chunk.turns) if each >= turn)

    def is_short(self, chunk: Chunk) -> bool:
        """Whether the journal has more entries of a chunk."""
        return chunk.next <= min(self.last, chunk.first + CHUNK_ENTRIES - 1)

    def push(self, entries: Sequence[Entry]) -> None:
        """Append live entries."""
        start = 0
        while start < len(entries):
            number = chunk_number(entries[start].position)
            stop = start + (number + 1) * CHUNK_ENTRIES - entries[start].position + 1
            self._push(number, entries[start:stop])
            start = stop

    def add_heads(self, request: HeadsRequest, heads: Sequence[EntryHead]) -> Chunk | None:
        """Add requested heads, and the live entries that arrived meanwhile. Returns their chunk, if it is known."""
        chunk = self._chunks.get(request.number) or Chunk(request.number)
        chunk.add_heads(heads, self.kinds)
        if chunk.number == self.last_number:
            ahead = [entry for entry in self._ahead if entry.position >= chunk.next]
            if ahead and ahead[0].position == chunk.next:
                chunk.add(ahead, self.kinds)
            self._ahead = []
        if not chunk.known:
            return None
        self._turns[chunk.number] = (chunk.turns[0], chunk.turns[-1])
        if request.for_screen or request.number in self._chunks:
            self._keep(chunk)
        return chunk

    def request_rest(self, number: int, *, for_screen: bool) -> HeadsRequest:
        """Return the request for the unknown part of a chunk and the entry before it."""
        chunk = self._chunks.get(number)
        after = max(0, (number * CHUNK_ENTRIES + 1 if chunk is None else chunk.next) - 2)
        return HeadsRequest(after, (number + 1) * CHUNK_ENTRIES - after, number, for_screen)

    def tick(self) -> None:
        """Start the next tick: requests are forgotten, and chunks that are not used again may be removed."""
        self.needs.clear()
        if self._was_used:
            self._tick += 1
            self._was_used = False

    def _push(self, number: int, entries: Sequence[Entry]) -> None:
        chunk = self._chunks.get(number)
        if chunk is None and entries[0].position == number * CHUNK_ENTRIES + 1:
            before = self._chunks.get(number - 1)
            chunk = Chunk(number, before.ats[-1] if before is not None and before.known == CHUNK_ENTRIES else None)
            self._ahead = []
            self._keep(chunk)
        if chunk is not None and chunk.next == entries[0].position:
            chunk.add(entries, self.kinds)
        elif len(self._ahead) < CHUNK_ENTRIES:
            self._ahead.extend(entries)
        else:
            self._ahead = []  # too many to keep: they are read with the rest of their chunk

    def _keep(self, chunk: Chunk) -> None:
        """Keep a chunk in memory, and remove those that were used least recently."""
        self._chunks[chunk.number] = chunk
        chunk.last_tick = self._tick
        for number in tuple(self._chunks):
            if len(self._chunks) <= MAX_CHUNKS:
                break
            # Chunks of the current screen stay, however many they are.
            if self._chunks[number].last_tick < self._tick - 1 and number != self.last_number:
                del self._chunks[number]
