"""Letters for jump mode: the easiest keys first, and as many single letters as possible."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

LETTERS: Final = "fjdkslaghrueiwoqptyvncmxzb"


def make_labels(count: int) -> list[str]:
    """Return this many labels, single letters first; no label is the beginning of another."""
    total = len(LETTERS)
    # The smallest number of letters that start a pair such that there is a label for each target.
    first_letters = 0
    while total - first_letters + first_letters * total < count and first_letters < total:
        first_letters += 1
    singles = LETTERS[: total - first_letters]
    pairs = [first + second for first in LETTERS[total - first_letters :] for second in LETTERS]
    return [*singles, *pairs][:count]


class Label(NamedTuple):
    """The letters for a target in a row."""

    column: int
    text: str
    left: int
    """The first column of the widget that the label leads to."""


def place_labels(labels: Iterable[Label], width: int, is_empty: Callable[[int], bool]) -> Iterator[tuple[int, str]]:
    """Yield the column and the text of each label of a row, in brackets that set it apart from the row's own text.

    A label starts up to two columns before its target if these are empty, so that it covers little of the text. The
    brackets are left out if two labels are too close to each other.
    """
    ordered = sorted(labels)
    end = 0
    for index, (column, text, left) in enumerate(ordered):
        shown = f"[{text}]"
        start = column
        # The first step may go onto a frame, the second only onto an empty column of the same widget.
        while start > end and column - start < 2 and (start == column or start > left) and is_empty(start - 1):
            start -= 1
        start = max(0, min(start, width - len(shown)))
        following = ordered[index + 1].column if index + 1 < len(ordered) else width
        if start < end or start + len(shown) > following:
            shown, start = text, max(end, min(column, width - len(text)))
        yield start, shown
        end = start + len(shown)
