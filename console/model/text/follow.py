"""Whether a list follows its end, stays at a scroll position, or is pinned to an entry."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

NEAR_END_ROWS: Final = 2
"""Rows from the end within which a move down follows again, because a moving end is hard to hit."""


class FollowState(StrEnum):
    """What a list shows."""

    TAIL = "tail"
    """The end, and it moves with it."""
    LOCKED = "locked"
    """A scroll position further up."""
    PINNED = "pinned"
    """The entry under the cursor; the screen shows the session as of that entry."""


@dataclass(frozen=True, slots=True)
class Follow:
    """What a list shows, and the number of rows that were added since it left the end."""

    state: FollowState = FollowState.TAIL
    new: int = 0
    """Rows that were added since the list left the end."""
    position: int | None = None
    """The position of the pinned entry."""

    @property
    def is_tail(self) -> bool:
        return self.state is FollowState.TAIL

    def grown(self, count: int) -> Self:
        """Return the state after rows were added at the end."""
        return self if self.is_tail or not count else type(self)(self.state, self.new + count, self.position)

    def moved_up(self) -> Self:
        """Return the state after a move up, which stops following."""
        return type(self)(FollowState.LOCKED) if self.is_tail else self

    def moved_down(self, below: int) -> Self:
        """Return the state after a move down with `below` rows left: near the end the list follows. A pin stays."""
        return type(self)() if self.state is FollowState.LOCKED and below <= NEAR_END_ROWS else self

    def pinned(self, position: int) -> Self:
        return type(self)(FollowState.PINNED, self.new, position)

    def end(self) -> Self:
        """Follow the end."""
        return type(self)()
