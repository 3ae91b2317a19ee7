"""The Event tab: one entry."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from console.model.inspector.data import EventData, Linked
from console.model.inspector.json_tree import Tree
from console.model.text.lists import Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import duration, latency
from console.ui.inspector.state import change_rows
from console.ui.inspector.tab import RUN_KINDS, Tab, heading
from engine.events import CALL_KINDS, STEERING_KINDS, EntryKind, Outcome
from engine.events import Source as EntrySource

_SOURCES: Final[Mapping[str, str]] = {
    EntrySource.HOST: "by the host",
    EntrySource.RUNNER: "by the runner",
    EntrySource.USER: "by you",
}
_ANSWERS = frozenset({EntryKind.TOOL_CALL_COMPLETED, *CALL_KINDS, *STEERING_KINDS, *RUN_KINDS})
_OUTCOMES: Final[Mapping[str, tuple[str, str]]] = {
    Outcome.WARNED: ("warn", "Applied, with a remark"),
    Outcome.DROPPED: ("warn", "Recorded, without effect"),
    Outcome.REFUSED: ("bad", "Refused"),
    Outcome.UNKNOWN: ("warn", "Without effect"),
    Outcome.IGNORED: ("warn", "Ignored"),
    Outcome.FAILED: ("bad", "Failed"),
}


class EventTab(Tab[EventData]):
    """Kind, time, source, outcome and related entries of an entry; then its data."""

    id = "event"
    name = "Event"
    short = "Event"
    empty = "Send a message: the last entry, or the one you select in Stream, is shown here."
    needs_entry = True

    def is_touched(self, kinds: Iterable[str], position: int | None) -> bool:
        """Without a position any entry is a newer one; an open entry may get its answer."""
        if position is None:
            return any(True for _ in kinds)
        return self.facts is not None and self.facts.is_open and any(kind in _ANSWERS for kind in kinds)

    def rows(self, facts: EventData) -> Source:
        return Stack([*self._head(facts), *self._links(facts), *self._changes(facts), *self._data(facts)])

    def _head(self, facts: EventData) -> Iterator[Source]:
        entry = facts.entry
        clock = run_clock(entry.at - facts.began_at)
        source = _SOURCES.get(entry.source, one_line(entry.source, 20))
        yield Text(
            Piece(f"#{entry.position}  ", "faint"),
            Piece(one_line(entry.type, 80), "strong"),
            right=Piece(f"T{entry.turn} · {clock} · {source}", "faint"),
            hang=0,
            copy=entry.line,
        )
        if entry.sequence is not None:
            yield Text(Piece(f"numbered {entry.sequence} by the runner", "faint"))
        if entry.outcome is not None:
            tone, words = _OUTCOMES.get(entry.outcome, ("warn", one_line(entry.outcome, 20)))
            yield Text(Piece(f"{words}: ", tone), Piece(one_line(entry.reason or "no reason is known", 500), "text"))

    def _links(self, facts: EventData) -> Iterator[Source]:
        entry = facts.entry
        if facts.caused_by is not None:
            yield _link("caused by", facts.caused_by, entry.at - facts.caused_by.at, "")
        for linked in facts.closed_by:
            word = "decided by" if linked.type == EntryKind.CALL_DECIDED else "closed by"
            yield _link(word, linked, linked.at - entry.at, "+")
        if facts.is_open:
            waited = "the run ended first" if facts.is_over else f"open {duration(facts.now - entry.at)}"
            yield Text(Piece("closed by  ", "faint"), Piece(f"nothing ({waited})", "warn"))

    def _changes(self, facts: EventData) -> Iterator[Source]:
        if facts.changes:
            yield heading("State at this entry")
            yield from change_rows(facts.changes, self.folds)

    def _data(self, facts: EventData) -> Iterator[Source]:
        yield heading("Data")
        yield Tree(facts.data, self.folds, root=("data",))


def _link(word: str, linked: Linked, took: int, sign: str) -> Text:
    return Text(
        Piece(f"{word}  ", "faint"),
        Piece(f"#{linked.position} {linked.type}", "jump"),
        Piece(f"  {sign}{latency(max(0, took))}" + ("" if sign else " before"), "faint"),
        jump=linked.position,
    )


def run_clock(microseconds: int) -> str:
    """Time since the run began: `00:11.806`, `1:02:03.004`."""
    thousandths = max(0, microseconds) // 1_000
    seconds, rest = divmod(thousandths, 1_000)
    hours, minutes = seconds // 3_600, seconds // 60 % 60
    return (f"{hours}:" if hours else "") + f"{minutes:02}:{seconds % 60:02}.{rest:03}"
