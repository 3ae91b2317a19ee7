"""The filter of the stream: words, kinds, turns, calls, waits and errors, all of which must match."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import reduce
from typing import Final, NamedTuple, Protocol

from console.model.stream.index import SIZE, Chunk, Kinds, number_of
from engine.events import Entry, EntryKind

Hits = Mapping[str, bytes | bytearray]
"""For each searched text, a byte per entry of the chunk: 1 for a match."""
ERROR: Final = '"error":"'
_ENDS: Final = (EntryKind.TOOL_CALL_COMPLETED, EntryKind.RUN_FINISHED)
"""Kinds that may report an error in their data."""


class Part(NamedTuple):
    """A range of a chunk, with the search hits."""

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
        chosen = [self.holds(name) for name in part.kinds.names]
        return bytes([chosen[kind] for kind in part.chunk.kinds[part.start : part.stop]])

    def holds(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) or name.startswith(f"{pattern}.") for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class OfTurn:
    """`turn:3`"""

    turn: int
    needle: str | None = None

    def mask(self, part: Part) -> bytes:
        return bytes([turn == self.turn for turn in part.chunk.turns[part.start : part.stop]])


@dataclass(frozen=True, slots=True)
class After:
    """`>200ms`: more than that after the previous entry, hidden or not."""

    microseconds: int
    needle: str | None = None

    def mask(self, part: Part) -> bytes:
        return bytes([part.chunk.since(offset) > self.microseconds for offset in range(part.start, part.stop)])


@dataclass(frozen=True, slots=True)
class IsError:
    """`err`: refused, dropped or failed, or an end that reports an error."""

    needle: str | None = ERROR

    def mask(self, part: Part) -> bytes:
        found, chunk = part.hits[ERROR], part.chunk
        ends = [name in _ENDS for name in part.kinds.names]
        return bytes(
            [
                chunk.bad[offset] or (found[offset] and ends[chunk.kinds[offset]])
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
        return self.term.mask(part).translate(_OTHER)


_OTHER: Final = bytes([1, 0]) + bytes(range(2, 256))


GRAMMAR: Final = 'words  kind:tool.*  !kind:message.delta  turn:3  call:c1  >200ms  err  "text"'
"""The grammar in one line, for the placeholder."""
_TERM: Final = re.compile(r'(!?)(?:"((?:[^"\\]|\\.)*)("?)|(\S+))')
_WAIT: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|min)")
_UNITS: Final = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "min": 60_000_000}
_KEYS: Final = ("kind", "turn", "call")


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
            masks.append(part.chunk.there(part.start))
        whole = reduce(int.__and__, (int.from_bytes(mask) for mask in masks))
        return whole.to_bytes(part.stop - part.start)


def parse(text: str) -> Filter | None:
    """Parse a filter; None for empty text. Raises FilterError."""
    terms = tuple(_terms(text))
    return Filter(text.strip(), terms) if terms else None


def only(kind: str) -> str:
    """The text of a filter that shows one kind."""
    return f"kind:{_quoted_kind(kind)}"


def without(text: str, kind: str) -> str:
    """The text of a filter that hides one more kind; a condition for exactly this kind is removed."""
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
            term: Term = Contains(_in_json(phrase.replace('\\"', '"')))
        else:
            term = _word(word)
        yield Not(term) if negation else term


def _word(word: str) -> Term:
    if word == "err":
        return IsError()
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
    return Contains(_in_json(word))


def _keyed(key: str, value: str) -> Term:
    if not value:
        raise FilterError(f"{key}: needs something after it")
    if key == "kind":
        return OfKind(tuple(pattern for pattern in value.split(",") if pattern))
    if key == "call":
        return Contains(json.dumps(value, ensure_ascii=False))
    if not value.isdecimal():
        raise FilterError(f"turn:{value} is no turn: write turn:3")
    return OfTurn(int(value))


def _in_json(text: str) -> str:
    """A text as it is written inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _quoted_kind(kind: str) -> str:
    """A kind without wildcards. A space or comma would end it, so `?` replaces them."""
    return re.sub(r"[\s,]", "?", re.sub(r"([*?\[])", r"[\1]", kind))


SLICE: Final = 8
"""Chunks that are searched at once: 16,384 entries."""
_NO_HITS: Final = bytes(SIZE)


