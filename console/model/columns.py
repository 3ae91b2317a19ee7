"""Text in columns of a terminal: how wide it is, cut where it ends, broken between words."""

from collections.abc import Iterable, Iterator, Sequence
from unicodedata import combining, east_asian_width

from console.model.piece import Piece


def cells(text: str) -> int:
    """How many columns a terminal gives the text."""
    if text.isascii():
        return len(text)
    return sum(_cells(letter) for letter in text)


def cut(text: str, width: int) -> str:
    """The text, or its beginning and `…` where it is wider than that."""
    if len(text) * 2 <= width or cells(text) <= width:
        return text
    return fitting(text, width - 1) + "…" if width > 0 else ""


def fitting(text: str, width: int) -> str:
    """As much of the text as the columns hold."""
    if text.isascii():
        return text[: max(0, width)]
    used = 0
    for place, letter in enumerate(text):
        used += _cells(letter)
        if used > width:
            return text[:place]
    return text


def broken(text: str, width: int) -> list[str]:
    """One line of text as rows of at most that width, broken between words where a row has any."""
    return [text[start:end] for start, end in _breaks(text, width, width)]


def wrapped(pieces: Iterable[Piece], width: int, hang: int = 0) -> list[Sequence[Piece]]:
    """Pieces as rows; all but the first begin `hang` columns further right. There is always one row."""
    pieces = tuple(pieces)
    text = "".join(piece.text for piece in pieces)
    rows = _breaks(text, max(8, width), max(8, width - hang))
    if len(rows) == 1:
        return [pieces]
    margin = [Piece(" " * hang, "")] if hang else []
    return [[*(margin if start else ()), *_between(pieces, start, end)] for start, end in rows]


def _between(pieces: Iterable[Piece], start: int, end: int) -> Iterator[Piece]:
    """The parts of pieces that are in a range of their text."""
    at = 0
    for piece in pieces:
        part = piece.text[max(0, start - at) : max(0, end - at)]
        if part:
            yield Piece(part, piece.tone)
        at += len(piece.text)


def _breaks(text: str, first: int, others: int) -> list[tuple[int, int]]:
    """Where rows begin and end. It costs by the row, not by the word: a list of a thousand lines is wrapped at once."""
    is_narrow = cells(text) == len(text)
    rows: list[tuple[int, int]] = []
    first, others = max(1, first), max(1, others)
    start, width = 0, first
    while True:
        end = start + (width if is_narrow else len(fitting(text[start : start + width], width)) or 1)
        if end >= len(text):
            return [*rows, (start, len(text))]
        space = text.rfind(" ", start + 1, end + 1)
        if space > 0:
            end = space
        else:
            # Names are best broken after one of their own marks.
            mark = max(text.rfind(each, start, end) for each in "._/-,:")
            end = mark + 1 if mark >= (start + end) // 2 else end
        rows.append((start, end))
        start = end + (space > 0)
        width = others


def _cells(letter: str) -> int:
    return 0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1
