"""What is typed to see less: words, kinds, turns, calls, waits and errors, all of which must hold."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from typing import Final

from console.model.stream.terms import After, Holds, Not, OfKind, OfTurn, Part, Term, Wrong

GRAMMAR: Final = 'words  kind:tool.*  !kind:message.delta  turn:3  call:c1  >200ms  err  "text"'
"""All there is, for a line of help."""
_TERM: Final = re.compile(r'(!?)(?:"((?:[^"\\]|\\.)*)("?)|(\S+))')
_WAIT: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|min)")
_UNITS: Final = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "min": 60_000_000}
_KEYS: Final = ("kind", "turn", "call")


class FilterError(ValueError):
    """What was typed is no filter; the words say why."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Terms that must all hold."""

    text: str
    """As it was typed."""
    terms: tuple[Term, ...]

    @property
    def needles(self) -> tuple[str, ...]:
        """The texts that must be looked for in the journal."""
        return tuple(dict.fromkeys(term.needle for term in self.terms if term.needle is not None))

    @property
    def required(self) -> tuple[str, ...]:
        """Those without which no entry can be meant."""
        return tuple(term.needle for term in self.terms if isinstance(term, Holds) and term.needle is not None)

    def mask(self, part: Part) -> bytes:
        """A byte an entry: 1 where all terms hold."""
        masks = [term.mask(part) for term in self.terms]
        if part.chunk.has_gaps:
            masks.append(part.chunk.there(part.start))
        whole = reduce(int.__and__, (int.from_bytes(mask) for mask in masks))
        return whole.to_bytes(part.stop - part.start)


def parse(text: str) -> Filter | None:
    """The filter that was typed; none where nothing was. Raises FilterError."""
    terms = tuple(_terms(text))
    return Filter(text.strip(), terms) if terms else None


def only(kind: str) -> str:
    """The filter that leaves one kind."""
    return f"kind:{_quoted_kind(kind)}"


def without(text: str, kind: str) -> str:
    """A filter that hides one kind more; what asked for just this kind goes."""
    kept = [found[0] for found in _TERM.finditer(text) if found[0] != only(kind)]
    return " ".join([*kept, f"!{only(kind)}"])


def _terms(text: str) -> Iterator[Term]:
    for found in _TERM.finditer(text):
        negation, phrase, closed, word = found.groups()
        if word is None:
            if not closed:
                raise FilterError(f'the text {found[0]} has no closing "')
            if not phrase:
                continue
            term: Term = Holds(_in_json(phrase.replace('\\"', '"')))
        else:
            term = _word(word)
        yield Not(term) if negation else term


def _word(word: str) -> Term:
    if word == "err":
        return Wrong()
    if word.startswith(">"):
        wait = _WAIT.fullmatch(word[1:])
        if wait is None:
            raise FilterError(f"{word} is no time: write >200ms, >1.5s or >2m")
        return After(int(float(wait[1]) * _UNITS[wait[2]]))
    key, colon, value = word.partition(":")
    if colon and key in _KEYS:
        return _keyed(key, value)
    if colon and (close := get_close_matches(key, _KEYS, 1, 0.75)):
        raise FilterError(f'{key}: is not known. Is it {close[0]}:? For the text itself write "{word}"')
    return Holds(_in_json(word))


def _keyed(key: str, value: str) -> Term:
    if not value:
        raise FilterError(f"{key}: needs something after it")
    if key == "kind":
        return OfKind(tuple(pattern for pattern in value.split(",") if pattern))
    if key == "call":
        return Holds(json.dumps(value, ensure_ascii=False))
    if not value.isdecimal():
        raise FilterError(f"turn:{value} is no turn: write turn:3")
    return OfTurn(int(value))


def _in_json(text: str) -> str:
    """A text as it stands inside a string of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _quoted_kind(kind: str) -> str:
    """A kind in which nothing is a pattern; a blank or a comma would end it, and any character stands for them."""
    return re.sub(r"[\s,]", "?", re.sub(r"([*?\[])", r"[\1]", kind))
