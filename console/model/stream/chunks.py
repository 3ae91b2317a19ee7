"""The index of a run in pieces: what each entry is, how large and when, without what it says."""

from array import array
from collections.abc import Sequence
from typing import Final

from engine.events import Entry, Mark

SIZE: Final = 2_048
"""Positions in a chunk. It is read in some milliseconds, and one screen of a run rarely needs more than two."""
DELTA: Final = "message.delta"
MOST_KINDS: Final = 65_535
GONE: Final = 0
"""The kind of a position that the journal does not have."""
_BAD: Final = frozenset({"dropped", "refused", "ignored", "unknown", "failed"})
_BAD_KINDS: Final = frozenset({"run.failed"})


def number_of(position: int) -> int:
    """The chunk that a position is in."""
    return (position - 1) // SIZE


class Kinds:
    """The types of entries as small numbers."""

    def __init__(self) -> None:
        self.names: list[str] = [""]
        self._ids: dict[str, int] = {}

    def id_of(self, name: str) -> int:
        """The number of a type; a runner that makes up too many gets one for all the rest."""
        found = self._ids.get(name)
        if found is None:
            if len(self.names) >= MOST_KINDS:
                name = "other"
            found = self._ids.setdefault(name, len(self.names))
            if found == len(self.names):
                self.names.append(name)
        return found


class Chunk:
    """The marks of up to `SIZE` entries in columns, 20 bytes each, from the chunk's first position without a hole."""

    __slots__ = ("ats", "bad", "before", "first", "has_gaps", "joins", "kinds", "look", "number", "sizes", "turns")

    def __init__(self, number: int, before: int | None = None) -> None:
        self.number = number
        self.first = number * SIZE + 1
        self.before = before
        """When the entry before the first was written."""
        self.kinds = array("H")
        self.bad = bytearray()
        """1 where an entry had no effect or tells of a failure."""
        self.joins = bytearray()
        """1 where an entry is a delta like its neighbours and may share a row with them."""
        self.sizes = array("I")
        self.ats = array("q")
        self.turns = array("I")
        self.has_gaps = False
        self.look = 0
        """When it was needed last."""

    @property
    def known(self) -> int:
        """How many positions from the first on are known."""
        return len(self.kinds)

    @property
    def next(self) -> int:
        """The first position that is not known."""
        return self.first + len(self.kinds)

    def add(self, entries: Sequence[Entry], kinds: Kinds) -> None:
        """Take entries that follow on. This is the hot path of a live run."""
        self._extend(entries, [len(entry.data) for entry in entries], kinds)

    def add_marks(self, marks: Sequence[Mark], kinds: Kinds) -> None:
        """Take marks from the journal, rising; what is known or not of this chunk is left out."""
        end = self.first + SIZE
        if marks and marks[0].position == self.first - 1:
            self.before = marks[0].at
        fresh = [mark for mark in marks if self.next <= mark.position < end]
        if fresh and fresh[-1].position - self.next + 1 == len(fresh):
            self._extend(fresh, [mark.size for mark in fresh], kinds)
            return
        for mark in (mark for mark in marks if mark.position >= self.next):
            while self.next < min(mark.position, end):
                gap = Mark(self.next, mark.at, "", "", None, mark.turn, 0)
                self._extend([gap], [0], kinds)
                self.kinds[-1] = GONE
                self.has_gaps = True
            if mark.position < end:
                self._extend([mark], [mark.size], kinds)

    def there(self, start: int) -> bytes:
        """A byte an entry from an offset on: 0 where the journal has none."""
        return bytes([kind != GONE for kind in self.kinds[start:]])

    def since(self, offset: int) -> int:
        """Microseconds from the entry before to this one."""
        before = self.ats[offset - 1] if offset else self.before
        return 0 if before is None else self.ats[offset] - before

    def _extend(self, told: Sequence[Entry] | Sequence[Mark], sizes: list[int], kinds: Kinds) -> None:
        """Column by column: half of what it takes entry by entry."""
        id_of = kinds.id_of
        self.kinds.extend([id_of(each.type) for each in told])
        self.bad.extend([_is_bad(each.type, each.outcome) for each in told])
        self.joins.extend([each.type == DELTA and each.outcome is None for each in told])
        self.sizes.extend(sizes)
        self.ats.extend([each.at for each in told])
        self.turns.extend([each.turn for each in told])


def _is_bad(kind: str, outcome: str | None) -> bool:
    return outcome in _BAD if outcome is not None else kind in _BAD_KINDS
