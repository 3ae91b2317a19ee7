"""Finds texts by some of their words."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from console.model.text.safe import one_line

MAX_SHOWN_CHARS = 300
_ACCENTS = re.compile("[\u0300-\u036f]+")


def matching(texts: Sequence[str], typed: str) -> list[str]:
    """Return the texts that contain every typed word, ignoring case, in their order."""
    words = typed.casefold().split()
    return [text for text in texts if all(word in text.casefold() for word in words)]


def without_accents(text: str) -> str:
    """Return the text without its accents, of the same length if each was part of a character."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))


def shown(text: str) -> str:
    """Return the text on one line, safe to show."""
    return one_line(text, MAX_SHOWN_CHARS)


def spans(line: str, typed: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the first match of each word."""
    folded = line.casefold()
    if len(folded) != len(line):  # a letter that folds into two would shift the marks, so mark nothing
        return
    for word in typed.casefold().split():
        start = folded.find(word)
        if start >= 0:
            yield start, start + len(word)
