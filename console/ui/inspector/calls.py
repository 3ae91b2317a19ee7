"""The Calls tab: the calls of the runner."""

from dataclasses import asdict, replace

from console.model.commands.key_labels import key_of
from console.model.inspector.call_log import Call, refused_first
from console.model.inspector.data import CallData, CallsData
from console.model.inspector.json_tree import Tree
from console.model.inspector.json_values import json_text
from console.model.text.glyphs import GLYPHS
from console.model.text.lists import Group, Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import latency, number
from console.ui.inspector.tab import Tab
from engine.events import CALL_KINDS

_SAID_ABOVE = ("call_id", "action")


class CallsTab(Tab[CallsData]):
    """Each call with its decision and duration; unfolds to request and reply."""

    id = "calls"
    name = "Calls"
    short = "Calls"
    empty = "Send a message: the calls of the runner are listed here."
    updated_by = tuple(CALL_KINDS)

    def __init__(self) -> None:
        super().__init__()
        self.is_refused_first = False
        self.wanted: list[Call] = []
        """Unfolded calls whose request and reply have not been read."""
        self._details: dict[tuple[str, int], CallData] = {}
        self._made: dict[tuple[str, int], tuple[Call, Source]] = {}
        """Rows of unchanged calls, reused while a run is in progress."""

    def take(self, details: CallData) -> None:
        """Take the request and reply of one call."""
        self._details[details.run_id, details.number] = details
        self._made.pop((details.run_id, details.number), None)
        self.again()

    def rows(self, facts: CallsData) -> Source:
        if not facts.calls and not facts.later:
            return Stack([Text(Piece("No calls.", "faint"))])
        calls = refused_first(facts.calls) if self.is_refused_first else facts.calls
        refused = sum(call.allowed is False for call in calls)
        failed = sum(call.allowed is True and call.code is not None for call in calls)
        words = f"{number(len(calls), 'call')}, {refused} refused, {failed} failed"
        key = key_of("inspector.refused_first")
        order = f"{key} by number" if self.is_refused_first else f"{key} refused first"
        parts: list[Source] = [Text(Piece(words, "faint"), right=Piece(order, "faint"))]
        if facts.earlier:
            parts.append(Text(Piece(f"{facts.earlier:,} earlier ones: trackside show --calls", "faint")))
        made = {(facts.run_id, call.number): self._known(facts.run_id, call) for call in calls}
        parts += [source for _, source in made.values()]
        self._made = made
        if facts.later:
            parts.append(Text(Piece(f"{number(facts.later, 'call')} came later.", "faint")))
        return Stack(parts)

    def _known(self, run_id: str, call: Call) -> tuple[Call, Source]:
        known = self._made.get((run_id, call.number))
        return known if known is not None and known[0] == call else (replace(call), self._call(run_id, call))

    def _call(self, run_id: str, call: Call) -> Source:
        glyph, tone, word = self._state(call)
        took = "" if call.microseconds is None else f" {latency(call.microseconds)}"
        named = " ".join(one_line(part, 80) for part in (call.action, call.resource or "") if part)
        clause = call.clause if call.message is None else f"{call.clause}; {call.code}: {call.message}"
        head = Text(
            Piece(f"{call.number:>3} ", "faint"),
            Piece(f"{glyph} ", tone),
            Piece(named, "strong"),
            right=Piece(f"{word}{took}", tone),
            below=Piece(one_line(clause, 500), "faint") if clause else None,
            hang=4,
            copy=lambda: json_text(asdict(call)),
        )
        return Group(
            head,
            lambda: self._opened(run_id, call),
            folds=self.folds,
            path=("call", run_id, call.number),
            may_contain=lambda _: False,
            name=call.call_id,
        )

    def _state(self, call: Call) -> tuple[str, str, str]:
        """Glyph, tone and word of the state of a call."""
        if call.allowed is None:
            return GLYPHS["busy"], "warn", "undecided"
        if not call.allowed:
            return GLYPHS["failed"], "bad", "refused"
        if call.replied_at is None:
            return GLYPHS["busy"], "warn", "no reply yet"
        return (GLYPHS["completed"], "good", "allowed") if call.code is None else (GLYPHS["failed"], "warn", "failed")

    def _opened(self, run_id: str, call: Call) -> Source:
        details = self._details.get((run_id, call.number))
        if details is None or (not details.reply and call.replied_position is not None and call.allowed):
            self.wanted.append(call)
        if details is None:
            return Stack([Text(Piece("Reading …", "faint"), indent=6)])
        is_answered = call.replied_position is not None and call.allowed
        shown = {**details.request, **(details.reply if is_answered else {})}
        return Tree(
            {key: part for key, part in shown.items() if key not in _SAID_ABOVE},
            self.folds,
            root=("details", run_id, call.number),
            indent=4,
        )


def positions(call: Call) -> tuple[int, ...]:
    """The positions of the entries of a call."""
    places = (call.requested_position, call.decided_position, call.replied_position)
    return tuple(dict.fromkeys(place for place in places if place is not None))
