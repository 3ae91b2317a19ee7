"""The chunks of a run's index that are in memory, how they grow, and which are missing."""

from collections.abc import Iterator, Sequence
from typing import Final

from console.model.stream.chunks import SIZE, Chunk, Kinds, number_of
from console.model.stream.wants import MarksWanted
from engine.events import Entry, Mark

MOST: Final = 32
"""Chunks in memory, but for those that one screen needs: 1.3 MB."""


class NotRead(Exception):
    """What was asked for is not in memory. It is wanted now; ask again when it is there."""


class Window:
    """As much of the index as is looked at, wherever that is, and the end of a live run."""

    def __init__(self, last: int) -> None:
        self.last = last
        """The newest position."""
        self.kinds = Kinds()
        self.needs: dict[int, None] = {}
        """Chunks that were asked for and are not whole, in order."""
        self._chunks: dict[int, Chunk] = {}
        self._turns: dict[int, tuple[int, int]] = {}
        """The first and last turn of every chunk that was ever here."""
        self._ahead: list[Entry] = []
        """Live entries of a chunk whose beginning is still to be read."""
        self._look = 0
        self._is_looked_at = False

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks.values())

    @property
    def last_number(self) -> int:
        return number_of(self.last)

    def get(self, number: int) -> Chunk | None:
        """A chunk, if it is here; that is no look at it."""
        return self._chunks.get(number)

    def chunk(self, number: int) -> Chunk:
        """A chunk to look at, as far as it is here. Raises NotRead."""
        chunk = self._chunks.get(number)
        if chunk is None or self.is_short(chunk):
            self.needs[number] = None
        if chunk is None or not chunk.known:
            raise NotRead(number)
        self._chunks[number] = self._chunks.pop(number)  # the last used stands last
        chunk.look = self._look
        self._is_looked_at = True
        return chunk

    def reach(self, position: int) -> None:
        """Raises NotRead where the chunk of a position is here, but not up to it."""
        chunk = self._chunks.get(number_of(position))
        if chunk is not None and chunk.next <= position:
            self.needs[chunk.number] = None
            raise NotRead(chunk.number)

    def turns(self, number: int) -> tuple[int, int]:
        """The first and the last turn in a chunk. Raises NotRead."""
        chunk = self._chunks.get(number)
        if chunk is not None and chunk.known:
            self._turns[number] = (chunk.turns[0], chunk.turns[-1])
        elif number not in self._turns or number == self.last_number:
            self.chunk(number)
        return self._turns[number]

    def is_short(self, chunk: Chunk) -> bool:
        """Whether the journal has more of a chunk."""
        return chunk.next <= min(self.last, chunk.first + SIZE - 1)

    def push(self, entries: Sequence[Entry]) -> None:
        """Live entries that follow on the last."""
        start = 0
        while start < len(entries):
            number = number_of(entries[start].position)
            stop = start + (number + 1) * SIZE - entries[start].position + 1
            self._push(number, entries[start:stop])
            start = stop

    def take(self, want: MarksWanted, marks: Sequence[Mark]) -> Chunk | None:
        """The index that was wanted, and what came live behind it meanwhile."""
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
        """What to read for a chunk: all that is not known of it, and the entry before."""
        chunk = self._chunks.get(number)
        after = max(0, (number * SIZE + 1 if chunk is None else chunk.next) - 2)
        return MarksWanted(after, (number + 1) * SIZE - after, number, is_seen)

    def tick(self) -> None:
        """A moment has passed: what is looked at from here on is newer."""
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
            self._ahead = []  # too many to hold back: they are read like the rest of their chunk

    def _keep(self, chunk: Chunk) -> None:
        """Take a chunk into memory, and let go of those that no screen has needed for long."""
        self._chunks[chunk.number] = chunk
        chunk.look = self._look
        for number in tuple(self._chunks):
            if len(self._chunks) <= MOST:
                break
            # Those of the present screen stay, however many they are.
            if self._chunks[number].look < self._look - 1 and number != self.last_number:
                del self._chunks[number]
