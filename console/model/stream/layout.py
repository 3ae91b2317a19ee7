"""The rows of one chunk: hidden entries have none, consecutive deltas share one."""

from array import array
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from console.model.stream.index import Chunk


class Span(NamedTuple):
    """The entries of one row: one entry, or consecutive deltas."""

    first: int
    last: int
    entries: int
    """Number of entries."""
    size: int
    """Characters of data of all its entries."""
    at: int
    until: int
    """The time of the last entry."""
    kind: str
    turn: int
    is_joined: bool
    """A row of deltas, shown by number and size."""


class Layout:
    """Where the rows of a chunk begin. Grows with a live chunk."""

    __slots__ = ("_raw", "_turn", "done", "starts", "visible")

    def __init__(self, *, raw: bool, hides: bool) -> None:
        self._raw = raw
        self._turn = -1
        """The turn of the last row if it is a row of deltas that may grow."""
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
        turn = self._turn
        for offset in range(start, stop):
            if shown is not None and not shown[offset]:
                continue
            if self._raw or not joins[offset]:
                turn = -1
                begin(offset)
            elif turns[offset] != turn:
                turn = turns[offset]
                begin(offset)
        self._turn = turn

    def after(self, offset: int) -> int:
        """The first row that begins after an offset."""
        return bisect_right(self.starts, offset)

    def before(self, offset: int) -> int:
        """The first row that does not begin before an offset."""
        return bisect_left(self.starts, offset)

    def span(self, row: int, chunk: Chunk, kinds: list[str]) -> Span:
        """One row."""
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
