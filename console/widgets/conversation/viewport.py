"""Where a reader stands in a talk, and how they move. It knows rows only, and only those near it."""

from collections.abc import Sequence
from itertools import islice

from console.model.stream.follow import Follow
from console.model.talk.talk import Talk
from console.widgets.conversation.passage import Height, Rows, Spot


class Viewport:
    """The rows in view: the last ones as long as the end is followed, else those from where the reader stands."""

    def __init__(self, height: Height) -> None:
        self.follow = Follow()
        self.tall = 1
        """How many rows can be seen."""
        self._height = height
        self._talk = Talk()
        self._rows = Rows(self._talk, height)
        self._top = Spot(0, 0, 0)
        self._seen: list[Spot] | None = None

    def turn_to(self, talk: Talk) -> None:
        """Another talk is seen from its end."""
        self.follow, self._talk, self._rows = Follow(), talk, Rows(talk, self._height)
        self.look_again()

    def look_again(self) -> None:
        """Something has changed: the rows are to be found anew."""
        self._seen = None

    @property
    def is_stale(self) -> bool:
        return self._seen is None

    @property
    def seen(self) -> Sequence[Spot]:
        if self._seen is None:
            if self.follow.is_tail:
                self._top = self._rows.above(self._rows.end(), self.tall)
            self._seen = list(islice(self._rows.down(self._top), self.tall))
        return self._seen

    def move(self, count: int) -> None:
        """So many rows down, or up."""
        seen = self.seen
        if not seen:
            return
        if count < 0:
            self._stand(self._rows.above(seen[0], -count), self.follow.moved_up())
        elif not self.follow.is_tail:
            ahead = list(islice(self._rows.down(seen[0]), count + self.tall + 3))
            top = ahead[min(count, len(ahead) - 1)]
            below = len(ahead) - count - self.tall
            # What is read ends here, but not what was said: who followed this end would be dragged along by the rest.
            self._stand(top, self.follow if self._talk.has_later else self.follow.moved_down(below))

    def go_to(self, number: int) -> None:
        """A block's first row comes first."""
        self._stand(Spot(number, 0, 0), self.follow.moved_up())

    def stay(self) -> None:
        """What is seen is to stay, whatever comes."""
        if seen := self.seen:
            self._stand(seen[0], self.follow.moved_up())

    def go_live(self) -> None:
        self.follow = self.follow.end()
        self.look_again()

    def bring(self, number: int) -> None:
        """Have a block in view: all of it, or as much from its beginning as there is room for."""
        seen, rows = self.seen, self._rows
        if not seen:
            return
        is_cut_below = any(spot.number == number for spot in islice(rows.down(seen[-1]), 1, 2))
        # Its first row may be the gap above it, which nobody misses.
        is_cut_above = seen[0] > Spot(number, 0, 1)
        if is_cut_above or rows.of_block(number, self.tall + 1) > self.tall:
            self.go_to(number)
        elif is_cut_below or seen[-1].number < number:
            self._stand(rows.above(Spot(number + 1, 0, 0), self.tall), self.follow.moved_up())

    def _stand(self, top: Spot, follow: Follow) -> None:
        self._top, self.follow = top, follow
        self.look_again()
