"""Loads the data of the inspector tabs from the engine, for one run at a time."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

import orjson

from console.model.inspector.call_log import CallLog, link_of
from console.model.inspector.data import (
    CallData,
    CallsData,
    ContextData,
    EventData,
    InspectorData,
    Linked,
    OutputData,
    OutputLine,
    ReceiptsData,
    ScopeData,
    StateData,
    StateKey,
    TranscriptData,
    TranscriptRow,
    Unknown,
)
from console.model.inspector.grants import granted
from console.model.inspector.state_diff import Change, differences, written_by
from console.model.text.units import number, size
from engine.api import Engine, Entry, RunRow, StoreError, TranscriptLine, Written
from engine.events import CALL_KINDS, EntryKind

WINDOW: Final = 16_384
"""Entries per read of the index."""
_GAP: Final = 32
"""Unneeded entries between two needed ones that are read rather than starting another read."""
_MAX_OUTPUT_LINES: Final = 1_000
_LOOKS: Final = 8
"""Windows that are searched backwards for output."""


async def one_entry(engine: Engine, run_id: str, position: int) -> Entry | None:
    found = await engine.runs.journal(run_id, after=position - 1, limit=1)
    return found[0] if found and found[0].position == position else None


class CallScan:
    """The calls of one run, read to the end of its journal, and further on the next call."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.log = CallLog()
        self._after = 0

    async def go_on(self, engine: Engine) -> None:
        """Read new entries."""
        while marks := await engine.runs.index(self.run_id, after=self._after, limit=WINDOW):
            wanted = [mark.position for mark in marks if mark.type in CALL_KINDS]
            self.log.take(await entries_at(engine, self.run_id, wanted))
            self._after = marks[-1].position


async def output_until(engine: Engine, run_id: str, last: int) -> tuple[Sequence[OutputLine], bool]:
    """The last output lines up to an entry, and whether there may be more before them."""
    lines: deque[OutputLine] = deque(maxlen=_MAX_OUTPUT_LINES)
    until = last
    for _ in range(_LOOKS):
        if until <= 0 or len(lines) == _MAX_OUTPUT_LINES:
            break
        first = max(0, until - WINDOW)
        marks = await engine.runs.index(run_id, after=first, limit=until - first)
        wanted = [mark.position for mark in marks if mark.type == "output"][-(_MAX_OUTPUT_LINES - len(lines)) :]
        lines.extendleft(_printed(entry) for entry in reversed(await entries_at(engine, run_id, wanted)))
        until = first
    return tuple(lines), until > 0 or len(lines) == _MAX_OUTPUT_LINES


async def entries_at(engine: Engine, run_id: str, positions: Sequence[int]) -> list[Entry]:
    """These entries in order, in few reads."""
    wanted = frozenset(positions)
    found: list[Entry] = []
    for first, last in _ranges(positions):
        page = await engine.runs.journal(run_id, after=first - 1, limit=last - first + 1)
        found += [entry for entry in page if entry.position in wanted]
    return found


