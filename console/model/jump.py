"""Letters for every place that one can jump to: the nearest keys first, and one letter for as many as possible."""

from typing import Final

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
