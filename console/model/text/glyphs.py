"""The glyphs that the console draws. Every state has a glyph and a word, so colour alone never carries meaning."""

from collections.abc import Mapping
from typing import Final

_TABLE: Final[Mapping[str, tuple[str, str]]] = {
    # name: (glyph, the same in ASCII)
    "idle": ("○", "o"),
    "starting": ("◌", "."),
    "running": ("●", "*"),
    "paused": ("‖", "="),
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
    "typing": ("█", "_"),
}
GLYPHS: Final[Mapping[str, str]] = {name: glyph for name, (glyph, _) in _TABLE.items()}
ASCII_GLYPHS: Final[Mapping[str, str]] = dict(_TABLE.values())
"""The ASCII character for each glyph. Only the line filter of the terminal uses it: all other code draws glyphs."""

LEGEND: Final = (
    ("idle", "idle"), ("starting", "starting"), ("running", "running"), ("paused", "paused"), ("stopping", "stopping"),
    ("completed", "completed"), ("failed", "failed"), ("cancelled", "stopped"), ("timeout", "timed out"),
    ("lost", "runner lost"), ("event", "event"), ("queued", "queued"), ("after", "after the run"),
    ("pulled", "pulled"), ("injected", "delivered"), ("dropped", "dropped"), ("busy", "no answer yet"),
    ("live", "live"), ("later", "later than shown"), ("mark", "marked"), ("folded", "folded"), ("open", "unfolded"),
    ("fork", "forked here"),
)  # fmt: skip
"""The glyphs that the help explains, each with its word."""
