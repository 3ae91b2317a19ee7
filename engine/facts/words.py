"""Text as the terms that search knows: words, and pairs of characters where nothing stands between words."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 64
"""Characters of a word that count: longer ones are keys and digests, which nobody tells apart by their ends."""
MOST: Final = 256
"""Terms of a query that count."""

# Thai, Lao, Burmese, Khmer, Hangul, kana, bopomofo and Han, with what lies beyond the first plane.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30fa\u30fc-\u318f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# Accents, points and vowel signs: Python counts them to no word, though they stand inside of one.
_MARKS: Final = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_PIECES: Final = re.compile(
    f"(?P<run>[{_UNSPACED}]+)"
    f"|(?P<word>(?:[^\\W_{_UNSPACED}]|[{_MARKS}])+)"
    "|(?P<sign>[\u2600-\u27bf\U0001f000-\U0001faff])"
)
_ASCII_WORDS: Final = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Terms that stand side by side."""

    terms: tuple[str, ...]
    ends_within: bool = False
    """The last is one character of a run, whose term goes on with whatever follows it there."""


def terms(text: str) -> list[str]:
    """Every term in order. A run without spaces gives each pair of neighbours, then its last character alone."""
    return _terms(folded(text))


def phrases(query: str) -> Iterator[Phrase]:
    """What was typed, a phrase for each stretch between spaces; what is no word, sign or character counts nothing."""
    left = MOST
    for stretch in folded(query).split():
        found = _terms(stretch)[:left]
        left -= len(found)
        if found:
            yield _phrase(found)


def _phrase(found: list[str]) -> Phrase:
    *before, last = found
    if len(last) > 1 or not is_run(last):
        return Phrase(tuple(found))
    # The end of a run, of which the text may have more: its pairs say it all, unless it is the only one.
    in_pair = bool(before) and len(before[-1]) > 1 and is_run(before[-1])
    return Phrase(tuple(before)) if in_pair else Phrase(tuple(found), ends_within=True)


def _terms(text: str) -> list[str]:
    if text.isascii():
        return [word[:LONGEST] for word in _ASCII_WORDS.findall(text)]
    found: list[str] = []
    for piece in _PIECES.finditer(text):
        stretch = piece[0]
        if piece.lastgroup == "run":
            found += [stretch[at : at + 2] for at in range(len(stretch))]
        else:
            found.append(stretch[:LONGEST])
    return found


def folded(text: str) -> str:
    """Lower case, and one form for what looks the same: full width, ligatures, accents apart from their letters."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def is_run(term: str) -> bool:
    """Whether a term is of a run without spaces."""
    piece = _PIECES.match(term)
    return piece is not None and piece.lastgroup == "run"
