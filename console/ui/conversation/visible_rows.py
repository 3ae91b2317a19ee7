"""Walks the rows of a conversation up or down from a position, never from the beginning."""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import NamedTuple

from console.model.conversation.blocks import AgentMessage, Block
from console.model.conversation.conversation import ConversationModel


class RowPosition(NamedTuple):
    """A row: block number, piece and line. Positions compare in the order of the rows."""

    number: int
    piece: int
    line: int


Height = Callable[[Block, int], int]
"""Returns the rows of one piece of a block; called only for pieces near the view."""


def pieces(block: Block) -> int:
    """The number of pieces of a block: a message has its head and one per part, other blocks have one."""
    if block.is_hidden:
        return 0
    return 1 + block.text_parts.parts if isinstance(block, AgentMessage) else 1


class VisibleRows:
    """Walks a conversation row by row."""

    def __init__(self, conversation: ConversationModel, height: Height) -> None:
        self._conversation = conversation
        self._height = height

    def down(self, position: RowPosition) -> Iterator[RowPosition]:
        """This row and the rows below it."""
        for number, piece in self._pieces(position.number, position.piece, 1):
            block = self._conversation.block(number)
            if block is not None:
                first = position.line if (number, piece) == position[:2] else 0
                for line in range(first, self._height(block, piece)):
                    yield RowPosition(number, piece, line)

    def up(self, position: RowPosition) -> Iterator[RowPosition]:
        """The rows above this one, the nearest first."""
        for number, piece in self._pieces(position.number, position.piece, -1):
            block = self._conversation.block(number)
            if block is not None:
                rows = self._height(block, piece)
                last = min(position.line, rows) if (number, piece) == position[:2] else rows
                for line in range(last - 1, -1, -1):
                    yield RowPosition(number, piece, line)

    def end(self) -> RowPosition:
        """The position behind the last row."""
        blocks = self._conversation.blocks
        return RowPosition(blocks[-1].number + 1, 0, 0) if blocks else RowPosition(0, 0, 0)

    def above(self, position: RowPosition, count: int) -> RowPosition:
        """The row `count` rows further up, or the first row."""
        found = deque(islice(self.up(position), count), maxlen=1)
        return found[0] if found else next(self.down(position), position)

    def below(self, position: RowPosition, most: int) -> int:
        """The number of rows from this one on, up to `most`."""
        return sum(1 for _ in islice(self.down(position), most))

    def of_block(self, number: int, most: int) -> int:
        """The number of rows of a block, up to `most`."""
        rows = islice(self.down(RowPosition(number, 0, 0)), most)
        return sum(1 for _ in takewhile(lambda position: position.number == number, rows))

    def _pieces(self, number: int, piece: int, step: int) -> Iterator[tuple[int, int]]:
        blocks = self._conversation.blocks
        if not blocks:
            return
        first, last = blocks[0].number, blocks[-1].number
        while first <= number <= last or (step < 0 and number > last):
            block = self._conversation.block(number)
            if block is not None:
                last_piece = pieces(block) - 1
                for each in range(piece, last_piece + 1) if step > 0 else range(min(piece, last_piece), -1, -1):
                    yield number, each
            number += step
            piece = 0 if step > 0 else 2**31
