"""Makes text of runners and users safe for a terminal: control characters are replaced by visible ones."""

import re
from collections.abc import Mapping
from typing import Final

_CONTROLS: Final = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SEPARATORS: Final = (0x2028, 0x2029)
_INVISIBLE: Final = (0x00AD, 0x180E, 0x200B, *range(0x2060, 0x2065), 0xFEFF, *range(0xFFF9, 0xFFFC))
_SURROGATES: Final = range(0xD800, 0xE000)
"""Lone surrogates cannot be encoded."""
_JOINERS: Final = (0x200D, *range(0xFE00, 0xFE10))
"""Joiners change the width of other characters. Terminals differ on it, and Rich 15's cell functions may raise."""
_TAGS: Final = range(0xE0000, 0xE0080)
_VISIBLE: Final[Mapping[int, str]] = {
    **_CONTROLS,
    0x7F: "␡",
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" for code in (*_DIRECTIONS, *_SEPARATORS, *_INVISIBLE, *_SURROGATES)},
    **dict.fromkeys((*_JOINERS, *_TAGS), ""),
}
"""Replacements for characters that move the cursor, start a sequence, reverse the text or are invisible."""
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06ed\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe20-\ufe2f"
)
_STACKED_MARKS: Final = re.compile(f"([{_MARKS}]{{8}})[{_MARKS}]+")
"""More combining marks on one letter than any language has; they would overwrite the lines around it."""


def safe(text: str) -> str:
    """Return the text with control characters made visible; newlines and tabs stay."""
    shown = text.replace("\r\n", "\n").translate(_VISIBLE)
    return shown if shown.isascii() else _STACKED_MARKS.sub(r"\1", shown)


def one_line(text: str, limit: int = 300) -> str:
    """Return the text as `safe` does, on one line of at most `limit` characters."""
    shown = safe(text[: limit + 1]).replace("\n", "␊").replace("\t", " ")
    return shown[:limit] + "…" if len(text) > limit or len(shown) > limit else shown


class _Replacements(dict[int, str]):
    """Maps each character to its replacement."""

    def __missing__(self, code: int) -> str:
        shown = safe(chr(code))
        self[code] = shown if len(shown) == 1 else "\N{REPLACEMENT CHARACTER}"
        return self[code]


_REPLACEMENTS = _Replacements()


def in_place(line: str) -> str:
    """Return a safe line of the same length, for text that is being edited."""
    return line.translate(_REPLACEMENTS)
