"""Finding one of many lines by what one remembers of it."""

from collections.abc import Iterator, Sequence

from console.model.safe import one_line

LONGEST = 300


def matching(texts: Sequence[str], typed: str) -> list[str]:
    """Those that hold every word that was typed, in their order; small and large letters are the same."""
    words = typed.casefold().split()
    return [text for text in texts if all(word in text.casefold() for word in words)]


def shown(text: str) -> str:
    """In a line, as it may be shown."""
    return one_line(text, LONGEST)


def spans(line: str, typed: str) -> Iterator[tuple[int, int]]:
    """Where in a line the words stand, each the first time."""
    folded = line.casefold()
    if len(folded) != len(line):  # a letter that folds into two: better no mark than one beside it
        return
    for word in typed.casefold().split():
        start = folded.find(word)
        if start >= 0:
            yield start, start + len(word)
