"""Executes runs: starts the runner, stops it if necessary, and writes the end of the run on every path."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from traceback import format_exception
from typing import Any, Final, Protocol

import orjson
from sqlalchemy import Connection

from engine.clock import Clock, Ids
from engine.events import EntryKind, Source, Status
from engine.journal.delta_text import DeltaText
from engine.journal.kinds import DELTAS, RECORD_VERSION
from engine.journal.recorder import JournalSize
from engine.journal.secret_mask import SecretMask
from engine.journal.stored_context import StoredContext, has_bytes, store_bytes
from engine.log import get_log
from engine.protocol.content import text_of
from engine.run.effects import Effects
from engine.run.external_run import ExternalExecution
from engine.run.live import CallHandler, LiveRun, StopReason
from engine.run.run_order import RunOrder
from engine.run.run_start import build_context, start_run
from engine.run.verdict import Verdict, decide_verdict, storage_failure
from engine.runtimes.runtime import (
    Ending,
    EndKind,
    Execution,
    ProcessFacts,
    Reservation,
    Runtime,
    RuntimeProblem,
)
from engine.store import entries, event_log, runs, sessions
from engine.store.batch import Transaction
from engine.store.database import Database
from engine.store.entries import ROW_BYTES, Entry
from engine.store.errors import AlreadyFinal, NotFound, StoreError
from engine.store.event_log import EventRow
from engine.store.runs import RunRow
from engine.store.writer import Writer

KILL_GRACE_SECONDS: Final = {
    StopReason.CANCELLED: 1.0,
    StopReason.DEADLINE: 0.4,
    StopReason.PROTOCOL: 0.2,
    StopReason.JOURNAL: 0.2,
    StopReason.STORAGE: 0.2,
    StopReason.HOST: 0.2,
    StopReason.LINGERING: 0.2,
}
"""Seconds between asking a runner to stop and killing its process group."""
RESERVE_SECONDS: Final = 5.0
"""How long the first entry of a run waits for the choice of its process."""
LOG: Final = get_log("run")
_Reserving = asyncio.Future[Reservation]
HOST_CLOSED: Final = "the host was closed"
STOPPED_BEFORE_START: Final = "stopped before it began"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ends, as its row and its last entry record it."""

    status: Status
    data: dict[str, Any]
    usage: Mapping[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    secret_mask: SecretMask = field(default_factory=SecretMask)
    last_activity_at: int | None = None
    """The time of the last result or call, if this process executed the run."""
    journal_size: JournalSize | None = None
    """What the recorder has counted, if this process executed the run."""

    @property
    def reason(self) -> str:
        return str(self.data["reason"])


class DropLeftovers(Protocol):
    """Drops the messages that a run did not receive. Implemented above this package, by the queue."""

    def __call__(self, tx: Transaction, run: RunRow, end: RunEnd, *, at: int) -> Iterable[dict[str, Any]]:
        """Inside the writer: drop them, and return the data of a `steering.dropped` entry for each."""
        ...


class Orchestrator:
    """Executes the runs of one host. One event, one binding, one run, one runner, one result stream."""

    def __init__(
        self,
        database: Database,
        writer: Writer,
        runtime: Runtime,
        calls: CallHandler,
        drop_leftovers: DropLeftovers,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._database = database
        self._writer = writer
        self._runtime = runtime
        self._calls = calls
        self._drop_leftovers = drop_leftovers
        self._clock = clock
        self._ids = ids
        self.live: dict[str, LiveRun] = {}
        self._is_closing = False
        self._pending_ends: list[Callable[[Transaction], RunRow]] = []
        """Ends of runs that could not be written; tried again until they can."""

    def add_run(self, order: RunOrder) -> LiveRun:
        """Make a created run live: from here on it can be stopped and steered, even before its runner starts."""
        effects = Effects(order, self._clock, self._ids)
        live = self.live[order.run_id] = LiveRun(order, self._writer, self._clock, effects, self._calls)
        if self._is_closing:
            live.request_stop(StopReason.CANCELLED, HOST_CLOSED)
        return live

    async def execute_run(self, live: LiveRun) -> None:
        """Execute a run from its first entry to its last. Never raises for anything that a runner does."""
        try:
            ending = await self._start_and_run(live)
        except StoreError as error:
            live.stop_for_storage_failure(str(error))
            ending = Ending(EndKind.ENDED)
        except Exception as error:  # whatever it was, a run that is never closed would block its slot
            LOG.exception("run %s failed because of a fault of the host", live.order.run_id)
            live.request_stop(StopReason.HOST, f"{type(error).__name__}: {error}")
            ending = Ending(EndKind.ENDED, traceback="".join(format_exception(error)))
        finally:
            del self.live[live.order.run_id]
            live.has_ended = True
            live.pause_control.end_all()
            live.started.set()
        await self._write_end(live, ending)

    def close(self) -> None:
        """Stop every run, also those that were accepted and are about to start."""
        self._is_closing = True
        for live in tuple(self.live.values()):
            live.request_stop(StopReason.CANCELLED, HOST_CLOSED)

    async def write_pending_ends(self) -> None:
        """Write the ends of runs that could not be written before."""
        while self._pending_ends:
            end = self._pending_ends.pop(0)
            try:
                await self._writer.submit(end)
            except (AlreadyFinal, NotFound):
                continue  # another process has ended or deleted the run
            except (StoreError, asyncio.CancelledError) as error:
                self._pending_ends.insert(0, end)
                if isinstance(error, asyncio.CancelledError):
                    raise
                return

    async def _start_and_run(self, live: LiveRun) -> Ending:
        order = live.order
        LOG.info("run %s of %s starts", order.run_id, order.binding.runner_id)
        now = self._clock.now()
        facts = await self._writer.submit(partial(start_run, order=order, now=now))
        live.started_at = now
        live.learn_secrets(facts.secrets)
        context = build_context(order, facts, self._clock)
        reserving = None if order.is_external else asyncio.ensure_future(self._runtime.reserve(order.launch))
        try:
            process = None if reserving is None else await _reserved_process(live, reserving)
            await self._record_start(live, context, process, (*order.warnings, *facts.warnings), now)
            live.deadline.start(now)
            return await self._run_runner(live, context, reserving, process)
        finally:
            live.deadline.cancel()
            if reserving is not None:
                reserving.add_done_callback(_release)

    async def _record_start(
        self, live: LiveRun, context: dict[str, Any], process: ProcessFacts | None, warnings: Iterable[str], now: int
    ) -> None:
        """Record the first entry and what follows from the order. From here on others may write into the journal."""
        order = live.order
        started = StoredContext(_started_data(order, context, process), [])
        if has_bytes(started.data):
            started = await asyncio.to_thread(store_bytes, started.data, order.secret_mask)
        # The same time as in the run's row, so that its duration is the same wherever it is read.
        live.recorder.record_stored(Source.HOST, EntryKind.RUN_STARTED, started.data, started.parts, at=now)
        for warning in warnings:
            live.recorder.warn(warning)
        if live.cancel_requested_at is not None:
            live.recorder.record(Source.USER, EntryKind.CANCEL_REQUESTED, {})
        if live.stop_reason is None:
            for location in order.breakpoints:
                live.pause_control.set_breakpoint(location)
        live.started.set()

    async def _run_runner(
        self,
        live: LiveRun,
        context: dict[str, Any],
        reserving: _Reserving | None,
        process: ProcessFacts | None,
    ) -> Ending:
        """Run the runner until it ends or is stopped. A stop asks first, and kills after a grace period."""
        if reserving is None:
            execution = ExternalExecution(live)
        else:
            execution = await self._start_runner(live, context, reserving, process)
        if isinstance(execution, Ending):
            return execution
        live.execution = execution
        ended = asyncio.ensure_future(execution.ended())
        stopped = asyncio.ensure_future(live.stop_requested.wait())
        try:
            await asyncio.wait({ended, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done() and live.stop_reason is not None:
                execution.cancel()
                await asyncio.wait({ended}, timeout=KILL_GRACE_SECONDS[live.stop_reason])
            if not ended.done():
                await execution.kill()
            ending = await ended
            live.loaded_code = await execution.loaded_code()
            await live.wait_for_held_results()
            if ending.how is EndKind.LOST and live.stop_reason is None:
                live.record_stop(EndKind.LOST, ending.message)
            return ending
        finally:
            stopped.cancel()
            if not ended.done():
                ended.cancel()
                await execution.kill()

    async def _start_runner(
        self, live: LiveRun, context: dict[str, Any], reserving: _Reserving, recorded: ProcessFacts | None
    ) -> Execution | Ending:
        """Return the execution, or the ending of a runner that never started."""
        if live.stop_requested.is_set():
            return Ending(EndKind.CANCELLED, STOPPED_BEFORE_START)
        starting = asyncio.ensure_future(_begin(live, context, reserving, recorded))
        stopped = asyncio.ensure_future(live.stop_requested.wait())
        try:
            await asyncio.wait({starting, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                return Ending(EndKind.CANCELLED, STOPPED_BEFORE_START)
            return await starting
        except RuntimeProblem as problem:
            return Ending(EndKind.NOT_LOADED, str(problem))
        finally:
            stopped.cancel()
            if not starting.done():
                starting.cancel()
                await asyncio.gather(starting, return_exceptions=True)

    async def _write_end(self, live: LiveRun, ending: Ending) -> None:
        """Write the last entry. If that fails, this host tries again later, or the next host closes the run."""
        if ending.traceback:
            live.recorder.output("traceback", ending.traceback)
        live.record_held_text()
        live.recorder.close_output()
        verdict = decide_verdict(live, ending)
        LOG.info("run %s ends: %s (%s)", live.order.run_id, verdict.status, ending.how)
        finish = partial(self._finish, live=live, line_id=self._ids.new("line"))
        try:
            text = await self._unfinished_text(live) if verdict.status is Status.COMPLETED else ""
            if text:
                live.recorder.warn(
                    "The run ended without a completed message; its transcript line is assembled from deltas.",
                    assembled_from=DELTAS,
                )
            await self._writer.submit(partial(finish, verdict=verdict, text=text))
        except (AlreadyFinal, NotFound):
            return  # another process has ended or deleted the run
        except StoreError as error:
            # Everything that was announced is safe. The rest is lost, so the run does not count as completed.
            self._pending_ends.append(partial(finish, verdict=storage_failure(str(error)), text=""))

    async def _unfinished_text(self, live: LiveRun) -> str:
        """Return the text that was streamed since the last completed message."""
        after = live.pending_deltas_after
        if after is None:
            return ""
        await self._writer.flush()
        return await self._database.read(lambda conn: _join_deltas(conn, live.order.run_id, after))

    def _finish(self, tx: Transaction, *, live: LiveRun, verdict: Verdict, text: str, line_id: str) -> RunRow:
        """Inside the writer: write the run's line, status, audit row and last entry in one step."""
        order, now = live.order, self._clock.now()
        if text:
            message = {"role": "assistant", "content": text}
            live.effects.write_line(tx, line_id, message, {"assembled_from": DELTAS}, now)
        if verdict.status is Status.COMPLETED and order.envelope.conversation_id is not None:
            sessions.touch(tx.connection, order.envelope.conversation_id, at=now)
        mask = order.secret_mask
        usage = live.usage.as_data()
        loaded = {} if live.loaded_code is None else live.loaded_code.as_data()
        data = mask.cover_value({**verdict.data(usage), **loaded})
        pulls = {"pulls": live.pulls, "last_pull_at": live.last_pull_at}
        covered = mask.cover_value(usage) or None
        end = RunEnd(
            verdict.status,
            data,
            covered,
            {"steering": pulls},
            mask,
            live.last_activity_at,
            live.recorder.journal_size,
        )
        return close_run(tx, order.run_id, end, self._drop_leftovers, at=now)


def close_run(tx: Transaction, run_id: str, end: RunEnd, drop_leftovers: DropLeftovers, *, at: int) -> RunRow:
    """Inside the writer: drop the messages that the run did not receive, and write its status and last entry.

    Reads the last position from the journal, because the host that executed the run may have died. The size of the
    journal is then counted entry by entry, and also if the last entries could not be written.
    """
    conn = tx.connection
    metadata = {**end.metadata, **({"error": end.data["error"]} if end.data.get("error") else {})}
    last = entries.page(conn, run_id, before=2**62, limit=1)
    position, turn = (last[0].position, last[0].turn) if last else (0, 1)

    counted = end.journal_size
    journal_bytes = counted.bytes if counted and counted.position == position else entries.size(conn, run_id)

    def record(kind: str, data: dict[str, Any]) -> None:
        nonlocal position, journal_bytes
        position += 1
        text = end.secret_mask.cover(orjson.dumps(data).decode())
        journal_bytes += len(text.encode()) + ROW_BYTES
        tx.record(Entry(run_id, position, at, Source.HOST, kind, text, None, None, None, turn))

    for dropped in drop_leftovers(tx, runs.get(conn, run_id), end, at=at):
        record(EntryKind.STEERING_DROPPED, dropped)
    record(EntryKind.RUN_FINISHED, end.data)
    run = runs.finish(
        conn,
        run_id,
        end.status,
        at=at,
        reason=end.reason,
        usage=end.usage,
        metadata=metadata,
        last_activity_at=end.last_activity_at,
        journal_bytes=journal_bytes,
    )
    event_log.append(
        conn,
        EventRow(
            event_id=f"{run_id}:finished",
            event_type=EntryKind.RUN_FINISHED,
            source=Source.HOST,
            conversation_id=run.conversation_id,
            thread_id=run.thread_id,
            bot_id=run.bot_id,
            workspace_id=run.workspace_id,
            run_id=run_id,
            created_at=at,
            metadata={"status": end.status, "reason": end.reason},
        ),
    )
    return run


def _join_deltas(conn: Connection, run_id: str, after: int) -> str:
    deltas = DeltaText()
    for data in entries.texts(conn, run_id, EntryKind.MESSAGE_DELTA, after):
        chunk: dict[str, Any] = orjson.loads(data).get("chunk") or {}
        deltas.add(text_of(chunk.get("content")), chunk.get("all_content"))
    return deltas.text


async def _reserved_process(live: LiveRun, reserving: _Reserving) -> ProcessFacts | None:
    """Return the facts of the reserved process; None if there are none, or if the run must not wait for them.

    A decision takes milliseconds. If it hangs, such as in a folder on a lost network drive, the first entry is recorded
    without it, so that the run can be stopped and steered.
    """
    stopped = asyncio.ensure_future(live.stop_requested.wait())
    try:
        await asyncio.wait({reserving, stopped}, timeout=RESERVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
    return reserving.result().process if reserving.done() and reserving.exception() is None else None


async def _begin(
    live: LiveRun, context: dict[str, Any], reserving: _Reserving, recorded: ProcessFacts | None
) -> Execution:
    """Start the run in its reserved process. Records the process if the first entry does not have it."""
    reservation = await asyncio.shield(reserving)
    if reservation.process is not None and recorded is None:
        live.process_chosen(reservation.process, "the process was chosen after the run had started")
    return await reservation.begin(live.order.run_id, context, live)


def _release(reserving: _Reserving) -> None:
    if not reserving.cancelled() and reserving.exception() is None:
        reserving.result().release()


def _started_data(order: RunOrder, context: dict[str, Any], process: ProcessFacts | None) -> dict[str, Any]:
    return {
        "runner_id": order.binding.runner_id,
        "binding_id": order.binding.binding_id,
        "agent_id": order.binding.agent_id,
        "event_id": order.envelope.event_id,
        "record": RECORD_VERSION,
        "context": context,
        **({"breakpoints": list(map(str, order.breakpoints))} if order.breakpoints else {}),
        **({} if process is None else {"process": process.as_data()}),
        **({"external": True, "external_id": order.external_id} if order.is_external else {}),
    }
