"""Text that is edited as it is and shown harmless: each character stands for itself or for the one that is shown."""

from console.model.safe import safe


class _StandsFor(dict[int, str]):
    """For each character the one that is shown for it."""

    def __missing__(self, code: int) -> str:
        shown = safe(chr(code))
        self[code] = shown if len(shown) == 1 else "\N{REPLACEMENT CHARACTER}"
        return self[code]


_STANDS_FOR = _StandsFor()


def in_place(line: str) -> str:
    """A line of the same length, with nothing in it that a terminal obeys."""
    return line.translate(_STANDS_FOR)
