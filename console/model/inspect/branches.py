"""Which lines of an unfolded tree stand where, without making any of them."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from console.model.inspect.folds import Key, Path


class Branch:
    """An open container or text. A line is found by bisecting the open children only: the closed ones are one each."""

    __slots__ = ("_below", "_places", "_starts", "depth", "height", "key_width", "keys", "path", "texts", "value")

    def __init__(self, value: Any, path: Path, keys: Sequence[Key], texts: Sequence[str] | None = None) -> None:
        self.value = value
        self.path = path
        self.depth = len(path)
        self.keys = keys
        self.texts = texts
        """The rows of an open text; nothing where it is a container."""
        self.key_width = 0
        self.height = self.count
        """All its lines, with those of what is open in it."""
        self._places: list[int] = []
        self._below: list[Branch] = []
        self._starts: list[int] = []

    @property
    def count(self) -> int:
        """Its own lines."""
        return len(self.keys) if self.texts is None else len(self.texts)

    def locate(self, row: int) -> tuple[int, "Branch | None", int]:
        """The child that a row belongs to; if the row is inside of it, its branch and the row there."""
        at = bisect_right(self._starts, row) - 1
        if at < 0:
            return row, None, 0
        inside = row - self._starts[at] - 1
        if inside < 0:
            return self._places[at], None, 0
        below = self._below[at]
        if inside < below.height:
            return self._places[at], below, inside
        return self._places[at] + 1 + inside - below.height, None, 0

    def row_of(self, place: int) -> int:
        """Where a child's own line is."""
        at = bisect_left(self._places, place)
        if not at:
            return place
        last = at - 1
        return self._starts[last] + self._below[last].height + place - self._places[last]

    def below(self, place: int) -> "Branch | None":
        """What is open at a child."""
        at = bisect_left(self._places, place)
        return self._below[at] if at < len(self._places) and self._places[at] == place else None

    def open(self, place: int, branch: "Branch") -> None:
        at = bisect_left(self._places, place)
        self._places.insert(at, place)
        self._below.insert(at, branch)
        self.settle()

    def close(self, place: int) -> None:
        at = bisect_left(self._places, place)
        del self._places[at], self._below[at]
        self.settle()

    def settle(self) -> None:
        """Count again, after something was opened or closed in it or below."""
        self._starts.clear()
        extra = 0
        for place, branch in zip(self._places, self._below, strict=True):
            self._starts.append(place + extra)
            extra += branch.height
        self.height = self.count + extra
