"""Loads the data of the inspector tabs from the engine, for one run at a time."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, cast

import orjson

from console.model.inspector.call_log import Call, CallLog
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
from console.model.inspector.grants import permission_groups
from console.model.inspector.links import link_of
from console.model.inspector.state_diff import FORK_EDITOR, Change, differences, written_by
from console.model.sessions.line_place import LinePlace, place_of
from console.model.text.sentence import as_sentence
from console.model.text.units import number, size
from engine.api import Engine, Entry, RunRow, StoreError, TranscriptLine, Written
from engine.events import (
    CALL_KINDS,
    OUTPUT_CUT,
    EntryKind,
    Outcome,
    Output,
    RunFinished,
    RunStarted,
    Usage,
    parse_data,
    payload_as,
)

INDEX_ENTRIES: Final = 16_384
"""Entries per read of the index."""
_MAX_OUTPUT_LINES: Final = 1_000
_MAX_OUTPUT_READS: Final = 8
"""Reads of the index in which output is searched, backwards."""
_MAX_LINKED_ENTRIES: Final = 8
"""Entries with the same id that are read: the first and the last of them."""


async def _entry_at(engine: Engine, run_id: str, position: int) -> Entry | None:
    found = await engine.runs.entries_at(run_id, [position])
    return found[0] if found else None


class _CallReader:
    """Reads the calls of one run. Each read continues where the previous one ended."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.log = CallLog()
        self._after = 0

    async def read_new(self, engine: Engine) -> None:
        """Read to the end of the journal."""
        while heads := await engine.runs.index(self.run_id, after=self._after, limit=INDEX_ENTRIES):
            positions = [head.position for head in heads if head.type in CALL_KINDS]
            self.log.apply(await engine.runs.entries_at(self.run_id, positions))
            self._after = heads[-1].position


async def _read_output(engine: Engine, run_id: str, last: int) -> tuple[Sequence[OutputLine], bool]:
    """Return the last output lines up to an entry, and whether there may be more before them."""
    lines: deque[OutputLine] = deque(maxlen=_MAX_OUTPUT_LINES)
    until = last
    for _ in range(_MAX_OUTPUT_READS):
        if until <= 0 or len(lines) == _MAX_OUTPUT_LINES:
            break
        first = max(0, until - INDEX_ENTRIES)
        heads = await engine.runs.index(run_id, after=first, limit=until - first)
        positions = [head.position for head in heads if head.type == EntryKind.OUTPUT]
        entries = await engine.runs.entries_at(run_id, positions[len(lines) - _MAX_OUTPUT_LINES :])
        lines.extendleft(_output_line(entry) for entry in reversed(entries))
        until = first
    return tuple(lines), until > 0 or len(lines) == _MAX_OUTPUT_LINES


def _output_line(entry: Entry) -> OutputLine:
    output = payload_as(Output, entry)
    text = output.text
    if output.stream == OUTPUT_CUT:
        text = f"{number(output.lines, 'more line')} not recorded, {size(output.bytes)}"
    return OutputLine(entry.position, entry.at, output.stream, text)


def _usage_of(entry: Entry) -> Usage:
    """Return what the run used, for its last entry; for a result what the runner claims."""
    if entry.type == EntryKind.RUN_FINISHED:
        return payload_as(RunFinished, entry).usage
    return Usage() if entry.usage is None else Usage(claimed=parse_data(entry.usage))


TRANSCRIPT: Final = "transcript"
_TRANSCRIPT_PAGE_LINES: Final = 200
_MAX_TRANSCRIPT_PAGES: Final = 20
"""Pages of a transcript that are searched, backwards, for the line of an old entry."""


