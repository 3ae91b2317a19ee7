"""Conducts runs: begins one, hears it out, stops it if it must, and closes it on every path."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from traceback import format_exception
from typing import Any, Final

import orjson
from sqlalchemy import Connection

from engine.clock import Clock, Ids
from engine.facts import event_log, journal, runs, sessions
from engine.facts.batch import Transaction
from engine.facts.database import Database
from engine.facts.errors import AlreadyFinal, FactsError, NotFound
from engine.facts.event_log import EventRow
from engine.facts.journal import Entry
from engine.facts.redact import redact
from engine.facts.runs import RunRow, Status
from engine.facts.writer import Writer
from engine.protocol.content import text_of
from engine.run.beginning import begin
from engine.run.context import build_context
from engine.run.deltas import DeltaText
from engine.run.effects import Effects
from engine.run.live import CallDesk, LiveRun, Stop
from engine.run.marks import Marks
from engine.run.order import RunOrder
from engine.run.verdict import Verdict, judge, storage_failed
from engine.runtimes.runtime import Ending, Execution, How, Runtime, RuntimeProblem
from engine.steering.leftovers import drop_leftovers, reason_of

GRACE: Final = {
    Stop.CANCELLED: 1.0,
    Stop.DEADLINE: 0.4,
    Stop.PROTOCOL: 0.2,
    Stop.JOURNAL: 0.2,
    Stop.STORAGE: 0.2,
    Stop.HOST: 0.2,
    Stop.LINGERING: 0.2,
}
"""Seconds between asking a runner to stop and killing its process group."""
HOST_CLOSED: Final = "the host was closed"


class Orchestrator:
    """The host's runs. One event, one binding, one run, one runner, one result stream."""

    def __init__(
        self, database: Database, writer: Writer, runtime: Runtime, calls: CallDesk, clock: Clock, ids: Ids
    ) -> None:
        self._database = database
        self._writer = writer
        self._runtime = runtime
        self._calls = calls
        self._clock = clock
        self._ids = ids
        self.live: dict[str, LiveRun] = {}
        self._is_closing = False
        self._owed: list[Callable[[Transaction], RunRow]] = []
        """Ends that the disk refused to take; tried again until it does."""

    def admit(self, order: RunOrder) -> LiveRun:
        """A run that was created lives from here on: it can be stopped and spoken to before its runner begins."""
        effects = Effects(order, self._clock, self._ids)
        live = self.live[order.run_id] = LiveRun(order, self._writer, self._clock, effects, self._calls)
        if self._is_closing:
            live.request_stop(Stop.CANCELLED, HOST_CLOSED)
        return live

    async def conduct(self, live: LiveRun) -> None:
        """One run from its beginning to its last entry; never raises for what a runner did."""
        try:
            ending = await self._play(live)
        except FactsError as error:
            live.break_off(str(error))
            ending = Ending(How.ENDED)
        except Exception as error:  # noqa: BLE001  (whatever it was, a run that nobody closes would block its slot)
            live.request_stop(Stop.HOST, f"{type(error).__name__}: {error}")
            ending = Ending(How.ENDED, traceback="".join(format_exception(error)))
        finally:
            del self.live[live.order.run_id]
            live.is_over = True
            live.holds.end()
            live.begun.set()
        await self._close(live, ending)

    def close(self) -> None:
        """Stop every run: those that live, and those that were taken in and are only about to begin."""
        self._is_closing = True
        for live in tuple(self.live.values()):
            live.request_stop(Stop.CANCELLED, HOST_CLOSED)

    async def _play(self, live: LiveRun) -> Ending:
        order = live.order
        now = self._clock.now()
        beginning = await self._writer.submit(partial(begin, order=order, now=now))
        live.started_at = now
        context = build_context(order, beginning, self._clock)
        # At the moment that its row has: how long it took is one time, whichever of them is asked.
        live.recorder.record("host", "run.started", redact(_started(order, context)), at=now)
        for warning in (*order.warnings, *beginning.warnings):
            live.recorder.warn(warning)
        if live.stop is None:
            for point in order.holds:
                live.holds.arm(point)
        live.begun.set()
        live.deadline.start(now)
        try:
            return await self._hear(live, context)
        finally:
            live.deadline.cancel()

    async def _hear(self, live: LiveRun, context: dict[str, Any]) -> Ending:
        """Run the runner until it ends, or until it is stopped: asked first, then killed."""
        execution = await self._begin(live, context)
        if isinstance(execution, Ending):
            return execution
        live.execution = execution
        ended = asyncio.ensure_future(execution.ended())
        stopped = asyncio.ensure_future(live.stopped.wait())
        try:
            await asyncio.wait({ended, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done() and live.stop is not None:
                execution.cancel()
                await asyncio.wait({ended}, timeout=GRACE[live.stop])
            if not ended.done():
                await execution.kill()
            ending = await ended
            await live.let_through()
            return ending
        finally:
            stopped.cancel()
            if not ended.done():
                ended.cancel()
                await execution.kill()

    async def _begin(self, live: LiveRun, context: dict[str, Any]) -> Execution | Ending:
        """The execution, or the ending of one that never began."""
        order = live.order
        starting = asyncio.ensure_future(self._runtime.begin(order.launch, order.run_id, context, live))
        stopped = asyncio.ensure_future(live.stopped.wait())
        try:
            await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                return Ending(How.CANCELLED, "stopped before it began")
            return await starting
        except RuntimeProblem as problem:
            return Ending(How.NOT_LOADED, str(problem))
        finally:
            stopped.cancel()
            if not starting.done():
                starting.cancel()
                await asyncio.gather(starting, return_exceptions=True)

    async def _close(self, live: LiveRun, ending: Ending) -> None:
        """The last entry. Where even that cannot be written it is owed: to this host, or to the next that opens."""
        if ending.traceback:
            live.recorder.output("traceback", ending.traceback)
        live.recorder.close_output()
        verdict = judge(live, ending)
        finish = partial(_finish, live=live, line_id=self._ids.new("line"), clock=self._clock)
        try:
            text = await self._unfinished_text(live) if verdict.status is Status.COMPLETED else ""
            if text:
                live.recorder.warn("the run ended without a completed message; its line is put together from deltas")
            await self._writer.submit(partial(finish, verdict=verdict, text=text))
        except (AlreadyFinal, NotFound):
            return  # someone else has ended it, or deleted it
        except FactsError as error:
            # What was told is safe. What was not is gone with the disk's refusal, so the run cannot count as done.
            self._owed.append(partial(finish, verdict=storage_failed(str(error)), text=""))

    async def settle(self) -> None:
        """Write the ends that could not be written when they came."""
        while self._owed:
            end = self._owed.pop(0)
            try:
                await self._writer.submit(end)
            except (AlreadyFinal, NotFound):
                continue  # someone else has ended it, or deleted it
            except (FactsError, asyncio.CancelledError) as error:
                self._owed.insert(0, end)
                if isinstance(error, asyncio.CancelledError):
                    raise
                return

    async def _unfinished_text(self, live: LiveRun) -> str:
        """What was streamed since the last completed message."""
        since = live.deltas_since
        if since is None:
            return ""
        await self._writer.flush()
        return await self._database.read(lambda conn: _assembled(conn, live.order.run_id, since))


def _assembled(conn: Connection, run_id: str, since: int) -> str:
    deltas = DeltaText()
    for data in journal.texts(conn, run_id, "message.delta", since):
        chunk: dict[str, Any] = orjson.loads(data).get("chunk") or {}
        deltas.add(text_of(chunk.get("content")), chunk.get("all_content"))
    return deltas.text


def _started(order: RunOrder, context: dict[str, Any]) -> dict[str, Any]:
    return {
        "runner_id": order.binding.runner_id,
        "binding_id": order.binding.binding_id,
        "agent_id": order.binding.agent_id,
        "event_id": order.envelope.event_id,
        "context": context,
    }


def _finish(tx: Transaction, *, live: LiveRun, verdict: Verdict, text: str, line_id: str, clock: Clock) -> RunRow:
    """The end of a run in one step: its line, its status, its audit and its last entry."""
    order, now = live.order, clock.now()
    if text:
        said = {"role": "assistant", "content": text}
        live.effects.line(tx, line_id, said, {"assembled_from": "deltas"}, now)
    if verdict.status is Status.COMPLETED and order.envelope.conversation_id is not None:
        sessions.touch(tx.connection, order.envelope.conversation_id, at=now, exchanges=1)
    data = order.marks.cover_value(verdict.data(live.usage))
    pulls = {"pulls": live.pulls, "last_pull_at": live.last_pull_at}
    end = End(verdict.status, data, order.marks.cover_value(live.usage) or None, {"steering": pulls}, order.marks)
    return close_run(tx, order.run_id, end, at=now)


@dataclass(frozen=True, slots=True)
class End:
    """How a run ends, as its row and its last entry say it."""

    status: Status
    data: dict[str, Any]
    usage: dict[str, int | float] | None = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    marks: Marks = field(default_factory=Marks)


def close_run(tx: Transaction, run_id: str, end: End, *, at: int) -> RunRow:
    """Finalise a run: drop what still waits in it, and write its last entry.

    The position is asked for, not assumed: a host may have died.
    """
    conn, reason = tx.connection, str(end.data["reason"])
    metadata = {**end.metadata, **({"error": end.data["error"]} if end.data.get("error") else {})}
    last = journal.page(conn, run_id, before=2**62, limit=1)
    position, turn = (last[0].position, last[0].turn) if last else (0, 1)

    def record(kind: str, data: dict[str, Any]) -> None:
        nonlocal position
        position += 1
        text = end.marks.cover(orjson.dumps(data).decode())
        tx.record(Entry(run_id, position, at, "host", kind, text, None, None, None, turn))

    why = reason_of(end.status, reason)
    for item in drop_leftovers(tx, runs.get(conn, run_id), why, end.marks, at=at):
        record(
            "steering.dropped", {"item_id": item.item_id, "event_id": item.event_id, "text": item.text, "reason": why}
        )
    run = runs.finish(conn, run_id, end.status, at=at, reason=reason, usage=end.usage, metadata=metadata)
    event_log.append(
        conn,
        EventRow(
            event_id=f"{run_id}:finished",
            event_type="run.finished",
            source="host",
            conversation_id=run.conversation_id,
            thread_id=run.thread_id,
            bot_id=run.bot_id,
            workspace_id=run.workspace_id,
            run_id=run_id,
            created_at=at,
            metadata={"status": end.status, "reason": reason},
        ),
    )
    record("run.finished", end.data)
    return run
