"""Every state has a glyph and a word, so that nothing is told by colour alone."""

from collections.abc import Mapping
from typing import Final

GLYPHS: Final[Mapping[str, tuple[str, str]]] = {
    # name: (as it is, in ASCII)
    "idle": ("○", "o"),
    "starting": ("◌", "."),
    "running": ("●", "*"),
    "held": ("‖", "="),
    "stopping": ("□", "_"),
    "completed": ("✓", "+"),
    "failed": ("✗", "x"),
    "cancelled": ("■", "#"),
    "timeout": ("◷", "t"),
    "lost": ("⚠", "!"),
    "event": ("◇", "&"),
    "fork": ("┣", "Y"),
    "queued": ("▲", "^"),
    "pulled": ("◑", "%"),
    "injected": ("▼", "v"),
    "dropped": ("✕", "x"),
    "after": ("↳", ">"),
    "live": ("◉", "@"),
    "later": ("┆", ":"),
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

LEGEND: Final = (
    ("idle", "idle"), ("starting", "starting"), ("running", "running"), ("held", "held"), ("stopping", "stopping"),
    ("completed", "completed"), ("failed", "failed"), ("cancelled", "stopped"), ("timeout", "timed out"),
    ("lost", "runner lost"), ("event", "event"), ("queued", "steer queued"), ("after", "after the run"),
    ("pulled", "pulled"), ("injected", "injected"), ("dropped", "dropped"), ("busy", "no answer yet"),
    ("live", "live"), ("later", "not yet then"), ("mark", "marked"), ("folded", "folded"), ("open", "unfolded"),
    ("fork", "forked here"),
)  # fmt: skip
"""What each sign says, for the help."""


class Glyphs:
    """The glyphs of one screen; ASCII where the terminal has no others."""

    def __init__(self, *, ascii_only: bool = False) -> None:
        self.is_ascii = ascii_only
        self._column = 1 if ascii_only else 0

    def __getitem__(self, name: str) -> str:
        return GLYPHS[name][self._column]
