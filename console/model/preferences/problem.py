"""Problems in a file that the user wrote."""

from collections.abc import Iterable
from typing import Final, NamedTuple

MIN_SIMILARITY: Final = 0.65
"""Similarity (difflib ratio) from which on a name is offered as a correction."""


class Problem(NamedTuple):
    """One problem. The value that it concerns is ignored."""

    line: int
    words: str
    """The cause and the fix."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.words}"


def nearest(written: str, known: Iterable[str]) -> str:
    """Return the end of a sentence: `; did you mean x?` if a known name is similar, else a period."""
    from difflib import get_close_matches  # noqa: PLC0415  (needed only for a mistake)

    # Compare the part after the dot too: two commands of the same place are not similar for that reason alone.
    last = written.rpartition(".")[2]
    likely = get_close_matches(written, list(known), n=3)
    found = [name for name in likely if get_close_matches(last, [name.rpartition(".")[2]], cutoff=MIN_SIMILARITY)]
    return f"; did you mean {found[0]}?" if found else "."
