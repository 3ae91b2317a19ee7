"""Every state has a glyph and a word, so that nothing is told by colour alone."""

from collections.abc import Mapping
from typing import Final

GLYPHS: Final[Mapping[str, tuple[str, str]]] = {
    # name: (as it is, in ASCII)
    "idle": ("○", "o"),
    "starting": ("◌", "."),
    "running": ("●", "*"),
    "held": ("‖", "="),
    "completed": ("✓", "+"),
    "failed": ("✗", "x"),
    "cancelled": ("■", "#"),
    "timeout": ("◷", "t"),
    "lost": ("⚠", "!"),
    "queued": ("▲", "^"),
    "pulled": ("◑", "%"),
    "injected": ("▼", "v"),
    "dropped": ("✕", "x"),
    "after": ("↳", ">"),
    "live": ("◉", "@"),
    "cursor": ("›", ">"),
    "open": ("▾", "v"),
    "folded": ("▸", ">"),
    "bar": ("▌", "|"),
    "busy": ("◐", "~"),
    "mark": ("◆", "*"),
    "line": ("━", "-"),
    "turn": ("┫", "|"),
    "head": ("▶", ">"),
    "dots": ("┄", "."),
    "ellipsis": ("…", "~"),
}


class Glyphs:
    """The glyphs of one screen; ASCII where the terminal has no others."""

    def __init__(self, *, ascii_only: bool = False) -> None:
        self._column = 1 if ascii_only else 0

    def __getitem__(self, name: str) -> str:
        return GLYPHS[name][self._column]
