"""The terms of a filter: each says of every entry in a part of a chunk whether it is meant."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, NamedTuple, Protocol

from console.model.stream.chunks import Chunk, Kinds

Hits = Mapping[str, bytes | bytearray]
"""For each text that was looked for: 1 where an entry of the chunk holds it."""
ERROR: Final = '"error":"'
_ENDS: Final = ("tool.call.completed", "run.finished")
"""Entries that are no failure by themselves, but may tell of one."""


class Part(NamedTuple):
    """Entries of a chunk from offset to offset, and what was found in it."""

    chunk: Chunk
    start: int
    stop: int
    kinds: Kinds
    hits: Hits


class Term(Protocol):
    """One condition."""

    @property
    def needle(self) -> str | None:
        """The text that must be looked for to decide it; none where the index is enough."""
        ...

    def mask(self, part: Part) -> bytes:
        """A byte an entry: 1 where it is meant, else 0."""
        ...


@dataclass(frozen=True, slots=True)
class OfKind:
    """`kind:tool.*`, `kind:tool`, `kind:tool.*,state.*`"""

    patterns: tuple[str, ...]
    needle: str | None = None

    def mask(self, part: Part) -> bytes:
        chosen = [self.holds(name) for name in part.kinds.names]
        return bytes([chosen[kind] for kind in part.chunk.kinds[part.start : part.stop]])

    def holds(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) or name.startswith(f"{pattern}.") for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class OfTurn:
    """`turn:3`"""

    turn: int
    needle: str | None = None

    def mask(self, part: Part) -> bytes:
        return bytes([turn == self.turn for turn in part.chunk.turns[part.start : part.stop]])


@dataclass(frozen=True, slots=True)
class After:
    """`>200ms`: more than that after the entry before it, whether that one is shown or not."""

    microseconds: int
    needle: str | None = None

    def mask(self, part: Part) -> bytes:
        return bytes([part.chunk.since(offset) > self.microseconds for offset in range(part.start, part.stop)])


@dataclass(frozen=True, slots=True)
class Wrong:
    """`err`: refused, dropped or failed, or the end of something that tells of an error."""

    needle: str | None = ERROR

    def mask(self, part: Part) -> bytes:
        found, chunk = part.hits[ERROR], part.chunk
        ends = [name in _ENDS for name in part.kinds.names]
        return bytes(
            [
                chunk.bad[offset] or (found[offset] and ends[chunk.kinds[offset]])
                for offset in range(part.start, part.stop)
            ]
        )


@dataclass(frozen=True, slots=True)
class Holds:
    """A word, a `"text"` or `call:c_09`: in the type or the data, whatever the case of its letters."""

    needle: str | None

    def mask(self, part: Part) -> bytes:
        return bytes(part.hits[self.needle or ""][part.start : part.stop])


@dataclass(frozen=True, slots=True)
class Not:
    """`!term`"""

    term: Term

    @property
    def needle(self) -> str | None:
        return self.term.needle

    def mask(self, part: Part) -> bytes:
        return self.term.mask(part).translate(_OTHER)


_OTHER: Final = bytes([1, 0]) + bytes(range(2, 256))
