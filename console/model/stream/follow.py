"""Whether a list shows its end: it follows, is locked where someone reads, or is pinned to one entry. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

NEAR: Final = 2
"""Rows from the end within which a move down follows again: the end moves, and nobody hits it exactly."""


class Hold(StrEnum):
    """What keeps a list where it is."""

    TAIL = "tail"
    """Nothing: it shows the end, and goes with it."""
    LOCKED = "locked"
    """Someone reads further up."""
    PINNED = "pinned"
    """The cursor is on an entry: what is shown is as of then."""


@dataclass(frozen=True, slots=True)
class Follow:
    """Where a list stands towards its end, and what came since it left it."""

    hold: Hold = Hold.TAIL
    new: int = 0
    position: int | None = None
    """Of the entry that it is pinned to."""

    @property
    def is_tail(self) -> bool:
        return self.hold is Hold.TAIL

    def grown(self, count: int) -> Self:
        """So many more at the end."""
        return self if self.is_tail or not count else type(self)(self.hold, self.new + count, self.position)

    def moved_up(self) -> Self:
        """Any move up lets go of the end."""
        return type(self)(Hold.LOCKED) if self.is_tail else self

    def moved_down(self, below: int) -> Self:
        """A move down that leaves so many rows below what is seen; near the end it follows. A pin stays."""
        return type(self)() if self.hold is Hold.LOCKED and below <= NEAR else self

    def pinned(self, position: int) -> Self:
        return type(self)(Hold.PINNED, self.new, position)

    def end(self) -> Self:
        """Back to what is now."""
        return type(self)()
