"""Letters for every place that one can jump to: the nearest keys first, and one letter for as many as possible."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

LETTERS: Final = "fjdkslaghrueiwoqptyvncmxzb"


def labels(count: int) -> list[str]:
    """As many as asked for, none the beginning of another; those with one letter come first."""
    many = len(LETTERS)
    # So many letters begin a pair that all have a label.
    firsts = 0
    while many - firsts + firsts * many < count and firsts < many:
        firsts += 1
    singles = LETTERS[: many - firsts]
    pairs = [first + second for first in LETTERS[many - firsts :] for second in LETTERS]
    return [*singles, *pairs][:count]


class Label(NamedTuple):
    """Letters that belong to a place of a row."""

    column: int
    text: str
    left: int
    """Where what they lead to begins."""


def in_brackets(labels: Iterable[Label], width: int, is_empty: Callable[[int], bool]) -> Iterator[tuple[int, str]]:
    """What is written where over a row: brackets tell a label from the text that it lies on.

    They begin before their place where nothing stands there, so that little of the text is covered. Where two labels
    are too near to each other, there are letters alone.
    """
    sorted_ = sorted(labels)
    end = 0
    for at, (column, text, left) in enumerate(sorted_):
        shown = f"[{text}]"
        start = column
        # One step may lead into the line of a frame, another only over what is empty in the same widget.
        while start > end and column - start < 2 and (start == column or start > left) and is_empty(start - 1):
            start -= 1
        start = max(0, min(start, width - len(shown)))
        following = sorted_[at + 1].column if at + 1 < len(sorted_) else width
        if start < end or start + len(shown) > following:
            shown, start = text, max(end, min(column, width - len(text)))
        yield start, shown
        end = start + len(shown)
