"""A process that hosts runs: its lock, writer and runtime, and recovery from dead hosts."""

import asyncio
from typing import Final

from engine.access.server import CallServer
from engine.access.services import Services
from engine.clock import Clock, Ids
from engine.events import EntryKind, Hub, Source, Status
from engine.protocol.results import FailureCode
from engine.queue.claims import ClaimedEvents
from engine.queue.decided_elsewhere import fail_decided_elsewhere
from engine.queue.dispatch import Dispatcher
from engine.queue.leftovers import Resend, drop_leftovers, drop_pending
from engine.queue.ticket import Ticket
from engine.queue.user_edits import QueueEditor
from engine.run.live import StopReason
from engine.run.orchestrator import Orchestrator, RunEnd, close_run
from engine.run.run_order import RunOrder
from engine.runtimes.runtime import Runtime
from engine.store import entries, hosts, queue, runs
from engine.store.batch import Transaction
from engine.store.cleanup import Cleanup
from engine.store.database import Database
from engine.store.errors import EntryRefused, StoreError
from engine.store.hosts import HostLock
from engine.store.queue import QueueItem
from engine.store.writer import Writer
from engine.version import VERSION

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
    hosts.delete_dead(tx.connection, host_id)
    return closed


POLL_SECONDS: Final = 0.4
"""How often the host checks for stop requests and entries of other processes. A stop must take less than 0.5 s."""


class Host:
    """The parts that run runners in this process: writer, orchestrator, dispatcher and queue editor."""

    def __init__(
        self,
        database: Database,
        runtime: Runtime,
        hub: Hub,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._database = database
        self._runtime = runtime
        self._hub = hub
        self._clock = clock
        self._ids = ids
        self.host_id = ids.new("host")
        self.last_error: StoreError | None = None
        """The last failure of the disk or the database, which may have stopped a run."""
        self._lock = HostLock.take(database.path, self.host_id)
        self.writer = Writer(
            database.writing_connection, database.path, on_committed=hub.publish, on_failure=self._handle_error
        )
        claimed = ClaimedEvents()
        calls = CallServer(Services(database, self.writer, clock, ids, claimed.remove))
        self.orchestrator = Orchestrator(database, self.writer, runtime, calls, drop_leftovers, clock, ids)
        self.dispatcher = Dispatcher(self.writer, self.orchestrator, claimed, self.host_id, clock, ids)
        live = self.orchestrator.live.get
        self.queue_editor = QueueEditor(
            self.writer, self.dispatcher, claimed, live, self._read_item, self.host_id, clock, ids
        )
        self.cleanup = Cleanup(self.writer.submit, database, clock, ids)
        self._poll_task: asyncio.Task[None] | None = None

    async def start(self) -> list[str]:
        """Register this host and close the runs of dead hosts. Returns the ids of those runs."""
        recovered = await self.writer.submit(self._register)
        self._poll_task = asyncio.ensure_future(self._poll())
        self.cleanup.start()
        return recovered

    async def submit(
        self, order: RunOrder, *, after: bool = False, continues: bool = False, resend: Resend | None = None
    ) -> Ticket:
        """Accept an event: for the run in progress, or as a new run that starts when its slot is free."""
        await self.orchestrator.write_pending_ends()
        return await self.dispatcher.accept(order, after=after, continues=continues, resend=resend)

    async def wait_for_end(self, run_id: str) -> None:
        """Return when a run of this process has ended; at once if the run is not in progress here."""
        task = self.dispatcher.run_task(run_id)
        if task is not None:
            await asyncio.shield(task)

    async def cancel(self, run_id: str) -> None:
        """Record the request to stop a run, and stop it if this process hosts it."""
        await self.writer.submit(lambda tx: runs.request_cancel(tx.connection, run_id, at=self._clock.now()))
        self._stop(run_id)

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
        if self._poll_task is not None:
            self._poll_task.cancel()
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

    def _register(self, tx: Transaction) -> list[str]:
        hosts.register(tx.connection, self.host_id, self._lock, started_at=self._clock.now(), version=VERSION)
        return self._recover(tx)

    def _recover(self, tx: Transaction) -> list[str]:
        closed: list[str] = []
        for host_id in hosts.dead_hosts(tx.connection):
            if host_id != self.host_id:
                closed += recover(tx, host_id, now=self._clock.now())
        return closed

    def _unregister(self, tx: Transaction) -> None:
        drop_pending(tx, self.host_id, "host_closed", at=self._clock.now())
        # If the end of a run could not be written, the host stays registered, so that the next host recovers the run.
        if not runs.live_of_host(tx.connection, self.host_id):
            hosts.unregister(tx.connection, self.host_id)

    def _handle_error(self, error: StoreError) -> None:
        """Stop all runs if the database cannot be written: their entries are neither stored nor announced."""
        self.last_error = error
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
            live.recorder.record(Source.USER, EntryKind.CANCEL_REQUESTED, {})
            live.request_stop(StopReason.CANCELLED)

    async def _poll(self) -> None:
        """Check for stop requests of this host's runs, and for decisions and entries that other processes wrote."""
        last = 0
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await self.orchestrator.write_pending_ends()
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
