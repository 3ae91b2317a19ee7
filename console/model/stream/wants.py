"""What a timeline needs read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MarksWanted:
    """The index after a position."""

    after: int
    limit: int
    number: int
    """The chunk that they are for."""
    is_seen: bool
    """Whether someone looks at it; otherwise only the filter needs to."""


@dataclass(frozen=True, slots=True)
class EntriesWanted:
    """Whole entries."""

    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchesWanted:
    """The positions from one to another that hold a text."""

    text: str
    first: int
    last: int


Want = MarksWanted | EntriesWanted | MatchesWanted
