"""The tabs of the inspector: each turns the data of a run into rows and remembers what is folded."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from shlex import quote
from typing import ClassVar, Final, Generic, TypeVar

from console.model.commands.key_labels import key_of
from console.model.inspector.call_log import Call, refused_first
from console.model.inspector.data import (
    CallData,
    CallsData,
    ContextData,
    EventData,
    InspectorData,
    Linked,
    OutputData,
    OutputLine,
    Permission,
    ReceiptsData,
    ScopeData,
    StateData,
    StateKey,
    TranscriptData,
    TranscriptRow,
)
from console.model.inspector.json_tree import Tree
from console.model.inspector.json_values import has_children, json_text, kind_of, path_text, short_text
from console.model.inspector.receipts import last_pull_words, receipt_words
from console.model.inspector.state_diff import CHANGE_SIGNS, Change, inner_changes
from console.model.journal.process_words import process_lines, process_summary
from console.model.journal.usage_words import usage_words
from console.model.sessions.line_place import LinePlace
from console.model.text.folds import Folds
from console.model.text.glyphs import GLYPHS
from console.model.text.lists import Group, Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line, safe
from console.model.text.units import duration, latency, number
from console.ui.shared.list import LAST_ROW, View
from engine.events import CALL_KINDS, STEERING_KINDS, EntryKind, Outcome, RunProcess, rfc3339
from engine.events import Source as EntrySource

D = TypeVar("D", bound=InspectorData)

RUN_KINDS: Final = (
    EntryKind.RUN_STARTED, EntryKind.RUN_COMPLETED, EntryKind.RUN_FAILED, EntryKind.RUN_FINISHED,
)  # fmt: skip
RESULT_KINDS: Final = (
    EntryKind.MESSAGE_DELTA, EntryKind.MESSAGE_COMPLETED, EntryKind.TOOL_CALL_STARTED, EntryKind.TOOL_CALL_COMPLETED,
)  # fmt: skip
"""Kinds that may be the first result after a delivered message."""


class Tab(Generic[D]):
    """The base of all tabs. A tab is not a widget: all tabs share one list."""

    id: ClassVar[str]
    name: ClassVar[str]
    short: ClassVar[str]
    empty: ClassVar[str]
    """Shown while there is no run."""
    follows: ClassVar[bool] = False
    """Whether the list follows new rows while the cursor is at the end."""
    needs_entry: ClassVar[bool] = False
    """Whether the tab shows one entry: the last one if the user chose none."""
    updated_by: ClassVar[tuple[str, ...]] = ()
    """Kinds of entries after which the tab needs new data."""

    def __init__(self) -> None:
        self.folds = Folds()
        self.data: D | None = None
        self.view: View | None = None

    def is_changed_by(self, kinds: Iterable[str], position: int | None) -> bool:
        """Whether new entries of these kinds change the tab; as of a chosen entry none does."""
        return position is None and any(kind in self.updated_by for kind in kinds)

    def show(self, data: D) -> None:
        """Build the rows of new data; the cursor stays unless the tab shows another entry."""
        moved = self.data is None or (data.run_id, data.position) != (self.data.run_id, self.data.position)
        self.data = data
        self._fill(self.rows(data), from_the_top=moved and self.needs_entry)

    def show_note(self, text: str) -> None:
        """Show a text in place of rows."""
        self.data = None
        self._fill(Stack([Text(Piece(one_line(text, 500), "faint"))]), from_the_top=True)

    def rebuild(self) -> None:
        """Build the rows again from the current data."""
        if self.data is not None:
            self._fill(self.rows(self.data), from_the_top=False)

    def rows(self, data: D) -> Source:
        raise NotImplementedError

    def _fill(self, source: Source, *, from_the_top: bool) -> None:
        old = self.view
        if old is None or from_the_top:
            self.view = View(source, cursor=LAST_ROW if self.follows else 0)
        else:
            at_end = self.follows and old.cursor >= old.source.height - 1
            self.view = View(source, LAST_ROW if at_end else old.cursor, old.top)


def heading(text: str, remark: str = "") -> Text:
    """A heading row."""
    return Text(Piece(one_line(text, 60), "heading"), right=Piece(remark, "faint") if remark else None, wraps=False)


_SOURCE_WORDS: Final[Mapping[str, str]] = {
    EntrySource.HOST: "by the host",
    EntrySource.RUNNER: "by the runner",
    EntrySource.USER: "by you",
}
_CLOSING_KINDS: Final = frozenset({EntryKind.TOOL_CALL_COMPLETED, *CALL_KINDS, *STEERING_KINDS, *RUN_KINDS})
_OUTCOMES: Final[Mapping[str, tuple[str, str]]] = {
    Outcome.WARNED: ("warn", "Applied, with a warning"),
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
    empty = "Send a message to see the last entry of its run here, or the entry that you select in Stream."
    needs_entry = True

    def is_changed_by(self, kinds: Iterable[str], position: int | None) -> bool:
        """Without a position every entry is newer than the shown one; an open entry may be closed by a new one."""
        if position is None:
            return any(True for _ in kinds)
        return self.data is not None and self.data.is_open and any(kind in _CLOSING_KINDS for kind in kinds)

    def rows(self, data: EventData) -> Source:
        return Stack([*self._head(data), *self._links(data), *self._changes(data), *self._data(data)])

    def _head(self, data: EventData) -> Iterator[Source]:
        entry = data.entry
        clock = run_clock(entry.at - data.began_at)
        source = _SOURCE_WORDS.get(entry.source, one_line(entry.source, 20))
        yield Text(
            Piece(f"#{entry.position}  ", "faint"),
            Piece(one_line(entry.type, 80), "strong"),
            right=Piece(f"T{entry.turn} · {clock} · {source}", "faint"),
            hang=0,
            copy=entry.line,
        )
        if entry.sequence is not None:
            yield Text(Piece(f"sequence number {entry.sequence}, set by the runner", "faint"))
        if entry.outcome is not None:
            tone, words = _OUTCOMES.get(entry.outcome, ("warn", one_line(entry.outcome, 20)))
            yield Text(Piece(f"{words}: ", tone), Piece(one_line(entry.reason or "no reason given", 500), "text"))

        if used := usage_words(data.usage):
            yield Text(Piece("usage  ", "faint"), Piece(used, "text"))

    def _links(self, data: EventData) -> Iterator[Source]:
        entry = data.entry
        if data.caused_by is not None:
            yield _link("caused by", data.caused_by, entry.at - data.caused_by.at, "")
        for linked in data.closed_by:
            word = "decided by" if linked.type == EntryKind.CALL_DECIDED else "closed by"
            yield _link(word, linked, linked.at - entry.at, "+")
        if data.is_open:
            state = "the run ended first" if data.is_over else f"open {duration(data.now - entry.at)}"
            yield Text(Piece("closed by  ", "faint"), Piece(f"nothing ({state})", "warn"))

    def _changes(self, data: EventData) -> Iterator[Source]:
        if data.changes:
            yield heading("State at this entry")
            yield from change_rows(data.changes, self.folds)

    def _data(self, data: EventData) -> Iterator[Source]:
        yield heading("Data")
        yield Tree(data.data, self.folds, root=("data",))


def _link(word: str, linked: Linked, microseconds: int, sign: str) -> Text:
    return Text(
        Piece(f"{word}  ", "faint"),
        Piece(f"#{linked.position} {linked.type}", "jump"),
        Piece(f"  {sign}{latency(max(0, microseconds))}" + ("" if sign else " before"), "faint"),
        jump=linked.position,
    )


def run_clock(microseconds: int) -> str:
    """Time since the run began: `00:11.806`, `1:02:03.004`."""
    seconds, milliseconds = divmod(max(0, microseconds) // 1_000, 1_000)
    hours, minutes = seconds // 3_600, seconds // 60 % 60
    return (f"{hours}:" if hours else "") + f"{minutes:02}:{seconds % 60:02}.{milliseconds:03}"


MAX_VALUE_CHARACTERS: Final = 60
"""Characters of a value beside its key; a longer one is cut, and unfolds."""


def change_rows(changes: Iterable[Change], folds: Folds) -> Iterator[Source]:
    """A row per change; if both values are containers, it unfolds to the differences inside."""
    for change in changes:
        name = one_line(f"{change.scope} {change.key}", 80)
        parts = inner_changes(change.before, change.after) if change.kind == "changed" else ()
        summary = (
            [Piece(number(len(parts), "change"), "faint")]
            if parts
            else _value_change(change.kind, change.before, change.after)
        )
        head = Text(
            Piece(f"{CHANGE_SIGNS[change.kind]} ", change.kind),
            Piece(f"{name}  ", "key"),
            *summary,
            right=Piece(one_line(change.who, 60), "faint") if change.who else None,
            hang=2,
            copy=_copy_of_both(change.before, change.after),
        )
        if not parts:
            yield head
            continue
        rows = [
            Text(
                Piece(f"{CHANGE_SIGNS[part.kind]} ", part.kind),
                Piece(f"{one_line(path_text(part.path), 80)}  ", "key"),
                *_value_change(part.kind, part.before, part.after),
                indent=4,
                copy=_copy_of_both(part.before, part.after),
            )
            for part in parts
        ]
        path = ("changed", change.scope, change.key)
        yield Group(head, lambda rows=rows: Stack(rows), folds=folds, path=path, is_open=len(rows) <= 8)


def _copy_of_both(before: object, after: object) -> Callable[[], str]:
    return lambda: json_text({"before": before, "after": after})


def _value_change(kind: str, before: object, after: object) -> Iterator[Piece]:
    """`old → new`, or what else became of a value."""
    match kind:
        case "added":
            yield Piece(short_text(after, MAX_VALUE_CHARACTERS), "added")
        case "removed":
            yield Piece(f"was {short_text(before, MAX_VALUE_CHARACTERS)}", "removed")
        case "again":
            yield Piece(f"{short_text(after, MAX_VALUE_CHARACTERS)}, unchanged", "again")
        case _:
            yield Piece(short_text(before, MAX_VALUE_CHARACTERS), "removed")
            yield Piece(" → ", "faint")
            yield Piece(short_text(after, MAX_VALUE_CHARACTERS), "added")


MAX_SCOPE_KEYS: Final = 500
"""Keys of a scope that are shown; the state browser has all of them."""


class StateTab(Tab[StateData]):
    """The changes of this entry, then every scope with its keys, values and writers."""

    id = "state"
    name = "State"
    short = "State"
    empty = "Send a message to see the state of its run here."
    updated_by = (EntryKind.STATE_UPDATED, EntryKind.CALL_REPLIED, *RUN_KINDS)

    def rows(self, data: StateData) -> Source:
        parts: list[Source] = []
        if data.position is not None:
            parts.append(heading("At this entry"))
            parts += change_rows(data.changes, self.folds)
            if not data.changes:
                parts.append(Text(Piece("No changes.", "faint")))
        for scope in data.scopes:
            parts += self._scope(scope)
        if not data.scopes:
            parts.append(Text(Piece("This run has no state scopes.", "faint")))
        return Stack(parts)

    def _scope(self, scope: ScopeData) -> Iterator[Source]:
        if scope.off is not None:
            yield heading(scope.scope, "off")
            yield Text(Piece(one_line(scope.off), "faint"), indent=2)
            return
        yield heading(scope.scope, number(len(scope.keys), "key") if scope.keys else "empty")
        for key in scope.keys[:MAX_SCOPE_KEYS]:
            yield self._key(scope.scope, key)
        if (more := len(scope.keys) - MAX_SCOPE_KEYS) > 0:
            words = f"{number(more, 'more key')}: {key_of('inspector.edit')} opens the state browser."
            yield Text(Piece(words, "faint"), indent=2)

    def _key(self, scope: str, key: StateKey) -> Source:
        name = path_text((key.key,), scope)
        is_long = has_children(key.value) or (isinstance(key.value, str) and len(key.value) + 2 > MAX_VALUE_CHARACTERS)
        head = Text(
            Piece(f"{one_line(key.key, 60)}  ", "key"),
            Piece(short_text(key.value, MAX_VALUE_CHARACTERS), kind_of(key.value)),
            right=Piece(one_line(key.who, 60), "faint"),
            indent=0 if is_long else 2,
            copy=lambda: json_text(key.value),
        )
        if not is_long:
            return head
        return Group(
            head,
            lambda: Tree(key.value, self.folds, root=("value", scope, key.key), start=name, indent=2),
            folds=self.folds,
            path=("key", scope, key.key),
            may_contain=lambda text: text.lower() in json_text(key.value).lower(),
            name=name,
        )


MAX_UNFOLDED_CHARACTERS: Final = 1_200
MAX_UNFOLDED_LINES: Final = 40
"""A longer transcript line, or one of more lines, is folded at first."""
_ROLE_TONES: Final = {"user": "strong", "assistant": "good", "tool": "jump", "system": "warn"}


class TranscriptTab(Tab[TranscriptData]):
    """Every transcript line with number and role, the newest last."""

    id = "transcript"
    name = "Transcript"
    short = "Text"
    empty = "Send a message to see the transcript of the session here."
    updated_by = (EntryKind.MESSAGE_COMPLETED, *STEERING_KINDS, *RUN_KINDS)
    follows = True

    def __init__(self) -> None:
        super().__init__()
        self.only: LinePlace | None = None
        """The thread and bot whose lines the user wants to see; None means all."""

    def show(self, data: TranscriptData) -> None:
        self.only = data.only
        super().show(data)

    @property
    def why_no_choice(self) -> str | None:
        """Why there is nothing to choose from, or None."""
        return None if self.data is not None and len(self.data.places) > 1 else "All lines are of one thread and bot."

    def next_choice(self) -> LinePlace | None:
        """The next thread and bot; after the last one None, for all."""
        places = self.data.places if self.data is not None else ()
        following = places.index(self.only) + 1 if self.only in places else 0
        return places[following] if following < len(places) else None

    def rows(self, data: TranscriptData) -> Source:
        parts: list[Source] = []
        if data.session is None:
            return Stack([Text(Piece("The event has no session, so it has no transcript.", "faint"))])
        if data.has_earlier:
            parts.append(Text(Piece(f"Earlier lines: {_transcript_command(data.session)}", "faint")))
        if len(data.places) > 1:
            following = self.next_choice()
            choice = f"{key_of('inspector.thread')} {_place_text(following) if following else 'all'}"
            shown = _place_text(data.only) if data.only else "All threads and bots"
            parts.append(Text(Piece(shown, "heading"), right=Piece(choice, "faint"), wraps=False))
        parts += [self._line(line) for line in data.lines]
        if not data.lines:
            parts.append(Text(Piece("No messages yet.", "faint")))
        if data.later:
            parts.append(Text(Piece(f"{number(data.later, 'line')} came later.", "faint")))
        return Stack(parts)

    def _line(self, line: TranscriptRow) -> Source:
        time = rfc3339(line.at)[11:19]
        head = Text(
            Piece(f"{line.number} ", "faint"),
            Piece(one_line(line.role, 20), _ROLE_TONES.get(line.role, "strong")),
            *([Piece(f"  {line.place.label}", "faint")] if line.place.label else ()),
            right=Piece(time if line.is_of_this_run else f"{time} · another run", "faint"),
            wraps=False,
            copy=lambda: line.text,
        )
        return Group(
            head,
            self._body(line),
            folds=self.folds,
            path=("line", line.number),
            is_open=len(line.text) <= MAX_UNFOLDED_CHARACTERS and line.text.count("\n") < MAX_UNFOLDED_LINES,
            may_contain=lambda text: text.lower() in line.text.lower(),
        )

    def _body(self, line: TranscriptRow) -> Callable[[], Source]:
        def make() -> Source:
            paragraphs = safe(line.text).expandtabs(4).split("\n")
            parts: list[Source] = [
                Text(Piece(paragraph, "text"), indent=2, hang=0, copy=lambda: line.text) for paragraph in paragraphs
            ]
            if line.whole is not None:
                parts.append(Tree(line.whole, self.folds, root=("whole", line.number), indent=2))
            return Stack(parts)

        return make


def _place_text(place: LinePlace) -> str:
    return place.label or "no thread and no bot"


def _transcript_command(session_id: str) -> str:
    """The command that prints the whole transcript."""
    return f"trackside transcript {one_line(quote(session_id), 140)}"


class ContextTab(Tab[ContextData]):
    """What an older record lacks, the grants by kind with their clauses, the process, and the context as a tree."""

    id = "context"
    name = "Context"
    short = "Ctx"
    empty = "Send a message to see the context and permissions of its run here."
    updated_by = (EntryKind.RUN_STARTED,)

    def rows(self, data: ContextData) -> Source:
        parts: list[Source] = [self._missing(data.missing)] if data.missing else []
        parts += [self._grants(title, rows) for title, rows in data.grants]
        if data.process is not None:
            parts.append(self._process(data.process, data.breakpoints))
        if data.context is None:
            parts.append(Text(Piece("The run has no context yet.", "faint")))
            return Stack(parts)
        head = heading("Context", "as given to the runner")
        tree = Tree(data.context, self.folds, root=("context",), indent=2)
        parts.append(Group(head, lambda: tree, folds=self.folds, path=("part", "context"), is_open=True))
        return Stack(parts)

    def _missing(self, sentences: Sequence[str]) -> Source:
        return Group(
            heading("Not recorded", "by an older Trackside"),
            lambda: Stack([Text(Piece(one_line(sentence), "warn"), indent=2) for sentence in sentences]),
            folds=self.folds,
            path=("missing",),
            is_open=True,
        )

    def _process(self, process: RunProcess, breakpoints: Sequence[str]) -> Source:
        lines = process_lines(process)
        if breakpoints:
            lines.append(f"breakpoints at the start: {', '.join(breakpoints)}")
        return Group(
            heading("Process", one_line(process_summary(process), 80)),
            lambda: Stack([Text(Piece(one_line(line, 2_000), "text"), indent=2) for line in lines]),
            folds=self.folds,
            path=("process",),
        )

    def _grants(self, title: str, rows: Sequence[Permission]) -> Source:
        allowed = sum(row.allowed for row in rows)
        head = heading(title, f"{allowed} of {len(rows)} granted")
        return Group(
            head,
            lambda: Stack([self._grant(row) for row in rows]),
            folds=self.folds,
            path=("grants", title),
        )

    def _grant(self, row: Permission) -> Source:
        glyph = GLYPHS["completed" if row.allowed else "failed"]
        return Text(
            Piece(f"{glyph} ", "good" if row.allowed else "bad"),
            Piece(one_line(row.name, 80), "strong" if row.allowed else "text"),
            Piece(f"  {one_line(row.words, 120)}", "good" if row.allowed else "bad"),
            right=Piece(one_line(row.clause), "faint"),
            indent=2,
        )


_SHOWN_IN_HEAD: Final = ("call_id", "action")


class CallsTab(Tab[CallsData]):
    """Each call with its decision and duration; unfolds to request and reply."""

    id = "calls"
    name = "Calls"
    short = "Calls"
    empty = "Send a message to see the calls of the runner here."
    updated_by = tuple(CALL_KINDS)

    def __init__(self) -> None:
        super().__init__()
        self.is_refused_first = False
        self.unread: list[Call] = []
        """Unfolded calls whose request and reply have not been read."""
        self._details: dict[tuple[str, int], CallData] = {}
        self._rows: dict[tuple[str, int], tuple[Call, Source]] = {}
        """Rows of unchanged calls, reused while a run is in progress."""

    def add_details(self, details: CallData) -> None:
        """Add the request and reply of one call."""
        self._details[details.run_id, details.number] = details
        self._rows.pop((details.run_id, details.number), None)
        self.rebuild()

    def rows(self, data: CallsData) -> Source:
        if not data.calls and not data.later:
            return Stack([Text(Piece("No calls.", "faint"))])
        calls = refused_first(data.calls) if self.is_refused_first else data.calls
        refused = sum(call.allowed is False for call in calls)
        failed = sum(call.allowed is True and call.code is not None for call in calls)
        summary = f"{number(len(calls), 'call')}, {refused} refused, {failed} failed"
        key = key_of("inspector.refused_first")
        order = f"{key} by number" if self.is_refused_first else f"{key} refused first"
        parts: list[Source] = [Text(Piece(summary, "faint"), right=Piece(order, "faint"))]
        if data.earlier:
            parts.append(Text(Piece(f"{number(data.earlier, 'earlier call')}: trackside show --calls", "faint")))
        rows = {(data.run_id, call.number): self._reuse_or_build(data.run_id, call) for call in calls}
        parts += [source for _, source in rows.values()]
        self._rows = rows
        if data.later:
            parts.append(Text(Piece(f"{number(data.later, 'call')} came later.", "faint")))
        return Stack(parts)

    def _reuse_or_build(self, run_id: str, call: Call) -> tuple[Call, Source]:
        known = self._rows.get((run_id, call.number))
        return known if known is not None and known[0] == call else (replace(call), self._build(run_id, call))

    def _build(self, run_id: str, call: Call) -> Source:
        glyph, tone, word = self._state(call)
        took = "" if call.microseconds is None else f" {latency(call.microseconds)}"
        name = " ".join(one_line(part, 80) for part in (call.action, call.resource or "") if part)
        clause = call.clause if call.message is None else f"{call.clause}; {call.code}: {call.message}"
        head = Text(
            Piece(f"{call.number:>3} ", "faint"),
            Piece(f"{glyph} ", tone),
            Piece(name, "strong"),
            right=Piece(f"{word}{took}", tone),
            below=Piece(one_line(clause, 500), "faint") if clause else None,
            hang=4,
            copy=lambda: json_text(asdict(call)),
        )
        return Group(
            head,
            lambda: self._details_of(run_id, call),
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

    def _details_of(self, run_id: str, call: Call) -> Source:
        details = self._details.get((run_id, call.number))
        if details is None or (not details.reply and call.replied_position is not None and call.allowed):
            self.unread.append(call)
        if details is None:
            return Stack([Text(Piece("Reading…", "faint"), indent=6)])
        is_answered = call.replied_position is not None and call.allowed
        shown = {**details.request, **(details.reply if is_answered else {})}
        return Tree(
            {key: part for key, part in shown.items() if key not in _SHOWN_IN_HEAD},
            self.folds,
            root=("details", run_id, call.number),
            indent=4,
        )


_RECEIPT_TONES: Final = {"delivered": "good", "pulled": "good", "dropped": "bad", "withdrawn": "faint"}
"""Tones by the word of a receipt."""


class ReceiptsTab(Tab[ReceiptsData]):
    """The last pull of the run, then each message with its state and the time of each step."""

    id = "receipts"
    name = "Receipts"
    short = "Rcpt"
    empty = "Send a message while a run is in progress to see its receipt here."
    updated_by = (*STEERING_KINDS, *RESULT_KINDS, *RUN_KINDS)

    def rows(self, data: ReceiptsData) -> Source:
        summary, is_late = last_pull_words(data.steering, data.now, data.ended_at)
        parts: list[Source] = [Text(Piece(one_line(summary, 500), "warn" if is_late else "faint"))]
        for receipt in data.steering.receipts:
            shown = receipt_words(receipt, data.now, data.position, is_over=data.ended_at is not None)
            if shown is None:
                continue
            tone = _RECEIPT_TONES.get(shown.word, "warn")
            parts.append(
                Text(
                    Piece(f"{GLYPHS[shown.glyph]} {shown.word}  ", tone),
                    Piece(one_line(shown.text, 400), "text"),
                    below=Piece(" → ".join(one_line(step, 200) for step in shown.steps), "faint"),
                    jump=shown.jump,
                    copy=_copy_of(receipt.text),
                )
            )
        if len(parts) == 1:
            parts.append(Text(Piece("No steering messages in this run.", "faint")))
        return Stack(parts)


def _copy_of(text: str | None) -> Callable[[], str]:
    return lambda: text or ""


_STREAM_MARKS: Final = {
    "stdout": ("out", "faint"),
    "stderr": ("err", "warn"),
    "traceback": ("tb ", "bad"),
    "cut": ("cut", "warn"),
}
MAX_OUTPUT_LINE_CHARACTERS: Final = 2_000
"""A longer output line is cut; a copy has all of it."""
MAX_OUTPUT_CHARACTERS: Final = 100_000
"""Characters of all output that are shown: the newest. The rows of the whole tab are computed at once."""
MIN_COUNTED_CHARACTERS: Final = 50
"""A shorter line counts as this many."""
MAX_TRACEBACK_LINES: Final = 1_000
"""Lines of one traceback that are shown: the last ones."""


class OutputTab(Tab[OutputData]):
    """Output lines with their stream; follows the end while the cursor is on the last line."""

    id = "output"
    name = "Output"
    short = "Out"
    empty = "Send a message to see the output of the runner here."
    updated_by = (EntryKind.OUTPUT, EntryKind.RUN_FINISHED)
    follows = True

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[tuple[str, int], Sequence[Text]] = {}
        """Rows of lines that are already shown: output does not change."""

    def rows(self, data: OutputData) -> Source:
        if not data.lines:
            where = " in the last entries" if data.has_earlier else ""
            return Stack([Text(Piece(f"No output{where}.", "faint"))])
        rows, has_earlier = self._newest(data)
        parts: list[Source] = []
        if has_earlier:
            parts.append(Text(Piece("Earlier lines may be missing. Filter Stream by kind:output to see all.", "faint")))
        parts += [source for lines in reversed(rows.values()) for source in lines]
        self._rows = rows
        return Stack(parts)

    def _newest(self, data: OutputData) -> tuple[dict[tuple[str, int], Sequence[Text]], bool]:
        """The rows of each line, the newest first, and whether there may be more before them."""
        rows: dict[tuple[str, int], Sequence[Text]] = {}
        left = MAX_OUTPUT_CHARACTERS
        for printed in reversed(data.lines):
            if left <= 0:
                return rows, True
            key = (data.run_id, printed.position)
            rows[key] = self._rows.get(key) or [*self._lines(printed)]
            shown = sum(max(MIN_COUNTED_CHARACTERS, len(line.plain)) for line in rows[key])
            left -= max(shown, min(len(printed.text), MAX_OUTPUT_LINE_CHARACTERS))  # much of it may be invisible
        return rows, data.has_earlier

    def _lines(self, printed: OutputLine) -> Iterator[Text]:
        mark, tone = _STREAM_MARKS.get(printed.stream, (safe(printed.stream[:3]), "faint"))
        body = "bad" if printed.stream == "traceback" else "text"
        for line in printed.text.rstrip("\n").rsplit("\n", MAX_TRACEBACK_LINES)[-MAX_TRACEBACK_LINES:]:
            shown = safe(line[:MAX_OUTPUT_LINE_CHARACTERS]).expandtabs(4)
            if len(line) > MAX_OUTPUT_LINE_CHARACTERS:
                shown += f"… {len(line) - MAX_OUTPUT_LINE_CHARACTERS:,} more characters"
            yield Text(
                Piece(f"{mark} ", tone), Piece(shown, body), hang=4, jump=printed.position, copy=lambda line=line: line
            )
