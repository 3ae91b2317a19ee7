"""A process that hosts runs: its lock, writer and runtime, and recovery from dead hosts."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from engine.access.server import CallServer
from engine.access.services import Services
from engine.clock import Clock, Ids
from engine.events import LIVE_STATUSES, EndReason, EntryKind, Hub, Source, Status
from engine.intake.envelope import EventEnvelope
from engine.intake.errors import IntakeError
from engine.log import get_log
from engine.project.config import ConfigError
from engine.protocol.results import FailureCode
from engine.queue.claims import ClaimedEvents
from engine.queue.decided_elsewhere import fail_decided_elsewhere
from engine.queue.dispatch import Dispatcher, Offer, SlotElsewhere
from engine.queue.leftovers import Resend, drop_leftovers, drop_pending
from engine.queue.request_sender import RequestSender
from engine.queue.request_server import RequestedActions, RequestServer
from engine.queue.requests import settle_requests
from engine.queue.ticket import Ticket
from engine.queue.user_edits import QueueEditor
from engine.run.live import LiveRun, StopReason
from engine.run.orchestrator import Orchestrator, RunEnd, close_run
from engine.run.run_order import RunOrder
from engine.runners.errors import RunnersError
from engine.runtimes.runtime import Runtime
from engine.store import entries, hosts, queue, requests, runs
from engine.store.batch import Transaction
from engine.store.cleanup import Cleanup
from engine.store.database import Database
from engine.store.errors import CannotSteer, EntryRefused, HostGone, HostSilent, QueueFull, StoreError
from engine.store.hosts import HostLock
from engine.store.queue import QueueItem
from engine.store.runs import RunRow
from engine.store.writer import Writer
from engine.version import VERSION

LOG: Final = get_log("host")
HOST_RESTARTED: Final = FailureCode.HOST_RESTARTED.value


def recover(tx: Transaction, host_id: str, *, now: int) -> list[str]:
    """Close the runs and drop the queued messages of a dead host. Returns the ids of the runs."""
    closed: list[str] = []
    for run in runs.live_of_host(tx.connection, host_id):
        data = {
            "status": Status.FAILED,
            "reason": HOST_RESTARTED,
            "error": "the host ended before the run did",
            "retryable": True,
        }
        close_run(tx, run.run_id, RunEnd(Status.FAILED, data), drop_leftovers, at=now)
        closed.append(run.run_id)
    drop_pending(tx, host_id, HOST_RESTARTED, at=now)
    settle_requests(tx, host_id, at=now)
    hosts.delete_dead(tx.connection, host_id)
    return closed


POLL_SECONDS: Final = 0.4
"""How often the host checks for decisions and entries of other processes."""
ACTIVITY_US: Final = 1_000_000
"""The activity of live runs is written at most once in this time, in microseconds."""
KEPT_RECEIPTS_US: Final = 3_600_000_000
"""How long the receipt of a request is kept if its sender has ended without reading it, in microseconds."""
PrepareMessage = Callable[[EventEnvelope, LiveRun], RunOrder]
"""Prepares a message for the agent of a live run."""


class Host:
    """The parts that run runners in this process: writer, orchestrator, dispatcher and queue editor."""

    def __init__(
        self,
        database: Database,
        runtime: Runtime,
        hub: Hub,
        clock: Clock,
        ids: Ids,
        prepare_message: PrepareMessage,
        *,
        is_only: bool = False,
    ) -> None:
        """`is_only`: refuse to host beside another process, and the other way round."""
        self._database = database
        self._prepare_message = prepare_message
        self._runtime = runtime
        self._hub = hub
        self._clock = clock
        self._ids = ids
        self.host_id = ids.new("host")
        self.last_error: StoreError | None = None
        """The last failure of the disk or the database, which may have stopped a run."""
        self._lock = HostLock.take(database.path, self.host_id, is_only=is_only)
        self.writer = Writer(
            database.writing_connection, database.path, on_committed=hub.publish, on_failure=self._handle_error
        )
        claimed = ClaimedEvents()
        calls = CallServer(Services(database, self.writer, clock, ids, claimed.remove, self._stop_for_runner))
        self.orchestrator = Orchestrator(database, self.writer, runtime, calls, drop_leftovers, clock, ids)
        self.dispatcher = Dispatcher(self.writer, self.orchestrator, claimed, self.host_id, clock, ids)
        live = self.orchestrator.live.get
        self.queue_editor = QueueEditor(
            self.writer, self.dispatcher, claimed, live, self._read_item, self.host_id, clock, ids
        )
        self.sender = RequestSender(database, self.writer.submit, clock)
        self._request_server = RequestServer(
            database,
            self.writer,
            RequestedActions(self, self.queue_editor),
            self.host_id,
            clock,
            lambda: bool(self.orchestrator.live),
            self._note_error,
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._activity_written_at: int | None = None
        self._written_activity: dict[str, int] = {}
        """By run id, the activity of live runs that is in the database."""
        self.cleanup = Cleanup(self.writer.submit, database, clock, ids)

    async def start(self) -> list[str]:
        """Register this host and close the runs of dead hosts. Returns the ids of those runs."""
        recovered = await self.writer.submit(self._register)
        LOG.info("host %s opened %s; closed %d runs of dead hosts", self.host_id, self._database.path, len(recovered))
        self._tasks = [asyncio.ensure_future(self._poll()), asyncio.ensure_future(self._request_server.serve())]
        self.cleanup.start()
        return recovered

    async def submit(
        self,
        order: RunOrder,
        *,
        after: bool = False,
        continues: bool = False,
        resend: Resend | None = None,
        ask_elsewhere: bool = False,
    ) -> Ticket:
        """Accept an event: for the run in progress, or as a new run that starts when its slot is free.

        With `ask_elsewhere`, a message is also offered to a run in progress of another process. If that run cannot
        claim it, the message waits here for the slot, and its ticket has the reason.
        """
        await self.orchestrator.write_pending_ends()
        accept = partial(self.dispatcher.accept, order, continues=continues, resend=resend)
        try:
            return await accept(Offer(after=after, ask_elsewhere=ask_elsewhere and order.raw_data is None))
        except SlotElsewhere as taken:
            run = taken.run
        try:
            return await self.sender.steer(run, order.envelope, runner_id=order.binding.runner_id, resend=resend)
        except (CannotSteer, QueueFull, HostGone, HostSilent) as refused:
            return await accept(Offer(not_claimed_reason=str(refused)))

    async def steer(
        self, run_id: str, envelope: EventEnvelope, *, runner_id: str | None = None, resend: Resend | None = None
    ) -> Ticket:
        """Offer a message to a run of this process. Raises CannotSteer, and records nothing, if it cannot claim it."""
        live = self.orchestrator.live.get(run_id)
        if live is None:
            raise CannotSteer(f"run {run_id} has ended; only a run in progress can receive a message.")
        if live.order.slot is None:
            raise CannotSteer(f"run {run_id} has no session; only a run of a session can receive a message.")
        if runner_id not in (None, live.order.binding.runner_id):
            raise CannotSteer(f"the run in progress uses another runner ({live.order.binding.runner_id})")
        try:
            order = self._prepare_message(envelope, live)
        except (ConfigError, IntakeError, RunnersError) as error:
            raise CannotSteer(str(error)) from error
        return await self.dispatcher.accept(order, Offer(only_to=run_id), resend=resend)

    async def wait_for_end(self, run_id: str) -> None:
        """Return when a run of this process has ended; at once if the run is not in progress here."""
        task = self.dispatcher.run_task(run_id)
        if task is not None:
            await asyncio.shield(task)

    async def cancel(self, run_id: str) -> None:
        """Record the request to stop a run, and stop it. A run of another process is stopped by its host."""
        run = await self.writer.submit(lambda tx: self._request_cancel(tx, run_id))
        if run.host == self.host_id:
            self._stop(run_id)
        else:
            await self.sender.stop(run)

    async def close_stale(self, max_idle_seconds: float) -> list[RunRow]:
        """Close the runs of this host that were idle for so long and that nothing executes. Returns these runs.

        Such a run was recorded from outside and not finalized, or its runner ended while its end could not be written.
        """
        if not max_idle_seconds >= 1:
            raise StoreError("max_idle_seconds must be at least 1: a run that is about to start is not stale.")
        idle_since = self._clock.now() - int(max_idle_seconds * 1_000_000)
        live = await self._database.read(lambda conn: runs.live_of_host(conn, self.host_id))
        is_executed = self.dispatcher.run_task
        stale = [run.run_id for run in live if run.active_at <= idle_since and is_executed(run.run_id) is None]
        await self.orchestrator.write_pending_ends()  # these runs end as they should have
        return await self.writer.submit(lambda tx: self._close_stale(tx, stale, max_idle_seconds))

    def reload_code(self) -> None:
        """Make new runs load their code again."""
        self._runtime.renew()

    async def recover(self) -> list[str]:
        """Close the runs of hosts that have died since the start. Returns the ids of those runs."""
        return await self.writer.submit(self._recover)

    async def follow_decisions(self) -> None:
        """Fail the tickets of queued messages that were dropped or deleted by another process or with their session."""
        await fail_decided_elsewhere(self.dispatcher.pending, self._database)

    async def check_writable(self) -> None:
        """Make a write that changes nothing. Raises StoreError if it fails."""
        await self.writer.submit(lambda tx: hosts.touch(tx.connection, self.host_id))

    async def close(self) -> None:
        """Stop the runs, drop the queued messages, purge what was deleted here, end all children, release the lock."""
        for task in self._tasks:
            task.cancel()
        self.dispatcher.close()
        self.orchestrator.close()
        await self.dispatcher.wait_idle()
        await self._runtime.close()
        await self.orchestrator.write_pending_ends()
        await self.cleanup.close()
        try:
            await self.writer.submit(self._unregister)
        except StoreError as error:
            # The lock is released with this process; the next host that opens the database recovers the rest.
            self.last_error = error
        await self.writer.close()
        self._lock.release()
        LOG.info("host %s closed", self.host_id)

    def _register(self, tx: Transaction) -> list[str]:
        now = self._clock.now()
        hosts.register(tx.connection, self.host_id, self._lock, started_at=now, version=VERSION)
        requests.remove_answered(tx.connection, before=now - KEPT_RECEIPTS_US)
        closed = self._recover(tx)
        hosts.require_place(tx.connection, self.host_id)
        return closed

    def _recover(self, tx: Transaction) -> list[str]:
        closed: list[str] = []
        for host_id in hosts.dead_hosts(tx.connection):
            if host_id != self.host_id:
                closed += recover(tx, host_id, now=self._clock.now())
        return closed

    def _unregister(self, tx: Transaction) -> None:
        now = self._clock.now()
        drop_pending(tx, self.host_id, "host_closed", at=now)
        settle_requests(tx, self.host_id, at=now)
        # If the end of a run could not be written, the host stays registered, so that the next host recovers the run.
        if not runs.live_of_host(tx.connection, self.host_id):
            hosts.unregister(tx.connection, self.host_id)

    def _request_cancel(self, tx: Transaction, run_id: str) -> RunRow:
        run = runs.get(tx.connection, run_id)
        if run.host != self.host_id and run.status in LIVE_STATUSES:
            return run  # its host records the request
        return runs.request_cancel(tx.connection, run_id, at=self._clock.now())

    def _close_stale(self, tx: Transaction, run_ids: list[str], idle_seconds: float) -> list[RunRow]:
        now = self._clock.now()
        for run_id in run_ids:
            if runs.is_live(tx.connection, run_id):
                data = {
                    "status": Status.FAILED,
                    "reason": EndReason.STALE,
                    "error": f"nothing executed the run, and it had no activity for {idle_seconds:g} s",
                    "retryable": True,
                }
                close_run(tx, run_id, RunEnd(Status.FAILED, data), drop_leftovers, at=now)
        return [runs.get(tx.connection, run_id) for run_id in run_ids]

    def _note_error(self, error: StoreError) -> None:
        self.last_error = error

    def _handle_error(self, error: StoreError) -> None:
        """Stop all runs if the database cannot be written: their entries are neither stored nor announced."""
        self.last_error = error
        LOG.error("a write failed: %s", error)
        if isinstance(error, EntryRefused):
            return  # only one entry was refused; the disk is fine
        for live in self.orchestrator.live.values():
            live.stop_for_storage_failure(str(error))

    async def _read_item(self, item_id: str) -> QueueItem:
        return await self._database.read(lambda conn: queue.get(conn, item_id))

    def _stop(self, run_id: str) -> None:
        live = self.orchestrator.live.get(run_id)
        if live is not None and live.stop_reason is None:
            live.cancel_requested_at = self._clock.now()
            if live.started.is_set():  # otherwise the entry follows the first one
                live.recorder.record(Source.USER, EntryKind.CANCEL_REQUESTED, {})
            live.request_stop(StopReason.CANCELLED)

    async def _stop_for_runner(self, live: LiveRun, reason: str) -> RunRow:
        """Record the request of a runner to stop its own run, and return the run's row."""
        now, run_id = self._clock.now(), live.order.run_id
        row = await self.writer.submit(lambda tx: runs.request_cancel(tx.connection, run_id, at=now))

        def stop() -> None:
            if live.stop_reason is None and not live.has_ended:
                live.cancel_requested_at = now
                data = {"by_runner": True, "reason": reason}
                live.recorder.record(Source.HOST, EntryKind.CANCEL_REQUESTED, data)
                live.request_stop(StopReason.CANCELLED, reason)

        # Not now: a stop interrupts the calls of the run, and the reply to the one that asks for it should leave.
        asyncio.get_running_loop().call_soon(stop)
        return row

    def _write_activity(self) -> None:
        """Write when the live runs were last active: one operation for all runs, at most once a second."""
        now = self._clock.monotonic()
        if self._activity_written_at is not None and now - self._activity_written_at < ACTIVITY_US:
            return
        active = {
            run_id: live.last_activity_at
            for run_id, live in self.orchestrator.live.items()
            if live.last_activity_at is not None
        }
        changed = {run_id: at for run_id, at in active.items() if self._written_activity.get(run_id) != at}
        if changed:
            self._written_activity, self._activity_written_at = active, now
            self.writer.submit(lambda tx: runs.note_activity(tx.connection, changed)).add_done_callback(_forget_error)

    async def _poll(self) -> None:
        """Write the activity of runs, and check for stop requests, decisions and entries that other processes wrote."""
        last = 0
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await self.orchestrator.write_pending_ends()
            self._write_activity()
            is_idle = not self.orchestrator.live and not self._hub.has_subscribers
            if is_idle and not self.dispatcher.pending:
                continue
            try:
                await self.follow_decisions()
                cancelled = await self._database.fetch(runs.cancel_requested_query(self.host_id))
                newest = await self._database.fetch(entries.LAST_ROW)
            except Exception as error:  # noqa: BLE001  (a failed read must not end the loop)
                self.last_error = error if isinstance(error, StoreError) else StoreError(repr(error))
                continue
            for run_id in cancelled:
                self._stop(run_id)
            if newest != last:
                last = newest
                self._hub.notify()


def _forget_error(future: "asyncio.Future[None]") -> None:
    """A failed write reaches every live run through the writer's own failure; nobody waits for this one."""
    if not future.cancelled():
        future.exception()
