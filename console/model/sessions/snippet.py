"""The place in a text that was looked for."""

from typing import Final

from console.model.columns import cells
from console.model.piece import Piece
from console.model.safe import one_line

BEFORE: Final = 24
"""Characters of what stands before it, at most."""
LEAST: Final = 10
"""Columns before and after it, at least."""
AFTER: Final = 240
_QUOTES: Final = "\"'“”"


def snippet(text: str, query: str, room: int = AFTER) -> list[Piece]:
    """The text around the first of the words that were looked for, which stands out and is seen in so many columns."""
    place, length = _place(text, query)
    start = max(0, place - BEFORE)
    if start or len(text) > room or cells(text) > room:
        # Of what stands before it so much that something is seen of what follows, too.
        before = max(LEAST, room - cells(text[place : place + length]) - LEAST)
        while start < place and cells(text[start:place]) > before:
            start += 1
    if start:
        # Where there are spaces it begins with a word.
        space = text.find(" ", start, place)
        start = space + 1 if space >= 0 else start
    led = ("…" if start else "") + one_line(text[start:place])
    pieces = [
        Piece(led, ""),
        Piece(one_line(text[place : place + length]), "warn"),
        Piece(one_line(text[place + length : place + length + AFTER], AFTER), ""),
    ]
    return [piece for piece in pieces if piece.text]


def _place(text: str, query: str) -> tuple[int, int]:
    """Where the first of them is, and how long; nowhere is the beginning. Search finds more than letters tell."""
    small = text.lower()
    if len(small) != len(text):
        return 0, 0  # a letter that grows in lower case: places would not be the text's
    found = [(small.find(word), len(word)) for word in (part.strip(_QUOTES) for part in query.lower().split()) if word]
    return min((each for each in found if each[0] >= 0), default=(0, 0))
