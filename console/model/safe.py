"""Text that no terminal obeys: what a runner says is only ever text."""

from collections.abc import Mapping
from typing import Final

_CONTROLS: Final = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SEPARATORS: Final = (0x2028, 0x2029)
_SHOWN: Final[Mapping[int, str]] = {
    **_CONTROLS,
    0x7F: "␡",
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" for code in (*_DIRECTIONS, *_SEPARATORS)},
}
"""Every character that moves the cursor, starts a sequence or turns the text around, and what stands for it."""


def safe(text: str) -> str:
    """The text with everything that a terminal would obey made visible; lines and tabs stay."""
    return text.replace("\r\n", "\n").translate(_SHOWN)


def one_line(text: str, limit: int = 300) -> str:
    """The same on one line, and no longer than that."""
    shown = safe(text[: limit + 1]).replace("\n", "␊").replace("\t", " ")
    return shown[:limit] + "…" if len(text) > limit or len(shown) > limit else shown
