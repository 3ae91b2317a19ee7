"""Splits text into search terms.

The terms of a text are in order, so that adjacent terms are adjacent in the text:

- A word gives its parts of three letters: "night" gives "nig", "igh", "ght". A shorter word is one term.
- A run of characters in a script without spaces gives each pair of neighbours, then its last character.
- An emoji is one term.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

PART_CHARS: Final = 3
"""Letters that are needed to find a word by a part of it. Shorter text matches whole words only."""
MAX_WORD_CHARS: Final = 64
"""Characters of a word that are indexed. Longer words are keys and digests, whose ends do not matter in a search."""
MAX_PHRASES: Final = 256
MAX_TERMS: Final = 2_048
"""The maximum numbers of phrases and terms of a query; further words are ignored."""
BREAK: Final = "§"
"""A term between two words whose parts would look like those of one, as "the here" and "there". No text has it."""

# Thai, Lao, Burmese, Khmer, Hangul, kana, bopomofo and Han, with those beyond the first plane.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30fa\u30fc-\u318f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# Points and vowel signs: Python does not count them as word characters, although they occur within words.
_MARKS: Final = "\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_PIECES: Final = re.compile(
    f"(?P<run>[{_UNSPACED}]+)"
    f"|(?P<word>(?:[^\\W_{_UNSPACED}]|[{_MARKS}])+)"
    "|(?P<sign>[\u2600-\u27bf\U0001f000-\U0001faff])"
)
_ASCII_WORDS: Final = re.compile(r"[a-z0-9]+")
_RUN: Final = re.compile(f"[{_UNSPACED}]")
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")
_HAS_ACCENTS: Final = re.compile("[\u00c0-\u024f\u0300-\u052f\u1e00-\u1fff]")
"""Latin, Greek and Cyrillic letters that may have accents; other text need not be decomposed."""
_LETTERS: Final = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "ŧ": "t"}
)
"""Letters whose stroke or ligature Unicode does not treat as an accent."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Terms that must be adjacent."""

    terms: tuple[str, ...]
    ends_within: bool = False
    """Whether the last term is a single character of a run, which also matches the pairs that start with it."""
    word: str | None = None
    """The word, if the phrase is a single word with more letters than a part."""

    @property
    def is_short(self) -> bool:
        """Whether this is a word that matches as a whole only."""
        return len(self.terms) == 1 and len(self.terms[0]) < PART_CHARS and not is_run(self.terms[0])


class Split(NamedTuple):
    """The terms of a text."""

    terms: list[str]
    """All terms in order."""
    words: set[str]
    """The words that are longer than a part."""


def split(text: str) -> Split:
    """Return the terms of a text. Costs 4 µs for a line of 70 characters whose words are in the cache."""
    pieces = _pieces(folded(text))
    return Split(_terms(pieces), {piece for piece in pieces if len(piece) > PART_CHARS and not is_run(piece)})


def phrases(query: str) -> Iterator[Phrase]:
    """Yield a phrase for each part of the query between spaces. Parts without a word, sign or character are skipped."""
    left = MAX_TERMS
    phrases_left = MAX_PHRASES
    for stretch in folded(query).split():
        pieces = _pieces(stretch)
        found = _terms(pieces)[:left]
        if found and phrases_left:
            left -= len(found)
            phrases_left -= 1
            word = pieces[0] if len(pieces) == 1 and len(pieces[0]) > PART_CHARS and not is_run(pieces[0]) else None
            yield _phrase(found, word)


def _phrase(found: list[str], word: str | None) -> Phrase:
    *before, last = found
    if len(last) > 1 or not is_run(last):
        return Phrase(tuple(found), word=word)
    # The last character of a run: the text may continue after it. Its pairs suffice, unless the run has only this one.
    in_pair = bool(before) and len(before[-1]) > 1 and is_run(before[-1])
    return Phrase(tuple(before)) if in_pair else Phrase(tuple(found), ends_within=True)


def _pieces(text: str) -> list[str]:
    """Return the words, runs and signs of a folded text."""
    if text.isascii():
        return [word[:MAX_WORD_CHARS] for word in _ASCII_WORDS.findall(text)]
    return [piece[0] if piece.lastgroup == "run" else piece[0][:MAX_WORD_CHARS] for piece in _PIECES.finditer(text)]


def _terms(pieces: Iterable[str]) -> list[str]:
    found: list[str] = []
    previous = ""
    for piece in pieces:
        if len(piece) < PART_CHARS or is_run(piece):
            found += _parts_of_run(piece) if is_run(piece) else (piece,)
            previous = ""
        else:
            if previous[1 - PART_CHARS :] == piece[: PART_CHARS - 1]:
                found.append(BREAK)
            found += parts(piece)
            previous = piece
    return found


def _parts_of_run(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run))]


@lru_cache(20_000)
def parts(word: str) -> tuple[str, ...]:
    """Return the parts of three letters of a word that has at least as many."""
    return tuple([word[at : at + PART_CHARS] for at in range(len(word) - PART_CHARS + 1)])


def folded(text: str) -> str:
    """Return the text in lower case and without accents; full width and ligatures become the usual letters."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    if _HAS_ACCENTS.search(text):
        # Composed again, because the characters of some scripts, such as Hangul, were decomposed as well.
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text))).translate(_LETTERS)
    return text


def is_run(term: str) -> bool:
    """Return whether a term is from a run without spaces."""
    return not term.isascii() and _RUN.match(term) is not None
