"""Measures, cuts and wraps text in terminal columns."""

from collections.abc import Iterable, Iterator, Sequence
from unicodedata import combining, east_asian_width

from console.model.text.piece import Piece


def cells(text: str) -> int:
    """Return the width of a text in terminal columns."""
    if text.isascii():
        return len(text)
    return sum(_cells(letter) for letter in text)


def cut(text: str, width: int) -> str:
    """Return the text, cut with `…` if it is wider than `width`."""
    if len(text) * 2 <= width or cells(text) <= width:
        return text
    return fitting(text, width - 1) + "…" if width > 0 else ""


def fitting(text: str, width: int) -> str:
    """Return the beginning of the text that fits into `width` columns."""
    if text.isascii():
        return text[: max(0, width)]
    used = 0
    for place, letter in enumerate(text):
        used += _cells(letter)
        if used > width:
            return text[:place]
    return text


def broken(text: str, width: int) -> list[str]:
    """Wrap one line of text, between words if possible."""
    return [text[start:end] for start, end in _breaks(text, width, width)]


def wrapped(pieces: Iterable[Piece], width: int, hang: int = 0) -> list[Sequence[Piece]]:
    """Wrap pieces into rows; all but the first are indented by `hang`. Returns at least one row."""
    pieces = tuple(pieces)
    text = "".join(piece.text for piece in pieces)
    rows = _breaks(text, max(8, width), max(8, width - hang))
    if len(rows) == 1:
        return [pieces]
    margin = [Piece(" " * hang, "")] if hang else []
    return [[*(margin if start else ()), *_between(pieces, start, end)] for start, end in rows]


def _between(pieces: Iterable[Piece], start: int, end: int) -> Iterator[Piece]:
    """Yield the parts of pieces within a range of their joined text."""
    at = 0
    for piece in pieces:
        part = piece.text[max(0, start - at) : max(0, end - at)]
        if part:
            yield Piece(part, piece.tone)
        at += len(piece.text)


def _breaks(text: str, first: int, others: int) -> list[tuple[int, int]]:
    """Return start and end of each row. The cost grows with the rows, not with the words."""
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
            # Break names after one of their punctuation marks.
            mark = max(text.rfind(each, start, end) for each in "._/-,:")
            end = mark + 1 if mark >= (start + end) // 2 else end
        rows.append((start, end))
        start = end + (space > 0)
        width = others


def _cells(letter: str) -> int:
    return 0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1
