"""Text with a tone, which widgets draw in a style."""

from typing import NamedTuple


class Piece(NamedTuple):
    """Text with a tone such as `turn`, `tool`, `queued`, `injected`, `dropped` or `faint`."""

    text: str
    tone: str