class InspectorLoader:
    """Loads the data of a tab. The calls of the last run are kept, so that the next load reads only new entries."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._calls: _CallReader | None = None
        self._readers: Mapping[str, Callable[[RunRow, int | None], Awaitable[InspectorData]]] = {
            "event": self._event,
            "state": self._state,
            "context": self._context,
            "calls": self._call_list,
            "receipts": self._receipts,
            "output": self._output,
        }

    async def load_tab(
        self, tab: str, run_id: str, position: int | None, only: LinePlace | None = None
    ) -> InspectorData:
        """Return the data of a tab for a run as of an entry, or now. A failed read is returned as `Unknown`.

        `only` selects the lines of the transcript of one thread and bot.
        """
        try:
            run = await self._engine.runs.get(run_id)
            if tab == TRANSCRIPT:
                return await self._transcript(run, position, only)
            return await self._readers[tab](run, position)
        except StoreError as error:
            return Unknown(run_id=run_id, position=position, words=as_sentence(str(error)))

    async def load_call(self, run_id: str, call: Call) -> CallData | Unknown:
        """Return the recorded request and reply of one call."""
        try:
            record = await self._engine.runs.call(run_id, call.requested_position, call.replied_position)
        except StoreError as error:
            return Unknown(run_id=run_id, words=as_sentence(str(error)))
        return CallData(run_id=run_id, number=call.number, request=record.request, reply=record.reply)

    # Tabs

    async def _event(self, run: RunRow, position: int | None) -> InspectorData:
        entry = None if position is None else await _entry_at(self._engine, run.run_id, position)
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
            usage=_usage_of(entry),
        )

    async def _state(self, run: RunRow, position: int | None) -> InspectorData:
        where = position or await self._engine.runs.last_position(run.run_id)
        if not where:
            return Unknown(run_id=run.run_id, position=position, words="The run has not started yet.")
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

    async def _transcript(self, run: RunRow, position: int | None, only: LinePlace | None) -> InspectorData:
        session = run.conversation_id
        at = await self._time_of(run, position)
        lines: list[TranscriptLine] = []
        later, before, page = 0, None, await self._newest_lines(session)
        places = list(dict.fromkeys([place_of(run), *map(place_of, page)]))
        chosen = only if only in places else None  # another session is shown, or the thread has no recent lines
        for _ in range(_MAX_TRANSCRIPT_PAGES if session is not None else 0):
            if chosen is not None or before is not None:
                page = await self._lines_before(str(session), before, chosen)
            lines = [line for line in page if line.created_at <= at]
            later += len(page) - len(lines)
            if lines or len(page) < _TRANSCRIPT_PAGE_LINES:
                break
            before = page[-1].seq
        return TranscriptData(
            run_id=run.run_id,
            position=position,
            session=session,
            lines=[_transcript_row(line, run.run_id) for line in reversed(lines)],
            has_earlier=len(page) == _TRANSCRIPT_PAGE_LINES,
            later=later,
            only=chosen,
            places=places,
        )

    async def _newest_lines(self, session: str | None) -> list[TranscriptLine]:
        return [] if session is None else await self._lines_before(session, None, None)

    async def _lines_before(self, session: str, before: int | None, only: LinePlace | None) -> list[TranscriptLine]:
        """Return a page of the transcript in all threads and of all bots, or of one place."""
        wanted = {} if only is None else only._asdict()
        return await self._engine.sessions.transcript(session, before=before, limit=_TRANSCRIPT_PAGE_LINES, **wanted)

    async def _context(self, run: RunRow, position: int | None) -> InspectorData:
        first = await _entry_at(self._engine, run.run_id, 1)
        started = None if first is None else payload_as(RunStarted, first)
        grants = permission_groups(run.authorization)
        missing = await self._engine.runs.missing_facts(run)
        return ContextData(
            run_id=run.run_id,
            position=position,
            context=None if started is None else started.context,
            grants=grants,
            process=None if started is None else started.process,
            breakpoints=() if started is None else started.breakpoints,
            missing=missing,
        )

    async def _call_list(self, run: RunRow, position: int | None) -> InspectorData:
        if self._calls is None or self._calls.run_id != run.run_id:
            self._calls = _CallReader(run.run_id)
        await self._calls.read_new(self._engine)
        calls = self._calls.log.calls()
        shown = calls if position is None else [then for call in calls if (then := call.as_of(position)) is not None]
        return CallsData(
            run_id=run.run_id,
            position=position,
            calls=shown,
            earlier=self._calls.log.earlier,
            later=len(calls) - len(shown),
        )

    async def _receipts(self, run: RunRow, position: int | None) -> InspectorData:
        return ReceiptsData(
            run_id=run.run_id,
            position=position,
            steering=await self._engine.queue.receipts(run.run_id),
            now=await self._time_of(run, position),
            ended_at=run.finished_at if position is None else None,
        )

    async def _output(self, run: RunRow, position: int | None) -> InspectorData:
        last = position or await self._engine.runs.last_position(run.run_id)
        lines, has_earlier = await _read_output(self._engine, run.run_id, last)
        return OutputData(run_id=run.run_id, position=position, lines=lines, has_earlier=has_earlier)

    # Private

    async def _time_of(self, run: RunRow, position: int | None) -> int:
        """Return the time of an entry, or now."""
        entry = None if position is None else await _entry_at(self._engine, run.run_id, position)
        return self._engine.now() if entry is None else entry.at

    async def _changes(self, run: RunRow, position: int) -> Sequence[Change]:
        """Return the state changes between the previous entry and this one."""
        if position <= 1:
            return ()
        before = await self._engine.state.read_at(run.run_id, position - 1)
        after = await self._engine.state.read_at(run.run_id, position)
        return differences(before, after, run.run_id, await self._fork_of(run, after))

    async def _fork_of(self, run: RunRow, scopes: Mapping[str, Mapping[str, Written]]) -> str | None:
        forked = any(one.editor == FORK_EDITOR for keys in scopes.values() for one in keys.values())
        if not forked or run.conversation_id is None:
            return None
        return (await self._engine.sessions.get(run.conversation_id)).session.parent_session_id

    async def _linked(self, entry: Entry, data: Any) -> tuple[Linked | None, Sequence[Linked], bool]:
        """Return the entry that this one answers, the entries that answer it, and whether an answer is missing."""
        found = link_of(entry.type, entry.outcome, data) if isinstance(data, dict) else None
        if found is None:
            return None, (), False
        link, shared = found
        here = entry.position
        before = await self._with_id(
            entry.run_id, link.id_field, shared, link.before, max(1, here - INDEX_ENTRIES), here - 1
        )
        after = await self._with_id(entry.run_id, link.id_field, shared, link.after, here + 1, here + INDEX_ENTRIES)
        closed: list[Linked] = []
        is_closed = False
        for answer in after:
            closed.append(Linked(answer.position, answer.type, answer.at))
            is_closed = answer.type in link.last or answer.outcome == Outcome.REFUSED
            if is_closed:
                break
        cause = before[-1] if before else None
        caused_by = None if cause is None else Linked(cause.position, cause.type, cause.at)
        return caused_by, closed, bool(link.last) and not is_closed

    async def _with_id(
        self, run_id: str, id_field: str, shared: str, kinds: Sequence[str], first: int, last: int
    ) -> Sequence[Entry]:
        """Return entries of these kinds in a range that have the same id."""
        if not kinds or last < first:
            return ()
        written = orjson.dumps(shared).decode()
        containing = set(await self._engine.runs.find_text(run_id, written, first=first, last=last))
        heads = await self._engine.runs.index(run_id, after=first - 1, limit=last - first + 1) if containing else []
        found = [head.position for head in heads if head.position in containing and head.type in kinds]
        half = _MAX_LINKED_ENTRIES // 2
        entries = await self._engine.runs.entries_at(run_id, [*found[:half], *found[half:][-half:]])
        return [entry for entry in entries if orjson.loads(entry.data).get(id_field) == shared]


def _transcript_row(line: TranscriptLine, run_id: str) -> TranscriptRow:
    content = line.content or ""
    whole = line.content_json if line.content is None or content.endswith("...") else None
    is_of_this_run = line.run_id == run_id
    return TranscriptRow(line.seq, line.role, line.created_at, content, whole, is_of_this_run, place_of(line))
