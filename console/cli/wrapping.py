"""Streamed text broken between words, as far as that can be known while it still comes."""

import re
from typing import Final
from unicodedata import combining, east_asian_width

_PARTS: Final = re.compile(r"\n|[^\S\n]+|\S+")


class Wrapping:
    """Breaks text at a width, piece by piece. A word that comes in parts is broken like a terminal breaks it."""

    def __init__(self, width: int | None) -> None:
        self._width = width
        """None leaves every line as it is."""
        self._column = 0
        self._space = ""
        """Held back until a word shows that it is needed."""

    def begin(self) -> None:
        """A new block starts at the left edge."""
        self._column, self._space = 0, ""

    def add(self, piece: str) -> str:
        """What to print for the next piece."""
        if self._width is None:
            return piece
        return "".join(self._place(part, self._width) for part in _PARTS.findall(piece))

    def _place(self, part: str, width: int) -> str:
        if part == "\n":
            self.begin()
            return part
        if part.isspace():
            self._space += part
            return ""
        space, self._space = self._space, ""
        cells = _cells(part)
        if space and self._column and self._column + len(space) + cells > width:
            self._column = cells % width
            return "\n" + part
        self._column = (self._column + len(space) + cells) % width
        return space + part


def _cells(text: str) -> int:
    """How many columns a terminal gives the text."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)
