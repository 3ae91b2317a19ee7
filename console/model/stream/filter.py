"""The filter of the stream: words, kinds, turns, calls, durations and errors, all of which must match."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import reduce
from typing import Final, NamedTuple, Protocol

from console.model.stream.index import Chunk, Kinds
from engine.events import EntryKind

Hits = Mapping[str, bytes | bytearray]
"""For each searched text, a byte per entry of the chunk: 1 for a match."""
_ERROR_FIELD: Final = '"error":"'
_KINDS_WITH_ERROR: Final = (EntryKind.TOOL_CALL_COMPLETED, EntryKind.RUN_FINISHED)
"""Kinds whose data may contain an error."""


class Part(NamedTuple):
    """A range of a chunk, with the entries in which each text was found."""

    chunk: Chunk
    start: int
    stop: int
    kinds: Kinds
    hits: Hits


class Term(Protocol):
    """One condition of a filter."""

    @property
    def needle(self) -> str | None:
        """The text to search for, or None if the index is enough."""
        ...

    def mask(self, part: Part) -> bytes:
        """A byte per entry: 1 for a match, else 0."""
        ...


@dataclass(frozen=True, slots=True)
class OfKind:
    """`kind:tool.*`, `kind:tool`, `kind:tool.*,state.*`"""

    patterns: tuple[str, ...]
    needle: str | None = None

    def mask(self, part: Part) -> bytes:
        # Only the kinds of this part: a runner may use thousands of others.
        kinds = part.chunk.kinds[part.start : part.stop]
        is_chosen = {kind: self.matches(part.kinds.names[kind]) for kind in set(kinds)}
        return bytes([is_chosen[kind] for kind in kinds])

    def matches(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) or name.startswith(f"{pattern}.") for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class OfTurn:
    """`turn:3`"""

    turn: int
    needle: str | None = None

    def mask(self, part: Part) -> bytes:
        return bytes([turn == self.turn for turn in part.chunk.turns[part.start : part.stop]])


@dataclass(frozen=True, slots=True)
class LongAfter:
    """`>200ms`: more than that after the previous entry, hidden or not."""

    microseconds: int
    needle: str | None = None

    def mask(self, part: Part) -> bytes:
        return bytes(
            [part.chunk.microseconds_before(offset) > self.microseconds for offset in range(part.start, part.stop)]
        )


@dataclass(frozen=True, slots=True)
class IsError:
    """`err`: refused, dropped or failed, or with an error in its data."""

    needle: str | None = _ERROR_FIELD

    def mask(self, part: Part) -> bytes:
        hits, chunk = part.hits[_ERROR_FIELD], part.chunk
        names = part.kinds.names
        return bytes(
            [
                chunk.bad[offset] or (hits[offset] and names[chunk.kinds[offset]] in _KINDS_WITH_ERROR)
                for offset in range(part.start, part.stop)
            ]
        )


@dataclass(frozen=True, slots=True)
class Contains:
    """A word, a `"text"` or `call:c_09` in the type or the data, ignoring case."""

    needle: str | None

    def mask(self, part: Part) -> bytes:
        return bytes(part.hits[self.needle or ""][part.start : part.stop])


@dataclass(frozen=True, slots=True)
class Not:
    """`!term`"""

    term: Term

    @property
    def needle(self) -> str | None:
        return self.term.needle

    def mask(self, part: Part) -> bytes:
        return self.term.mask(part).translate(_INVERT)


_INVERT: Final = bytes([1, 0]) + bytes(range(2, 256))


GRAMMAR: Final = 'words  kind:tool.*  !kind:message.delta  turn:3  call:c1  >200ms  err  "text"'
"""The grammar in one line, for the placeholder."""
_TERM: Final = re.compile(r'(!?)(?:"((?:[^"\\]|\\.)*)("?)|(\S+))')
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|min)")
_UNIT_MICROSECONDS: Final = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "min": 60_000_000}
_EXAMPLES: Final = {"kind": "kind:tool.*", "turn": "turn:3", "call": "call:c1"}
"""An example for each key."""


class FilterError(ValueError):
    """The typed text is not a filter; the message says why."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that must all match."""

    text: str
    """The filter as typed."""
    terms: tuple[Term, ...]

    @property
    def needles(self) -> tuple[str, ...]:
        """The texts to search for in the journal."""
        return tuple(dict.fromkeys(term.needle for term in self.terms if term.needle is not None))

    @property
    def required(self) -> tuple[str, ...]:
        """The texts that every match contains."""
        return tuple(term.needle for term in self.terms if isinstance(term, Contains) and term.needle is not None)

    def mask(self, part: Part) -> bytes:
        """A byte per entry: 1 if all conditions match."""
        masks = [term.mask(part) for term in self.terms]
        if part.chunk.has_gaps:
            masks.append(part.chunk.entry_mask(part.start))
        whole = reduce(int.__and__, (int.from_bytes(mask) for mask in masks))
        return whole.to_bytes(part.stop - part.start)


def parse_filter(text: str) -> Filter | None:
    """Parse a filter; None for empty text. Raises FilterError."""
    terms = tuple(_terms(text))
    return Filter(text.strip(), terms) if terms else None


def only_kind(kind: str) -> str:
    """Return the text of a filter that shows one kind."""
    return f"kind:{_exact_pattern(kind)}"


def without_kind(text: str, kind: str) -> str:
    """Return a filter text that hides one more kind; a condition for exactly this kind is removed."""
    kept = [found[0] for found in _TERM.finditer(text) if found[0] != only_kind(kind)]
    return " ".join([*kept, f"!{only_kind(kind)}"])


def _terms(text: str) -> Iterator[Term]:
    for found in _TERM.finditer(text):
        negation, phrase, closed, word = found.groups()
        if word is None:
            if not closed:
                raise FilterError(f"The text {found[0]} has no closing quotation mark.")
            if not phrase:
                continue
            term: Term = Contains(_in_json(phrase.replace('\\"', '"')))
        else:
            term = _parse_word(word)
        yield Not(term) if negation else term


def _parse_word(word: str) -> Term:
    if word == "err":
        return IsError()
    if word.startswith(">"):
        duration = _DURATION.fullmatch(word[1:])
        if duration is None:
            raise FilterError(f"{word} is not a duration. Write >200ms, >1.5s or >2m.")
        return LongAfter(int(float(duration[1]) * _UNIT_MICROSECONDS[duration[2]]))
    key, colon, value = word.partition(":")
    if colon and key in _EXAMPLES:
        return _parse_keyed(key, value)
    if colon and (close := get_close_matches(key, _EXAMPLES, 1, 0.75)):
        raise FilterError(f'Unknown key {key}:. Did you mean {close[0]}:? To search for the text, write "{word}".')
    return Contains(_in_json(word))


def _parse_keyed(key: str, value: str) -> Term:
    if not value:
        raise FilterError(f"{key}: needs a value, such as {_EXAMPLES[key]}.")
    if key == "kind":
        return OfKind(tuple(pattern for pattern in value.split(",") if pattern))
    if key == "call":
        return Contains(json.dumps(value, ensure_ascii=False))
    if not value.isdecimal():
        raise FilterError(f"turn:{value} is not a turn. Write turn:3.")
    return OfTurn(int(value))


def _in_json(text: str) -> str:
    """Return a text as it is written inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _exact_pattern(kind: str) -> str:
    """Return a pattern that matches one kind. A space or comma would end the term, so `?` replaces them."""
    return re.sub(r"[\s,]", "?", re.sub(r"([*?\[])", r"[\1]", kind))
