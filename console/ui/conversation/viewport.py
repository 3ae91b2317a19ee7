"""The scroll position in a conversation. Only rows near it are ever computed."""

from collections.abc import Sequence
from itertools import islice

from console.model.conversation.conversation import ConversationModel
from console.model.text.follow import Follow
from console.ui.conversation.visible_rows import Height, RowPosition, VisibleRows


class Viewport:
    """The rows in view: the last ones while the end is followed, else those from the scroll position."""

    def __init__(self, height: Height) -> None:
        self.follow = Follow()
        self.height = 1
        """The number of rows in view."""
        self._height = height
        self._conversation = ConversationModel()
        self._rows = VisibleRows(self._conversation, height)
        self._top = RowPosition(0, 0, 0)
        self._seen: list[RowPosition] | None = None

    def show_conversation(self, conversation: ConversationModel) -> None:
        """Show another conversation from its end."""
        self.follow, self._conversation, self._rows = Follow(), conversation, VisibleRows(conversation, self._height)
        self.invalidate()

    def invalidate(self) -> None:
        """Compute the rows again, because something has changed."""
        self._seen = None

    @property
    def is_stale(self) -> bool:
        return self._seen is None

    @property
    def seen(self) -> Sequence[RowPosition]:
        if self._seen is None:
            if self.follow.is_tail:
                self._top = self._rows.above(self._rows.end(), self.height)
            self._seen = list(islice(self._rows.down(self._top), self.height))
        return self._seen

    def move(self, count: int) -> None:
        """Scroll by rows; negative is up."""
        seen = self.seen
        if not seen:
            return
        if count < 0:
            self._stand(self._rows.above(seen[0], -count), self.follow.moved_up())
        elif not self.follow.is_tail:
            ahead = list(islice(self._rows.down(seen[0]), count + self.height + 3))
            top = ahead[min(count, len(ahead) - 1)]
            below = len(ahead) - count - self.height
            # Later runs have not been read: following this end would scroll as they are loaded.
            self._stand(top, self.follow if self._conversation.has_later else self.follow.moved_down(below))

    def go_to(self, number: int) -> None:
        """Scroll so that a block is at the top."""
        self._stand(RowPosition(number, 0, 0), self.follow.moved_up())

    def stay(self) -> None:
        """Stop following the end and keep the rows in view."""
        if seen := self.seen:
            self._stand(seen[0], self.follow.moved_up())

    def go_live(self) -> None:
        self.follow = self.follow.end()
        self.invalidate()

    def bring(self, number: int) -> None:
        """Scroll a block into view: all of it, or as much of its beginning as fits."""
        seen, rows = self.seen, self._rows
        if not seen:
            return
        is_cut_below = any(position.number == number for position in islice(rows.down(seen[-1]), 1, 2))
        # The first row may be the blank row above the block, which need not be in view.
        is_cut_above = seen[0] > RowPosition(number, 0, 1)
        if is_cut_above or rows.of_block(number, self.height + 1) > self.height:
            self.go_to(number)
        elif is_cut_below or seen[-1].number < number:
            self._stand(rows.above(RowPosition(number + 1, 0, 0), self.height), self.follow.moved_up())

    def _stand(self, top: RowPosition, follow: Follow) -> None:
        self._top, self.follow = top, follow
        self.invalidate()
