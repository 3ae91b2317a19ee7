"""Text in a tone: what models hand to those who draw."""

from typing import NamedTuple


class Piece(NamedTuple):
    """Some text in a tone: `turn`, `tool`, `queued`, `injected`, `dropped`, `faint` …"""

    text: str
    tone: str
