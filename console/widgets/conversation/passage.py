"""Which rows of a talk are in view: found from where the reader stands, up or down, never from the beginning."""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import NamedTuple

from console.model.talk.blocks import Block, Said
from console.model.talk.talk import Talk


class Spot(NamedTuple):
    """One row: a block, a piece of it, a line of that. They are ordered as the rows are."""

    number: int
    piece: int
    line: int


Height = Callable[[Block, int], int]
"""Rows of one piece of a block; only what comes into view is ever asked for."""


def pieces(block: Block) -> int:
    """A message's text is drawn part by part below its head; all else is one piece."""
    if block.is_gone:
        return 0
    return 1 + block.flow.parts if isinstance(block, Said) else 1


class Rows:
    """Walks a talk row by row."""

    def __init__(self, talk: Talk, height: Height) -> None:
        self._talk = talk
        self._height = height

    def down(self, spot: Spot) -> Iterator[Spot]:
        """This row and those below it."""
        for number, piece in self._pieces(spot.number, spot.piece, 1):
            block = self._talk.block(number)
            if block is not None:
                first = spot.line if (number, piece) == spot[:2] else 0
                for line in range(first, self._height(block, piece)):
                    yield Spot(number, piece, line)

    def up(self, spot: Spot) -> Iterator[Spot]:
        """The rows above this one, the nearest first."""
        for number, piece in self._pieces(spot.number, spot.piece, -1):
            block = self._talk.block(number)
            if block is not None:
                rows = self._height(block, piece)
                last = min(spot.line, rows) if (number, piece) == spot[:2] else rows
                for line in range(last - 1, -1, -1):
                    yield Spot(number, piece, line)

    def end(self) -> Spot:
        """Behind the last row."""
        blocks = self._talk.blocks
        return Spot(blocks[-1].number + 1, 0, 0) if blocks else Spot(0, 0, 0)

    def above(self, spot: Spot, count: int) -> Spot:
        """The row so many rows further up, or the first."""
        found = deque(islice(self.up(spot), count), maxlen=1)
        return found[0] if found else next(self.down(spot), spot)

    def below(self, spot: Spot, most: int) -> int:
        """How many rows there are from this one on, counted no further than that."""
        return sum(1 for _ in islice(self.down(spot), most))

    def of_block(self, number: int, most: int) -> int:
        """How many rows a block has, counted no further than that."""
        rows = islice(self.down(Spot(number, 0, 0)), most)
        return sum(1 for _ in takewhile(lambda spot: spot.number == number, rows))

    def _pieces(self, number: int, piece: int, step: int) -> Iterator[tuple[int, int]]:
        blocks = self._talk.blocks
        if not blocks:
            return
        first, last = blocks[0].number, blocks[-1].number
        while first <= number <= last or (step < 0 and number > last):
            block = self._talk.block(number)
            if block is not None:
                last_piece = pieces(block) - 1
                for each in range(piece, last_piece + 1) if step > 0 else range(min(piece, last_piece), -1, -1):
                    yield number, each
            number += step
            piece = 0 if step > 0 else 2**31
