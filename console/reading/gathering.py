"""Reads from the engine what the inspector asks for, for one run at a time."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, cast

import orjson

from console.model.inspect.changes import Change, differences, written_by
from console.model.inspect.facts import (
    CallFacts,
    CallsFacts,
    ContextFacts,
    EventFacts,
    Facts,
    Kept,
    Linked,
    OutputFacts,
    ReceiptsFacts,
    Said,
    ScopeFacts,
    StateFacts,
    TranscriptFacts,
    Unknown,
)
from console.model.inspect.granted import granted
from console.model.inspect.links import link_of
from console.reading.scanning import WINDOW, CallScan, one_entry, output_until
from engine.api import Engine, Entry, FactsError, Line, RunRow, Written

_LINES: Final = 200
_PAGES: Final = 20
"""Pages of a transcript that are looked through for a moment long past."""
_FORK: Final = "fork"


class Gathering:
    """What was read of the calls of the last run is kept: to look again reads only what is new."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._calls: CallScan | None = None
        self._readers: Mapping[str, Callable[[RunRow, int | None], Awaitable[Facts]]] = {
            "event": self._event,
            "state": self._state,
            "transcript": self._transcript,
            "context": self._context,
            "calls": self._call_list,
            "receipts": self._receipts,
            "output": self._output,
        }

    async def facts(self, tab: str, run_id: str, position: int | None) -> Facts:
        """What a tab shows of a run at an entry, or now."""
        try:
            return await self._readers[tab](await self._engine.run(run_id), position)
        except FactsError as error:
            return Unknown(run_id=run_id, position=position, words=str(error))

    async def call(self, run_id: str, number: int, positions: Sequence[int]) -> CallFacts | Unknown:
        """Request and reply of one call, as far as it has them."""
        try:
            entries = [await one_entry(self._engine, run_id, position) for position in positions]
        except FactsError as error:
            return Unknown(run_id=run_id, words=str(error))
        found = {entry.type: orjson.loads(entry.data) for entry in entries if entry is not None}
        request, reply = found.get("call.requested", {}), found.get("call.replied", {})
        return CallFacts(run_id=run_id, number=number, request=request, reply=reply)

    # Tabs

    async def _event(self, run: RunRow, position: int | None) -> Facts:
        entry = None if position is None else await one_entry(self._engine, run.run_id, position)
        if entry is None:
            return Unknown(run_id=run.run_id, position=position, words="This run has no such entry.")
        data = orjson.loads(entry.data)
        caused_by, closed_by, is_open = await self._linked(entry, data)
        return EventFacts(
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

    async def _state(self, run: RunRow, position: int | None) -> Facts:
        where = position or await self._engine.last_position(run.run_id)
        if not where:
            return Unknown(run_id=run.run_id, position=position, words="The run has not begun yet.")
        scopes = await self._engine.state_at(run.run_id, where)
        fork_of = await self._fork_of(run, scopes)
        shown = [
            ScopeFacts(
                scope,
                tuple(
                    Kept(key, one.value, written_by(one, run.run_id, fork_of), one.at)
                    for key, one in sorted(keys.items())
                ),
            )
            for scope, keys in scopes.items()
        ]
        off = cast("dict[str, str]", (run.authorization or {}).get("scopes_off", {}))
        shown += [ScopeFacts(scope, (), clause) for scope, clause in off.items()]
        changes = await self._changes(run, where) if position is not None else ()
        return StateFacts(run_id=run.run_id, position=position, scopes=shown, changes=changes)

    async def _transcript(self, run: RunRow, position: int | None) -> Facts:
        session = run.conversation_id
        at = await self._moment(run, position)
        lines: list[Line] = []
        later, before, page = 0, None, list[Line]()
        for _ in range(_PAGES if session is not None else 0):
            page = await self._engine.transcript(str(session), before=before, limit=_LINES)
            lines = [line for line in page if line.created_at <= at]
            later += len(page) - len(lines)
            if lines or len(page) < _LINES:
                break
            before = page[-1].seq
        said = [_said(line, run.run_id) for line in reversed(lines)]
        return TranscriptFacts(
            run_id=run.run_id,
            position=position,
            session=session,
            lines=said,
            has_earlier=len(page) == _LINES,
            later=later,
        )

    async def _context(self, run: RunRow, position: int | None) -> Facts:
        first = await one_entry(self._engine, run.run_id, 1)
        data: dict[str, Any] = {} if first is None else orjson.loads(first.data)
        grants = granted(run.authorization)
        return ContextFacts(run_id=run.run_id, position=position, context=data.get("context"), grants=grants)

    async def _call_list(self, run: RunRow, position: int | None) -> Facts:
        if self._calls is None or self._calls.run_id != run.run_id:
            self._calls = CallScan(run.run_id)
        await self._calls.go_on(self._engine)
        calls = self._calls.log.calls()
        seen = calls if position is None else [seen for call in calls if (seen := call.as_of(position)) is not None]
        return CallsFacts(
            run_id=run.run_id,
            position=position,
            calls=seen,
            earlier=self._calls.log.earlier,
            later=len(calls) - len(seen),
        )

    async def _receipts(self, run: RunRow, position: int | None) -> Facts:
        return ReceiptsFacts(
            run_id=run.run_id,
            position=position,
            steering=await self._engine.steering(run.run_id),
            now=await self._moment(run, position),
            ended_at=run.finished_at if position is None else None,
        )

    async def _output(self, run: RunRow, position: int | None) -> Facts:
        last = position or await self._engine.last_position(run.run_id)
        lines, has_earlier = await output_until(self._engine, run.run_id, last)
        return OutputFacts(run_id=run.run_id, position=position, lines=lines, has_earlier=has_earlier)

    # Inside

    async def _moment(self, run: RunRow, position: int | None) -> int:
        """The time of an entry, or the present."""
        entry = None if position is None else await one_entry(self._engine, run.run_id, position)
        return self._engine.now() if entry is None else entry.at

    async def _changes(self, run: RunRow, position: int) -> Sequence[Change]:
        """What the state became between the entry before and this one."""
        if position <= 1:
            return ()
        before = await self._engine.state_at(run.run_id, position - 1)
        after = await self._engine.state_at(run.run_id, position)
        return differences(before, after, run.run_id, await self._fork_of(run, after))

    async def _fork_of(self, run: RunRow, scopes: Mapping[str, Mapping[str, Written]]) -> str | None:
        forked = any(one.editor == _FORK for keys in scopes.values() for one in keys.values())
        if not forked or run.conversation_id is None:
            return None
        return (await self._engine.session(run.conversation_id)).session.parent_session_id

    async def _linked(self, entry: Entry, data: Any) -> tuple[Linked | None, Sequence[Linked], bool]:
        """What an entry answers, what answers it, and whether an answer is still to come."""
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
        """Entries of these types in a range that have the same id."""
        if not kinds or last < first:
            return ()
        written = orjson.dumps(shared).decode()
        holding = set(await self._engine.find(run_id, written, first=first, last=last))
        marks = await self._engine.index(run_id, after=first - 1, limit=last - first + 1) if holding else []
        places = [mark.position for mark in marks if mark.position in holding and mark.type in kinds]
        entries = [await one_entry(self._engine, run_id, place) for place in (*places[:4], *places[4:][-4:])]
        return [entry for entry in entries if entry is not None and orjson.loads(entry.data).get(name) == shared]


def _said(line: Line, run_id: str) -> Said:
    content = line.content or ""
    whole = line.content_json if line.content is None or content.endswith("...") else None
    return Said(line.seq, line.role, line.created_at, content, whole, line.run_id == run_id)
