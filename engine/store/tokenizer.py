"""Splits text into search terms: words, and pairs of characters in scripts without spaces between words."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_WORD_CHARS: Final = 64
"""Characters of a word that are indexed. Longer words are keys and digests, whose ends do not matter in a search."""
MAX_WORDS: Final = 256
"""The maximum number of terms of a query; further ones are ignored."""

# Thai, Lao, Burmese, Khmer, Hangul, kana, bopomofo and Han, with those beyond the first plane.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30fa\u30fc-\u318f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# Accents, points and vowel signs: Python does not count them as word characters, although they occur within words.
_MARKS: Final = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_PIECES: Final = re.compile(
    f"(?P<run>[{_UNSPACED}]+)"
    f"|(?P<word>(?:[^\\W_{_UNSPACED}]|[{_MARKS}])+)"
    "|(?P<sign>[\u2600-\u27bf\U0001f000-\U0001faff])"
)
_ASCII_WORDS: Final = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Terms that must be adjacent."""

    terms: tuple[str, ...]
    ends_within: bool = False
    """Whether the last term is a single character of a run, which also matches the pairs that start with it."""


def terms(text: str) -> list[str]:
    """Return all terms in order. A run without spaces gives each pair of neighbours, then its last character."""
    return _terms(folded(text))


def phrases(query: str) -> Iterator[Phrase]:
    """Yield a phrase for each part of the query between spaces. Parts without a word, sign or character are skipped."""
    left = MAX_WORDS
    for stretch in folded(query).split():
        found = _terms(stretch)[:left]
        left -= len(found)
        if found:
            yield _phrase(found)


def _phrase(found: list[str]) -> Phrase:
    *before, last = found
    if len(last) > 1 or not is_run(last):
        return Phrase(tuple(found))
    # The last character of a run: the text may continue after it. Its pairs suffice, unless the run has only this one.
    in_pair = bool(before) and len(before[-1]) > 1 and is_run(before[-1])
    return Phrase(tuple(before)) if in_pair else Phrase(tuple(found), ends_within=True)


def _terms(text: str) -> list[str]:
    if text.isascii():
        return [word[:MAX_WORD_CHARS] for word in _ASCII_WORDS.findall(text)]
    found: list[str] = []
    for piece in _PIECES.finditer(text):
        stretch = piece[0]
        if piece.lastgroup == "run":
            found += [stretch[at : at + 2] for at in range(len(stretch))]
        else:
            found.append(stretch[:MAX_WORD_CHARS])
    return found


def folded(text: str) -> str:
    """Return the text in lower case, normalized: full width, ligatures and combining accents become the usual form."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def is_run(term: str) -> bool:
    """Return whether a term is from a run without spaces."""
    piece = _PIECES.match(term)
    return piece is not None and piece.lastgroup == "run"
