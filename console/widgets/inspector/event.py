"""The tab of one entry."""

from collections.abc import Iterable, Iterator

from console.model.inspect.facts import EventFacts, Linked
from console.model.inspect.sheet import Source, Stack, Text
from console.model.inspect.tree import Tree
from console.model.piece import Piece
from console.model.safe import one_line
from console.model.words import duration, latency
from console.widgets.inspector.differing import change_rows
from console.widgets.inspector.tab import Tab, heading

_SOURCES = {"host": "by the host", "runner": "by the runner", "person": "by you"}
_ANSWERS = ("tool.", "call.", "steering.", "run.")
_OUTCOMES = {
    "warned": ("warn", "Applied, with a remark"),
    "dropped": ("warn", "Recorded, without effect"),
    "refused": ("bad", "Refused"),
    "unknown": ("warn", "Without effect"),
    "ignored": ("warn", "Ignored"),
    "failed": ("bad", "Failed"),
}


class EventTab(Tab[EventFacts]):
    """What it is, when, by whom, what became of it, what it answers; then its data."""

    id = "event"
    name = "Event"
    short = "Event"
    empty = "Send something: its entries are shown here, the last or the one you move to in Stream."
    needs_entry = True

    def is_touched(self, kinds: Iterable[str], position: int | None) -> bool:
        """The last entry is another with each that comes; one that is open may be answered."""
        if position is None:
            return any(True for _ in kinds)
        return self.facts is not None and self.facts.is_open and any(kind.startswith(_ANSWERS) for kind in kinds)

    def rows(self, facts: EventFacts) -> Source:
        return Stack([*self._head(facts), *self._links(facts), *self._changes(facts), *self._data(facts)])

    def _head(self, facts: EventFacts) -> Iterator[Source]:
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

    def _links(self, facts: EventFacts) -> Iterator[Source]:
        entry = facts.entry
        if facts.caused_by is not None:
            yield _link("caused by", facts.caused_by, entry.at - facts.caused_by.at, "")
        for linked in facts.closed_by:
            word = "decided by" if linked.type == "call.decided" else "closed by"
            yield _link(word, linked, linked.at - entry.at, "+")
        if facts.is_open:
            waited = "the run ended first" if facts.is_over else f"open {duration(facts.now - entry.at)}"
            yield Text(Piece("closed by  ", "faint"), Piece(f"nothing ({waited})", "warn"))

    def _changes(self, facts: EventFacts) -> Iterator[Source]:
        if facts.changes:
            yield heading("State at this entry")
            yield from change_rows(facts.changes, self.folds)

    def _data(self, facts: EventFacts) -> Iterator[Source]:
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
