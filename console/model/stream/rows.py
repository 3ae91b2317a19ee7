"""An entry as one row: what it says in a line, its tone, and the glyph before it."""

from typing import Final, NamedTuple

from console.model.safe import one_line
from console.model.stream.names import LONGEST, PARSED, Names
from console.model.stream.tellers import TELLERS, Said
from console.model.talk.loose import parsed
from console.model.words import duration, size
from engine.events import Entry


class Row(NamedTuple):
    """One line of a stream, harmless."""

    position: int
    at: int
    kind: str
    summary: str
    tone: str
    glyph: str = ""
    """Name of the glyph that stands before the summary."""


_TONES: Final = (
    "message", "tool", "state", "artifact", "steering", "call", "hold", "output", "warning", "run", "cancel", "action",
)  # fmt: skip
TONES: Final = (*_TONES, "error", "host", "runner", "person")
"""All that a row may have; a kind that is not known has the tone of who wrote it."""
_WITHOUT_EFFECT: Final = frozenset({"dropped", "refused", "ignored", "unknown"})


def tone_of(kind: str, source: str) -> str:
    """The tone of a kind of entry."""
    family = kind.partition(".")[0]
    return family if family in _TONES else source if source in TONES else "runner"


def describe(entry: Entry, names: Names) -> Row:
    """The row of one entry."""
    said = _said(entry, names)
    tone = said.tone or tone_of(entry.type, entry.source)
    if entry.outcome is not None:
        said, tone = _judged(entry, said), "warning" if entry.outcome == "warned" else "error"
    return Row(entry.position, entry.at, one_line(entry.type, 100), one_line(said.text, LONGEST), tone, said.glyph)


def many_deltas(bytes_in_all: int, took: int, *, is_live: bool) -> str:
    """What a run of deltas says: how much, and for how long."""
    return f"{size(bytes_in_all)} · {'live' if is_live else duration(took)}"


def _said(entry: Entry, names: Names) -> Said:
    if len(entry.data) > PARSED:
        return Said(f"{size(len(entry.data))} · {entry.data[:LONGEST]}")
    data = parsed(entry.data)
    teller = TELLERS.get(entry.type)
    if teller is None or not data:
        return Said("" if entry.data == "{}" else entry.data)
    return teller(data, names)


def _judged(entry: Entry, said: Said) -> Said:
    """An entry that was not simply applied says so first."""
    if entry.type.startswith("call."):
        return said  # its own words hold the clause or the error
    glyph = "failed" if entry.outcome in _WITHOUT_EFFECT else said.glyph
    return Said(f"{entry.outcome}: {entry.reason or 'no reason'} · {said.text}", glyph)
