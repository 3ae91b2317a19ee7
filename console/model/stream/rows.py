"""The rows of the stream, and a cache of the entries that they are made from."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, NamedTuple

from console.model.journal.entry_words import entry_words
from console.model.journal.names import MAX_NAME_CHARS, NAMING_KINDS, Names
from console.model.text.safe import one_line
from console.model.text.units import duration, size
from engine.events import BREAKPOINT_KINDS, Entry, Outcome, Source


class Row(NamedTuple):
    """One row. Its texts are safe to print and have no line breaks."""

    position: int
    at: int
    kind: str
    summary: str
    tone: str
    glyph: str = ""
    """The name of the glyph before the summary."""


MAX_KIND_CHARS: Final = 100
_FAMILIES: Final = (
    "message", "tool", "state", "artifact", "steering", "call", "output", "warning", "run", "cancel", "action",
)  # fmt: skip
TONES: Final = (*_FAMILIES, "pause", "error", *Source)
"""All tones of a row. A kind of an unknown family has the tone of its source."""


def kind_tone(kind: str, source: str) -> str:
    """Return the tone for a kind of entry."""
    if kind in BREAKPOINT_KINDS:
        return "pause"
    family = kind.partition(".")[0]
    return family if family in _FAMILIES else source if source in TONES else Source.RUNNER


def entry_row(entry: Entry, names: Names) -> Row:
    words = entry_words(entry, names)
    tone = words.tone or kind_tone(entry.type, entry.source)
    if entry.outcome is not None:
        tone = "warning" if entry.outcome == Outcome.WARNED else "error"
    return Row(
        entry.position,
        entry.at,
        one_line(entry.type, MAX_KIND_CHARS),
        one_line(words.text, MAX_NAME_CHARS),
        tone,
        words.glyph,
    )


def deltas_summary(total_chars: int, took_us: int, *, is_live: bool) -> str:
    """Return the summary of joined deltas: their size and how long they took."""
    return f"{size(total_chars)} · {'live' if is_live else duration(took_us)}"


MAX_CACHED_ENTRIES: Final = 2_000
MAX_CACHED_CHARS: Final = 8 * 1024 * 1024
"""Characters of data of all cached entries."""


class EntryCache:
    """Caches whole entries for the rows on the screen."""

    def __init__(self) -> None:
        # OrderedDict, because removing from the front of a plain dict makes each later search for its first key slower.
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._chars = 0
        self._rows: OrderedDict[int, Row] = OrderedDict()
        self._names = Names()

    def add(self, entries: Iterable[Entry]) -> None:
        """Add entries; the oldest are removed."""
        for entry in entries:
            if entry.position not in self._entries:
                self._entries[entry.position] = entry
                self._chars += len(entry.data)
                if entry.type in NAMING_KINDS:
                    self._names.learn(entry)
        while self._entries and (len(self._entries) > MAX_CACHED_ENTRIES or self._chars > MAX_CACHED_CHARS):
            self._chars -= len(self._entries.popitem(last=False)[1].data)

    def entry(self, position: int) -> Entry | None:
        return self._entries.get(position)

    def row(self, position: int) -> Row | None:
        """The row of an entry if the entry or its row is cached."""
        row = self._rows.get(position)
        if row is None:
            entry = self._entries.get(position)
            if entry is None:
                return None
            row = self._rows[position] = entry_row(entry, self._names)
            if len(self._rows) > MAX_CACHED_ENTRIES:
                self._rows.popitem(last=False)
        return row
