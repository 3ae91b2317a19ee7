"""A filter at work on one run: what is decided so far, what must be read for the rest, and how far that is."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from console.model.stream.chunks import SIZE, Chunk, Kinds, number_of
from console.model.stream.filters import Filter
from console.model.stream.terms import Part
from engine.events import Entry

SLICE: Final = 8
"""Chunks in which a text is looked for at once: 16,384 entries."""
_NO_HITS: Final = bytes(SIZE)


class Sieve:
    """Decides chunk by chunk and keeps a byte an entry, so that chunks themselves need not stay in memory.

    Texts are looked for by the journal, slice by slice; in what comes live they are looked for here.
    """

    def __init__(self, chosen: Filter, kinds: Kinds, last: int) -> None:
        self.filter = chosen
        self._kinds = kinds
        self._needles = {needle: _bytes(needle) for needle in chosen.needles}
        self._hits: dict[tuple[str, int], bytearray] = {}
        self._since = last
        """What comes after this position is looked through as it comes."""
        self._found: set[tuple[str, int]] = set()
        self.decided: dict[int, bytes] = {}
        self._shown = 0

    def hear(self, entries: Iterable[Entry]) -> None:
        """Look through live entries for the texts."""
        for needle, (lower, word) in self._needles.items():
            for entry in entries:
                if lower in entry.data.encode("utf-8", "surrogatepass").lower() or word in entry.type:
                    self._hit(needle, entry.position)

    def restart(self, last: int) -> None:
        """Entries were missed: look again up to here."""
        self._since = last
        self._found.clear()

    # What must be read

    def unfound(self, number: int) -> list[tuple[str, int, int]]:
        """Texts that were not looked for around a chunk yet, with the positions to look in."""
        part = number // SLICE
        first, last = part * SLICE * SIZE + 1, min((part + 1) * SLICE * SIZE, self._since)
        if first > last:
            return []
        return [(needle, first, last) for needle in self._needles if (needle, part) not in self._found]

    def found(self, needle: str, first: int, last: int, positions: Sequence[int]) -> None:
        """Where a text is, in a part of the run that was looked through."""
        if needle not in self._needles or last < min(self._since, first + SLICE * SIZE - 1):
            return
        for position in positions:
            self._hit(needle, position)
        part = number_of(first) // SLICE
        self._found.add((needle, part))
        for number in range(part * SLICE, (part + 1) * SLICE):
            # Without a text that it needs there is nothing in a chunk, whatever else it holds.
            if (number + 1) * SIZE <= self._since and self._is_barren(number):
                self._settle(number, _NO_HITS)

    def undecided(self, last: int) -> Iterator[int]:
        """Chunks still to be decided, the newest first."""
        return (number for number in range(number_of(last), -1, -1) if not self.is_decided(number, last))

    def is_decided(self, number: int, last: int) -> bool:
        if (number + 1) * SIZE <= last:
            return number in self.decided
        return not self.unfound(number)

    def progress(self, last: int) -> float:
        """The share of chunks that are decided."""
        if not last:
            return 1.0
        chunks = number_of(last) + 1
        return 1 - sum(1 for _ in self.undecided(last)) / chunks

    # Deciding

    def mask(self, chunk: Chunk, start: int, stop: int) -> bytes:
        """What is shown of a part of a chunk in which the texts have been looked for."""
        if (decided := self.decided.get(chunk.number)) is not None:
            return decided[start:stop]
        hits = {needle: self._hits.get((needle, chunk.number), _NO_HITS) for needle in self._needles}
        return self.filter.mask(Part(chunk, start, stop, self._kinds, hits))

    def decide(self, chunk: Chunk) -> None:
        """Settle a whole chunk, if its texts have been looked for."""
        if chunk.known == SIZE and chunk.number not in self.decided and not self.unfound(chunk.number):
            self._settle(chunk.number, self.mask(chunk, 0, SIZE))

    @property
    def hidden(self) -> int:
        """Entries that are hidden in the chunks that are settled."""
        return len(self.decided) * SIZE - self._shown

    def _settle(self, number: int, mask: bytes) -> None:
        if number not in self.decided:
            self.decided[number] = mask
            self._shown += mask.count(1)
            for needle in self._needles:
                self._hits.pop((needle, number), None)

    def _is_barren(self, number: int) -> bool:
        part = number // SLICE
        return any(
            (needle, part) in self._found and (needle, number) not in self._hits for needle in self.filter.required
        )

    def _hit(self, needle: str, position: int) -> None:
        number = number_of(position)
        found = self._hits.get((needle, number))
        if found is None:
            found = self._hits[needle, number] = bytearray(SIZE)
        found[position - number * SIZE - 1] = 1


def _bytes(needle: str) -> tuple[bytes, str]:
    """As SQLite compares: only the letters of ASCII have a case."""
    lower = needle.encode("utf-8", "surrogatepass").lower()
    return lower, lower.decode("utf-8", "surrogatepass")
