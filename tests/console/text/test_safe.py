"""No character reaches a terminal that it obeys, or that nobody can see."""

import json
import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from console.model.text.safe import in_place, one_line, safe, safe_json

VISIBLE_FORMATS = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
"""Format characters with a shape: signs above or below numbers, and a mark for abbreviations."""
DEFAULT_IGNORABLE = {
    0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010),
    *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
    *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
}  # fmt: skip
"""As DerivedCoreProperties.txt of Unicode has them."""
HOSTILE = DEFAULT_IGNORABLE | {
    code
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp") and code not in VISIBLE_FORMATS
}
EVERYTHING = "".join(map(chr, range(sys.maxunicode + 1)))


def hostile_in(text: str) -> set[int]:
    return {ord(character) for character in text} & HOSTILE


def test_no_control_and_no_invisible_character_is_shown():
    assert hostile_in(safe(EVERYTHING)) == {0x09, 0x0A}
    assert hostile_in(one_line(EVERYTHING, len(EVERYTHING))) == set()


def test_edited_text_is_shown_in_its_own_length():
    shown = in_place(EVERYTHING)
    assert len(shown) == len(EVERYTHING)
    assert hostile_in(shown) == {0x09, 0x0A}
    assert in_place("e" + "\u0301" * 12) == "e" + "\u0301" * 8 + "\N{REPLACEMENT CHARACTER}" * 4


def test_json_has_escapes_in_place_of_controls_and_invisible_characters():
    # A space between them: two halves of a pair would become one character.
    everything = " ".join(EVERYTHING)
    written = safe_json(json.dumps(everything, ensure_ascii=False))
    assert hostile_in(written) == set()
    assert json.loads(written) == everything
    assert safe_json('"\x7f\x9b\u202e\U000e0041 ä 漢 😀"') == '"\\u007f\\u009b\\u202e\\udb40\\udc41 ä 漢 😀"'


@given(st.text(st.characters(codec=None), max_size=50))
def test_json_keeps_its_value(text: str):
    written = json.dumps({text: [text]}, ensure_ascii=False, indent=1)
    assert json.loads(safe_json(written)) == {text: [text]}