def _ranges(positions: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = -1
    for position in positions:
        if first >= 0 and position - last > _GAP:
            yield first, last
            first = position
        elif first < 0:
            first = position
        last = position
    if first >= 0:
        yield first, last


def _printed(entry: Entry) -> OutputLine:
    data: dict[str, Any] = orjson.loads(entry.data)
    stream = str(data.get("stream"))
    text = str(data.get("text", ""))
    if stream == "cut":
        text = f"{number(int(data.get('lines', 0)), 'line')} more, {size(int(data.get('bytes', 0)))}, were not kept"
    return OutputLine(entry.position, entry.at, stream, text)


_TRANSCRIPT_PAGE_LINES: Final = 200
_PAGES: Final = 20
"""Pages of a transcript that are searched for an old entry."""
_FORK: Final = "fork"


class InspectorLoader:
    """Loads tab data. Calls of the last run are kept, so that the next request reads only new entries."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._calls: CallScan | None = None
        self._readers: Mapping[str, Callable[[RunRow, int | None], Awaitable[InspectorData]]] = {
            "event": self._event,
            "state": self._state,
            "transcript": self._transcript,
            "context": self._context,
            "calls": self._call_list,
            "receipts": self._receipts,
            "output": self._output,
        }

    async def facts(self, tab: str, run_id: str, position: int | None) -> InspectorData:
        """The data of a tab for a run as of an entry, or now."""
        try:
            return await self._readers[tab](await self._engine.runs.get(run_id), position)
        except StoreError as error:
            return Unknown(run_id=run_id, position=position, words=str(error))

    async def call(self, run_id: str, number: int, positions: Sequence[int]) -> CallData | Unknown:
        """The recorded request and reply of one call."""
        try:
            entries = [await one_entry(self._engine, run_id, position) for position in positions]
        except StoreError as error:
            return Unknown(run_id=run_id, words=str(error))
        found = {entry.type: orjson.loads(entry.data) for entry in entries if entry is not None}
        request, reply = found.get(EntryKind.CALL_REQUESTED, {}), found.get(EntryKind.CALL_REPLIED, {})
        return CallData(run_id=run_id, number=number, request=request, reply=reply)

    # Tabs

    async def _event(self, run: RunRow, position: int | None) -> InspectorData:
        entry = None if position is None else await one_entry(self._engine, run.run_id, position)
        if entry is None:
            return Unknown(run_id=run.run_id, position=position, words="This run has no such entry.")
        data = orjson.loads(entry.data)
        caused_by, closed_by, is_open = await self._linked(entry, data)
        return EventData(
            run_id=run.run_id,
            position=position,
            entry=entry,
            data=data,
            began_at=run.started_at or run.created_at,
            now=self._engine.now(),
            caused_by=caused_by,
            closed_by=closed_by,
            is_open=is_open,
            is_over=run.finished_at is not None,
            changes=await self._changes(run, entry.position),
        )

    async def _state(self, run: RunRow, position: int | None) -> InspectorData:
        where = position or await self._engine.runs.last_position(run.run_id)
        if not where:
            return Unknown(run_id=run.run_id, position=position, words="The run has not begun yet.")
        scopes = await self._engine.state.read_at(run.run_id, where)
        fork_of = await self._fork_of(run, scopes)
        shown = [
            ScopeData(
                scope,
                tuple(
                    StateKey(key, one.value, written_by(one, run.run_id, fork_of), one.at)
                    for key, one in sorted(keys.items())
                ),
            )
            for scope, keys in scopes.items()
        ]
        off = cast("dict[str, str]", (run.authorization or {}).get("scopes_off", {}))
        shown += [ScopeData(scope, (), clause) for scope, clause in off.items()]
        changes = await self._changes(run, where) if position is not None else ()
        return StateData(run_id=run.run_id, position=position, scopes=shown, changes=changes)

    async def _transcript(self, run: RunRow, position: int | None) -> InspectorData:
        session = run.conversation_id
        at = await self._moment(run, position)
        lines: list[TranscriptLine] = []
        later, before, page = 0, None, list[TranscriptLine]()
        for _ in range(_PAGES if session is not None else 0):
            page = await self._engine.sessions.transcript(str(session), before=before, limit=_TRANSCRIPT_PAGE_LINES)
            lines = [line for line in page if line.created_at <= at]
            later += len(page) - len(lines)
            if lines or len(page) < _TRANSCRIPT_PAGE_LINES:
                break
            before = page[-1].seq
        said = [_said(line, run.run_id) for line in reversed(lines)]
        return TranscriptData(
            run_id=run.run_id,
            position=position,
            session=session,
            lines=said,
            has_earlier=len(page) == _TRANSCRIPT_PAGE_LINES,
            later=later,
        )

    async def _context(self, run: RunRow, position: int | None) -> InspectorData:
        first = await one_entry(self._engine, run.run_id, 1)
        data: dict[str, Any] = {} if first is None else orjson.loads(first.data)
        grants = granted(run.authorization)
        return ContextData(run_id=run.run_id, position=position, context=data.get("context"), grants=grants)

    async def _call_list(self, run: RunRow, position: int | None) -> InspectorData:
        if self._calls is None or self._calls.run_id != run.run_id:
            self._calls = CallScan(run.run_id)
        await self._calls.go_on(self._engine)
        calls = self._calls.log.calls()
        seen = calls if position is None else [seen for call in calls if (seen := call.as_of(position)) is not None]
        return CallsData(
            run_id=run.run_id,
            position=position,
            calls=seen,
            earlier=self._calls.log.earlier,
            later=len(calls) - len(seen),
        )

    async def _receipts(self, run: RunRow, position: int | None) -> InspectorData:
        return ReceiptsData(
            run_id=run.run_id,
            position=position,
            steering=await self._engine.queue.receipts(run.run_id),
            now=await self._moment(run, position),
            ended_at=run.finished_at if position is None else None,
        )

    async def _output(self, run: RunRow, position: int | None) -> InspectorData:
        last = position or await self._engine.runs.last_position(run.run_id)
        lines, has_earlier = await output_until(self._engine, run.run_id, last)
        return OutputData(run_id=run.run_id, position=position, lines=lines, has_earlier=has_earlier)

    # Private

    async def _moment(self, run: RunRow, position: int | None) -> int:
        """The time of an entry, or now."""
        entry = None if position is None else await one_entry(self._engine, run.run_id, position)
        return self._engine.now() if entry is None else entry.at

    async def _changes(self, run: RunRow, position: int) -> Sequence[Change]:
        """The state changes between the previous entry and this one."""
        if position <= 1:
            return ()
        before = await self._engine.state.read_at(run.run_id, position - 1)
        after = await self._engine.state.read_at(run.run_id, position)
        return differences(before, after, run.run_id, await self._fork_of(run, after))

    async def _fork_of(self, run: RunRow, scopes: Mapping[str, Mapping[str, Written]]) -> str | None:
        forked = any(one.editor == _FORK for keys in scopes.values() for one in keys.values())
        if not forked or run.conversation_id is None:
            return None
        return (await self._engine.sessions.get(run.conversation_id)).session.parent_session_id

    async def _linked(self, entry: Entry, data: Any) -> tuple[Linked | None, Sequence[Linked], bool]:
        """The entry that this one answers, the entries that answer it, and whether an answer is missing."""
        link = link_of(entry.type, entry.outcome, data) if isinstance(data, dict) else None
        if link is None:
            return None, (), False
        kind, shared = link
        here = entry.position
        before = await self._with(entry.run_id, kind.name, shared, kind.before, max(1, here - WINDOW), here - 1)
        after = await self._with(entry.run_id, kind.name, shared, kind.after, here + 1, here + WINDOW)
        closed: list[Linked] = []
        for found in after:
            closed.append(Linked(found.position, found.type, found.at))
            if found.type in kind.last or found.outcome == "refused":
                break
        ends = any(found.type in kind.last or found.outcome == "refused" for found in after)
        first = before[-1] if before else None
        caused_by = None if first is None else Linked(first.position, first.type, first.at)
        return caused_by, closed, bool(kind.last) and not ends

    async def _with(
        self, run_id: str, name: str, shared: str, kinds: Sequence[str], first: int, last: int
    ) -> Sequence[Entry]:
        """Entries of these types in a range with the same id."""
        if not kinds or last < first:
            return ()
        written = orjson.dumps(shared).decode()
        holding = set(await self._engine.runs.find_text(run_id, written, first=first, last=last))
        marks = await self._engine.runs.index(run_id, after=first - 1, limit=last - first + 1) if holding else []
        places = [mark.position for mark in marks if mark.position in holding and mark.type in kinds]
        entries = [await one_entry(self._engine, run_id, place) for place in (*places[:4], *places[4:][-4:])]
        return [entry for entry in entries if entry is not None and orjson.loads(entry.data).get(name) == shared]


def _said(line: TranscriptLine, run_id: str) -> TranscriptRow:
    content = line.content or ""
    whole = line.content_json if line.content is None or content.endswith("...") else None
    return TranscriptRow(line.seq, line.role, line.created_at, content, whole, line.run_id == run_id)
