"""The rows of one chunk: hidden entries have none, consecutive deltas share one."""

from array import array
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from console.model.stream.index import Chunk


class Span(NamedTuple):
    """The entries of one row: one entry, or consecutive deltas."""

    first: int
    last: int
    entry_count: int
    """Number of entries."""
    chars: int
    """Characters of data of all its entries."""
    at: int
    until: int
    """The time of the last entry."""
    kind: str
    turn: int
    is_joined: bool
    """A row of deltas, shown by number and size."""


class Layout:
    """The offsets at which the rows of a chunk begin. Grows with a live chunk."""

    __slots__ = ("_joined_turn", "_raw", "done", "starts", "visible")

    def __init__(self, *, raw: bool, hides: bool) -> None:
        self._raw = raw
        self._joined_turn = -1
        """The turn of the last row if more deltas may join it, else -1."""
        self.visible: bytearray | None = bytearray() if hides else None
        """A byte per entry; None if all are visible."""
        self.done = 0
        """Number of entries that are laid out."""
        self.starts = array("H")

    def grow(self, chunk: Chunk, visible: bytes | None) -> None:
        """Lay out the next entries. `visible` has a byte for each of them if any may be hidden."""
        start, stop = self.done, chunk.known
        self.done = stop
        if self.visible is not None and visible is not None:
            self.visible.extend(visible)
        if self._raw and self.visible is None:
            self.starts.extend(range(start, stop))
            return
        joins, turns, shown, begin = chunk.joins, chunk.turns, self.visible, self.starts.append
        turn = self._joined_turn
        for offset in range(start, stop):
            if shown is not None and not shown[offset]:
                continue
            if self._raw or not joins[offset]:
                turn = -1
                begin(offset)
            elif turns[offset] != turn:
                turn = turns[offset]
                begin(offset)
        self._joined_turn = turn

    def row_after(self, offset: int) -> int:
        """Return the first row that begins after an offset."""
        return bisect_right(self.starts, offset)

    def rows_before(self, offset: int) -> int:
        """Return the number of rows that begin before an offset."""
        return bisect_left(self.starts, offset)

    def span(self, row: int, chunk: Chunk, kinds: list[str]) -> Span:
        start = self.starts[row]
        stop = self.starts[row + 1] if row + 1 < len(self.starts) else self.done
        is_joined = bool(chunk.joins[start]) and not self._raw
        count, length, last = 1, chunk.sizes[start], start
        if stop - start > 1 and is_joined:
            if self.visible is None:
                count, length, last = stop - start, sum(chunk.sizes[start:stop]), stop - 1
            else:
                offsets = [offset for offset in range(start, stop) if self.visible[offset]]
                count, length, last = len(offsets), sum(chunk.sizes[offset] for offset in offsets), offsets[-1]
        first = chunk.first
        return Span(
            first + start,
            first + last,
            count,
            length,
            chunk.ats[start],
            chunk.ats[last],
            kinds[chunk.kinds[start]],
            chunk.turns[start],
            is_joined,
        )

    @property
    def hidden(self) -> int:
        return 0 if self.visible is None else self.visible.count(0)
