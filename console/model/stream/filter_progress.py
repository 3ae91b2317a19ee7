"""The progress of a filter over the entries of a run, and the matches that it has found."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from console.model.stream.filter import Filter, Part
from console.model.stream.index import CHUNK_ENTRIES, Chunk, ChunkCache, Kinds, NotRead, chunk_number
from engine.events import Entry

SLICE_CHUNKS: Final = 8
"""Chunks that one read searches: 16,384 entries."""
_NO_HITS: Final = bytes(CHUNK_ENTRIES)


class FilterProgress:
    """Applies a filter chunk by chunk and keeps a byte per entry, so that the chunks need not stay in memory.

    The journal searches for texts slice by slice; live entries are searched here.
    """

    def __init__(self, applied: Filter, kinds: Kinds, last: int) -> None:
        self.filter = applied
        self._kinds = kinds
        self._needles = {needle: _search_bytes(needle) for needle in applied.needles}
        self._hits: dict[tuple[str, int], bytearray] = {}
        self._since = last
        """Entries after this position are searched as they arrive."""
        self._searched: set[tuple[str, int]] = set()
        self.decided: dict[int, bytes] = {}
        """The mask of each decided chunk, by its number."""
        self._shown = 0

    def search_live(self, entries: Iterable[Entry]) -> None:
        """Search live entries for the texts."""
        for needle, (lower, word) in self._needles.items():
            for entry in entries:
                if lower in entry.data.encode("utf-8", "surrogatepass").lower() or word in entry.type:
                    self._hit(needle, entry.position)

    def search_again(self, last: int) -> None:
        """Let the journal search up to a position, because live entries were missed."""
        self._since = last
        self._searched.clear()

    # Reads

    def unsearched(self, number: int) -> list[tuple[str, int, int]]:
        """Return the texts that were not searched in a chunk's slice yet, with the range to search."""
        part = number // SLICE_CHUNKS
        first, last = (
            part * SLICE_CHUNKS * CHUNK_ENTRIES + 1,
            min((part + 1) * SLICE_CHUNKS * CHUNK_ENTRIES, self._since),
        )
        if first > last:
            return []
        return [(needle, first, last) for needle in self._needles if (needle, part) not in self._searched]

    def add_hits(self, needle: str, first: int, last: int, positions: Sequence[int]) -> None:
        """Add the positions at which a text was found in a range."""
        if needle not in self._needles or last < min(self._since, first + SLICE_CHUNKS * CHUNK_ENTRIES - 1):
            return
        for position in positions:
            self._hit(needle, position)
        part = chunk_number(first) // SLICE_CHUNKS
        self._searched.add((needle, part))
        for number in range(part * SLICE_CHUNKS, (part + 1) * SLICE_CHUNKS):
            # A chunk without a required text has no match.
            if (number + 1) * CHUNK_ENTRIES <= self._since and self._cannot_match(number):
                self._decide_chunk(number, _NO_HITS)

    def undecided(self, last: int) -> Iterator[int]:
        """Return the numbers of the chunks that are not decided, newest first."""
        return (number for number in range(chunk_number(last), -1, -1) if not self.is_decided(number, last))

    def is_decided(self, number: int, last: int) -> bool:
        if (number + 1) * CHUNK_ENTRIES <= last:
            return number in self.decided
        return not self.unsearched(number)

    def progress(self, last: int) -> float:
        """Return the share of decided chunks, from 0 to 1."""
        if not last:
            return 1.0
        chunks = chunk_number(last) + 1
        return 1 - sum(1 for _ in self.undecided(last)) / chunks

    # Decisions

    def mask(self, chunk: Chunk, start: int, stop: int) -> bytes:
        """Return the mask of a range of a chunk whose texts were searched."""
        if (decided := self.decided.get(chunk.number)) is not None:
            return decided[start:stop]
        hits = {needle: self._hits.get((needle, chunk.number), _NO_HITS) for needle in self._needles}
        return self.filter.mask(Part(chunk, start, stop, self._kinds, hits))

    def decide(self, chunk: Chunk) -> None:
        """Decide a complete chunk if its texts were searched."""
        if chunk.known == CHUNK_ENTRIES and chunk.number not in self.decided and not self.unsearched(chunk.number):
            self._decide_chunk(chunk.number, self.mask(chunk, 0, CHUNK_ENTRIES))

    # Matches

    def match_after(self, chunks: ChunkCache, position: int) -> int | None:
        """Return the position of the next match. Raises NotRead."""
        for number in range(position // CHUNK_ENTRIES, chunks.last_number + 1):
            offset = self._chunk_mask(chunks, number).find(1, max(0, position - number * CHUNK_ENTRIES))
            if offset >= 0:
                return number * CHUNK_ENTRIES + 1 + offset
        return None

    def match_before(self, chunks: ChunkCache, position: int) -> int | None:
        """Return the position of the previous match. Raises NotRead."""
        for number in range(chunk_number(min(position - 1, chunks.last)), -1, -1):
            offset = self._chunk_mask(chunks, number).rfind(1, 0, max(0, position - number * CHUNK_ENTRIES - 1))
            if offset >= 0:
                return number * CHUNK_ENTRIES + 1 + offset
        return None

    @property
    def hidden(self) -> int:
        """The number of hidden entries in decided chunks."""
        return len(self.decided) * CHUNK_ENTRIES - self._shown

    def _chunk_mask(self, chunks: ChunkCache, number: int) -> bytes:
        mask = self.decided.get(number)
        if mask is not None:
            return mask
        if self.unsearched(number):
            chunks.needs[number] = None
            raise NotRead(number)
        chunk = chunks.chunk(number)
        return self.mask(chunk, 0, chunk.known)

    def _decide_chunk(self, number: int, mask: bytes) -> None:
        if number not in self.decided:
            self.decided[number] = mask
            self._shown += mask.count(1)
            for needle in self._needles:
                self._hits.pop((needle, number), None)

    def _cannot_match(self, number: int) -> bool:
        part = number // SLICE_CHUNKS
        return any(
            (needle, part) in self._searched and (needle, number) not in self._hits for needle in self.filter.required
        )

    def _hit(self, needle: str, position: int) -> None:
        number = chunk_number(position)
        found = self._hits.get((needle, number))
        if found is None:
            found = self._hits[needle, number] = bytearray(CHUNK_ENTRIES)
        found[position - number * CHUNK_ENTRIES - 1] = 1


def _search_bytes(needle: str) -> tuple[bytes, str]:
    """Return the bytes and the text to compare as SQLite does: only ASCII letters have a case."""
    lower = needle.encode("utf-8", "surrogatepass").lower()
    return lower, lower.decode("utf-8", "surrogatepass")
