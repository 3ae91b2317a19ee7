"""What is wrong in a file that a person wrote, and where."""

from collections.abc import Iterable
from typing import Final, NamedTuple

NEAR: Final = 0.65
"""How much of two names is the same where one is meant by the other."""


class Problem(NamedTuple):
    """One mistake; what it concerns is as if it were not there."""

    line: int
    words: str
    """What is wrong, and what would be right."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.words}"


def nearest(written: str, known: Iterable[str]) -> str:
    """The end of a sentence: `; did you mean x?`, where something known is like what was written."""
    from difflib import get_close_matches  # noqa: PLC0415  (only for who made a mistake)

    # Of a command by its own name, too: that both are of the same place makes them no more alike.
    last = written.rpartition(".")[2]
    likely = get_close_matches(written, list(known), n=3)
    found = [name for name in likely if get_close_matches(last, [name.rpartition(".")[2]], cutoff=NEAR)]
    return f"; did you mean {found[0]}?" if found else "."
