"""A journal entry as one row of the stream."""

from typing import Final, NamedTuple

from console.model.journal.entry_words import entry_words
from console.model.journal.names import MAX_NAME_CHARS, Names
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


_FAMILIES: Final = (
    "message", "tool", "state", "artifact", "steering", "call", "output", "warning", "run", "cancel", "action",
)  # fmt: skip
TONES: Final = (*_FAMILIES, "pause", "error", *Source)
"""All tones of a row. A kind of an unknown family has the tone of its source."""


def tone_of(kind: str, source: str) -> str:
    """The tone of a kind of entry."""
    if kind in BREAKPOINT_KINDS:
        return "pause"
    family = kind.partition(".")[0]
    return family if family in _FAMILIES else source if source in TONES else Source.RUNNER


def describe(entry: Entry, names: Names) -> Row:
    """The row of one entry."""
    found = entry_words(entry, names)
    tone = found.tone or tone_of(entry.type, entry.source)
    if entry.outcome is not None:
        tone = "warning" if entry.outcome == Outcome.WARNED else "error"
    return Row(
        entry.position, entry.at, one_line(entry.type, 100), one_line(found.text, MAX_NAME_CHARS), tone, found.glyph
    )


def describe_deltas(total_chars: int, took: int, *, is_live: bool) -> str:
    """The summary of joined deltas: their size and how long they took."""
    return f"{size(total_chars)} · {'live' if is_live else duration(took)}"
