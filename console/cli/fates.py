"""What became of a message that was sent to a run at work: its glyph and colour."""

from collections.abc import Mapping
from typing import Final

FATES: Final[Mapping[str, tuple[str, str]]] = {
    "queued": ("▲", "cyan"),
    "held": ("‖", "yellow"),
    "pulled": ("▼", "cyan"),
    "injected": ("▼", "green"),
    "dropped": ("✗", "red"),
    "withdrawn": ("✗", "dim"),
    "own_run": ("▸", "cyan"),
}
"""Glyph and colour of a fate; the word always stands beside them."""
