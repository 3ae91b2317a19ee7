"""Pieces of text in tones, as Textual shows them. The tones are component classes, so a theme gives their colours."""

from collections.abc import Iterable
from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

from console.model.ribbon import Piece

TONES = (
    "brand", "runner", "faint", "idle", "starting", "running", "held", "completed", "failed", "cancelled", "timeout",
    "lost", "queued", "pulled", "injected", "dropped", "after", "live", "as_of", "turn", "tool", "line", "key",
)  # fmt: skip

CSS = """
.tone--brand { color: $primary; text-style: bold; }
.tone--runner { text-style: bold; }
.tone--faint { color: $text-muted; }
.tone--idle { color: $text-muted; }
.tone--starting { color: $warning; }
.tone--running { color: $success; text-style: bold; }
.tone--held { color: $warning; text-style: bold; }
.tone--completed { color: $success; }
.tone--failed { color: $error; text-style: bold; }
.tone--cancelled { color: $text-muted; text-style: bold; }
.tone--timeout { color: $error; }
.tone--lost { color: $error; text-style: bold; }
.tone--queued { color: $warning; text-style: bold; }
.tone--pulled { color: $accent; }
.tone--injected { color: $success; text-style: bold; }
.tone--dropped { color: $error; }
.tone--after { color: $secondary; }
.tone--live { color: $success; }
.tone--as_of { color: $accent; text-style: bold; }
.tone--turn { text-style: bold; }
.tone--tool { color: $accent; }
.tone--line { color: $primary; }
.tone--key { color: $accent; text-style: bold; }
"""


class Toned(Widget):
    """A widget that shows pieces."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"tone--{tone}" for tone in TONES}

    def content_of(self, pieces: Iterable[Piece], between: str = "") -> Content:
        """The pieces in their tones; their text is only ever text."""
        parts = [Content.styled(piece.text, self.get_visual_style(f"tone--{piece.tone}")) for piece in pieces]
        return Content(between).join(parts)
