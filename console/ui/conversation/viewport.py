"""The scroll position in a conversation and the rows in view.

The pane moves the viewport and asks it for the rows in view. The viewport walks the blocks from its position with
`RowWalk`, which asks the pane for the height of a piece; only pieces near the view are ever drawn.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from console.model.conversation.blocks import AgentMessage, Block
from console.model.conversation.conversation import ConversationModel
from console.model.text.follow import Follow


class RowPosition(NamedTuple):
    """A row: block number, piece and line. Positions compare in the order of the rows."""

    number: int
    piece: int
    line: int


Height = Callable[[Block, int], int]
"""Returns the number of rows of one piece of a block."""


class Viewport:
    """The rows in view: the last ones while the end is followed, else those from the scroll position."""

    def __init__(self, height: Height) -> None:
        self.follow = Follow()
        self.height = 1
        """The number of rows in view."""
        self._height = height
        self._conversation = ConversationModel()
        self._walk = RowWalk(self._conversation, height)
        self._top = RowPosition(0, 0, 0)
        self._seen: list[RowPosition] | None = None

    def show_conversation(self, conversation: ConversationModel) -> None:
        """Show another conversation from its end."""
        self.follow, self._conversation, self._walk = Follow(), conversation, RowWalk(conversation, self._height)
        self.invalidate()

    def invalidate(self) -> None:
        """Compute the rows again, because something has changed."""
        self._seen = None

    @property
    def is_stale(self) -> bool:
        return self._seen is None

    @property
    def seen(self) -> Sequence[RowPosition]:
        """The rows in view; computed if they are stale."""
        if self._seen is None:
            if self.follow.is_tail:
                self._top = self._walk.above(self._walk.end(), self.height)
            self._seen = list(islice(self._walk.down(self._top), self.height))
        return self._seen

    def move(self, count: int) -> None:
        """Scroll by rows; negative is up."""
        seen = self.seen
        if not seen:
            return
        if count < 0:
            self._set_top(self._walk.above(seen[0], -count), self.follow.moved_up())
        elif not self.follow.is_tail:
            ahead = list(islice(self._walk.down(seen[0]), count + self.height + 3))
            top = ahead[min(count, len(ahead) - 1)]
            below = len(ahead) - count - self.height
            # Later entries have not been read: following this end would scroll as they are loaded.
            self._set_top(top, self.follow if self._conversation.has_later else self.follow.moved_down(below))

    def go_to(self, number: int) -> None:
        """Scroll so that a block is at the top."""
        self._set_top(RowPosition(number, 0, 0), self.follow.moved_up())

    def stay(self) -> None:
        """Stop following the end and keep the rows in view."""
        if seen := self.seen:
            self._set_top(seen[0], self.follow.moved_up())

    def go_live(self) -> None:
        """Follow the end."""
        self.follow = self.follow.end()
        self.invalidate()

    def scroll_to(self, number: int) -> None:
        """Scroll a block into view: all of it, or as much of its beginning as fits."""
        seen, walk = self.seen, self._walk
        if not seen:
            return
        is_cut_below = any(position.number == number for position in islice(walk.down(seen[-1]), 1, 2))
        # The first row may be the blank row above the block, which need not be in view.
        is_cut_above = seen[0] > RowPosition(number, 0, 1)
        if is_cut_above or walk.block_rows(number, self.height + 1) > self.height:
            self.go_to(number)
        elif is_cut_below or seen[-1].number < number:
            self._set_top(walk.above(RowPosition(number + 1, 0, 0), self.height), self.follow.moved_up())

    def _set_top(self, top: RowPosition, follow: Follow) -> None:
        self._top, self.follow = top, follow
        self.invalidate()


class RowWalk:
    """Walks the rows of a conversation up or down from a position, never from the beginning."""

    def __init__(self, conversation: ConversationModel, height: Height) -> None:
        self._conversation = conversation
        self._height = height

    def down(self, position: RowPosition) -> Iterator[RowPosition]:
        """This row and the rows below it."""
        for block, piece in self._pieces(position.number, position.piece, 1):
            first = position.line if (block.number, piece) == position[:2] else 0
            for line in range(first, self._height(block, piece)):
                yield RowPosition(block.number, piece, line)

    def up(self, position: RowPosition) -> Iterator[RowPosition]:
        """The rows above this one, the nearest first."""
        for block, piece in self._pieces(position.number, position.piece, -1):
            rows = self._height(block, piece)
            last = min(position.line, rows) if (block.number, piece) == position[:2] else rows
            for line in range(last - 1, -1, -1):
                yield RowPosition(block.number, piece, line)

    def end(self) -> RowPosition:
        """The position behind the last row."""
        blocks = self._conversation.blocks
        return RowPosition(blocks[-1].number + 1, 0, 0) if blocks else RowPosition(0, 0, 0)

    def above(self, position: RowPosition, count: int) -> RowPosition:
        """The row `count` rows further up, or the first row."""
        found = deque(islice(self.up(position), count), maxlen=1)
        return found[0] if found else next(self.down(position), position)

    def block_rows(self, number: int, limit: int) -> int:
        """The number of rows of a block, counted up to a limit."""
        rows = islice(self.down(RowPosition(number, 0, 0)), limit)
        return sum(1 for _ in takewhile(lambda position: position.number == number, rows))

    def _pieces(self, number: int, piece: int, step: int) -> Iterator[tuple[Block, int]]:
        blocks = self._conversation.blocks
        if not blocks:
            return
        first, last = blocks[0].number, blocks[-1].number
        while first <= number <= last or (step < 0 and number > last):
            block = self._conversation.block(number)
            if block is not None:
                last_piece = _piece_count(block) - 1
                for each in range(piece, last_piece + 1) if step > 0 else range(min(piece, last_piece), -1, -1):
                    yield block, each
            number += step
            piece = 0 if step > 0 else 2**31


def _piece_count(block: Block) -> int:
    """A message has its head and one piece per part of its text; other blocks have one piece."""
    if block.is_hidden:
        return 0
    return 1 + block.text_parts.count if isinstance(block, AgentMessage) else 1