class FilterProgress:
    """Applies a filter chunk by chunk and keeps a byte per entry, so that the chunks need not stay in memory.

    The journal searches for texts slice by slice; live entries are searched here.
    """

    def __init__(self, chosen: Filter, kinds: Kinds, last: int) -> None:
        self.filter = chosen
        self._kinds = kinds
        self._needles = {needle: _bytes(needle) for needle in chosen.needles}
        self._hits: dict[tuple[str, int], bytearray] = {}
        self._since = last
        """Entries after this position are searched as they arrive."""
        self._found: set[tuple[str, int]] = set()
        self.decided: dict[int, bytes] = {}
        self._shown = 0

    def hear(self, entries: Iterable[Entry]) -> None:
        """Search live entries for the texts."""
        for needle, (lower, word) in self._needles.items():
            for entry in entries:
                if lower in entry.data.encode("utf-8", "surrogatepass").lower() or word in entry.type:
                    self._hit(needle, entry.position)

    def restart(self, last: int) -> None:
        """Search again up to a position, because entries were missed."""
        self._since = last
        self._found.clear()

    # What must be read

    def unfound(self, number: int) -> list[tuple[str, int, int]]:
        """Texts that have not been searched around a chunk, with the range to search."""
        part = number // SLICE
        first, last = part * SLICE * SIZE + 1, min((part + 1) * SLICE * SIZE, self._since)
        if first > last:
            return []
        return [(needle, first, last) for needle in self._needles if (needle, part) not in self._found]

    def found(self, needle: str, first: int, last: int, positions: Sequence[int]) -> None:
        """Take the matches of a text in a searched range."""
        if needle not in self._needles or last < min(self._since, first + SLICE * SIZE - 1):
            return
        for position in positions:
            self._hit(needle, position)
        part = number_of(first) // SLICE
        self._found.add((needle, part))
        for number in range(part * SLICE, (part + 1) * SLICE):
            # A chunk without a required text has no match.
            if (number + 1) * SIZE <= self._since and self._is_barren(number):
                self._settle(number, _NO_HITS)

    def undecided(self, last: int) -> Iterator[int]:
        """Chunks that are not decided, the newest first."""
        return (number for number in range(number_of(last), -1, -1) if not self.is_decided(number, last))

    def is_decided(self, number: int, last: int) -> bool:
        if (number + 1) * SIZE <= last:
            return number in self.decided
        return not self.unfound(number)

    def progress(self, last: int) -> float:
        """The share of decided chunks."""
        if not last:
            return 1.0
        chunks = number_of(last) + 1
        return 1 - sum(1 for _ in self.undecided(last)) / chunks

    # Deciding

    def mask(self, chunk: Chunk, start: int, stop: int) -> bytes:
        """The mask of a range of a chunk whose texts have been searched."""
        if (decided := self.decided.get(chunk.number)) is not None:
            return decided[start:stop]
        hits = {needle: self._hits.get((needle, chunk.number), _NO_HITS) for needle in self._needles}
        return self.filter.mask(Part(chunk, start, stop, self._kinds, hits))

    def decide(self, chunk: Chunk) -> None:
        """Decide a whole chunk if its texts have been searched."""
        if chunk.known == SIZE and chunk.number not in self.decided and not self.unfound(chunk.number):
            self._settle(chunk.number, self.mask(chunk, 0, SIZE))

    @property
    def hidden(self) -> int:
        """The number of hidden entries in decided chunks."""
        return len(self.decided) * SIZE - self._shown

    def _settle(self, number: int, mask: bytes) -> None:
        if number not in self.decided:
            self.decided[number] = mask
            self._shown += mask.count(1)
            for needle in self._needles:
                self._hits.pop((needle, number), None)

    def _is_barren(self, number: int) -> bool:
        part = number // SLICE
        return any(
            (needle, part) in self._found and (needle, number) not in self._hits for needle in self.filter.required
        )

    def _hit(self, needle: str, position: int) -> None:
        number = number_of(position)
        found = self._hits.get((needle, number))
        if found is None:
            found = self._hits[needle, number] = bytearray(SIZE)
        found[position - number * SIZE - 1] = 1


def _bytes(needle: str) -> tuple[bytes, str]:
    """Bytes to compare as SQLite does: only ASCII letters have a case."""
    lower = needle.encode("utf-8", "surrogatepass").lower()
    return lower, lower.decode("utf-8", "surrogatepass")
