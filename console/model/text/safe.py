"""Makes text of runners and users safe for a terminal: control characters are replaced by visible ones."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

_CONTROLS: Final = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x2070))
_SEPARATORS: Final = (0x2028, 0x2029)
_INVISIBLE: Final = (
    0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, *range(0x2060, 0x2066), 0x3164, 0xFEFF, 0xFFA0,
    *range(0xFFF0, 0xFFFC), *range(0x13430, 0x13440), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B),
)  # fmt: skip
"""The characters that Unicode calls default ignorable, and other format characters without a shape."""
_UNASSIGNED: Final = (*range(0xE0080, 0xE0100), *range(0xE01F0, 0xE1000))
"""Default ignorable too. One replacement for all of them, because the table is made at the start."""
_SURROGATES: Final = range(0xD800, 0xE000)
"""Lone surrogates cannot be encoded."""
_JOINERS: Final = (
    0x180B, 0x180C, 0x180D, 0x180F, 0x200C, 0x200D, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0),
)  # fmt: skip
"""Joiners and variation selectors are removed: ordinary text has them, and they change the shape or the width of other
characters. Terminals differ on it, and Rich 15's cell functions may raise."""
_TAGS: Final = range(0xE0000, 0xE0080)
_ESCAPED: Final = (*_DIRECTIONS, *_SEPARATORS, *_INVISIBLE, *_SURROGATES)
_VISIBLE: Final[Mapping[int, str]] = {
    **_CONTROLS,
    0x7F: "␡",
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}" for code in _ESCAPED},
    **dict.fromkeys(_UNASSIGNED, "\N{REPLACEMENT CHARACTER}"),
    **dict.fromkeys((*_JOINERS, *_TAGS), ""),
}
"""Replacements for characters that move the cursor, start a sequence, reverse the text or are invisible."""
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06ed\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe20-\ufe2f"
)
_STACKED_MARKS: Final = re.compile(f"([{_MARKS}]{{8}})([{_MARKS}]+)")
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
    shown = line.translate(_REPLACEMENTS)
    if shown.isascii():
        return shown
    return _STACKED_MARKS.sub(lambda found: found[1] + "\N{REPLACEMENT CHARACTER}" * len(found[2]), shown)


def safe_json(text: str) -> str:
    """Return JSON with the same value, in which characters that a terminal obeys or hides are escaped.

    They are always inside strings, because JSON is ASCII outside of them. Those below U+0020 are escaped already.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return text.translate(_json_escapes())


@cache
def _json_escapes() -> Mapping[int, str]:
    return {code: _json_escape(chr(code)) for code in _VISIBLE if code >= 0x7F}


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
