"""The styles of all tones, and the base of widgets that show pieces of text in tones.

Tones are styles and not component classes: Textual computes each component class of each widget before the first frame
and whenever a class of the screen changes, which took a fifth of the start.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from textual.content import Content
from textual.widget import Widget

from console.model.text.piece import Piece
from console.ui.shared.crash_guard import PaneGuard

TONES: Final[Mapping[str, str]] = {
    "": "",
    "text": "",
    "brand": "bold $primary",
    "runner": "bold",
    "faint": "$text-muted",
    "idle": "$text-muted",
    "starting": "$warning",
    "running": "bold $success",
    "paused": "bold $warning",
    "stopping": "bold $warning",
    "completed": "$success",
    "failed": "bold $error",
    "cancelled": "bold $text-muted",
    "timeout": "$error",
    "lost": "bold $error",
    "queued": "bold $warning",
    "pulled": "$accent",
    "injected": "bold $success",
    "dropped": "$error",
    "after": "$secondary",
    "live": "$success",
    "as_of": "bold $accent",
    "turn": "bold",
    "tool": "$accent",
    "line": "$primary",
    "accent": "bold $accent",
    # Values, changes and rows of lists
    **dict.fromkeys(("index", "object", "array", "again"), "$text-muted"),
    **dict.fromkeys(("string", "good", "added"), "$text-success"),
    **dict.fromkeys(("number", "word", "warn", "changed"), "$text-warning"),
    **dict.fromkeys(("bad", "removed"), "$text-error"),
    "strong": "bold",
    "heading": "bold $text-primary",
    "key": "$text-accent",
    "jump": "$text-secondary",
}


class StyledText(PaneGuard, Widget):
    """A widget that shows pieces of text."""

    def content_of(self, pieces: Iterable[Piece], between: str = "") -> Content:
        """The pieces in their tones. Their text is never parsed as markup."""
        return Content(between).join([Content.styled(piece.text, TONES[piece.tone]) for piece in pieces])
