"""A process that hosts runs: its lock, its writer, its runtime, and the end of what dead hosts left behind."""

import asyncio
from typing import Final

from engine.access.desk import AccessDesk
from engine.access.room import Room
from engine.clock import Clock, Ids
from engine.events import Hub
from engine.facts import hosts, journal, queue, runs
from engine.facts.batch import Transaction
from engine.facts.database import Database
from engine.facts.errors import EntryRefused, FactsError
from engine.facts.hosts import HostLock
from engine.facts.queue import QueueItem
from engine.facts.writer import Writer
from engine.run.dispatch import Dispatch
from engine.run.live import Stop
from engine.run.orchestrator import Orchestrator
from engine.run.order import RunOrder
from engine.run.recovery import recover
from engine.run.ticket import Ticket
from engine.runtimes.runtime import Runtime
from engine.steering.again import Again
from engine.steering.edits import Edits
from engine.steering.leftovers import drop_waiting
from engine.version import VERSION

LOOK: Final = 0.4
"""Seconds between looks for cancels and entries of other processes; a cancel must be noticed within half a second."""


class Host:
    """Everything that lives while this process may run runners."""

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
        self.trouble: FactsError | None = None
        """The last failure of the disk or the database, for whoever wonders why a run was stopped."""
        self._lock = HostLock.take(database.path, self.host_id)
        self.writer = Writer(database.writing_connection, database.path, told=hub.tell, failed=self._failed)
        desk = AccessDesk(Room(database, self.writer, clock, ids))
        self.orchestrator = Orchestrator(database, self.writer, runtime, desk, clock, ids)
        self.dispatch = Dispatch(self.writer, self.orchestrator, self.host_id, clock, ids)
        self.edits = Edits(self.writer, self.dispatch, self.orchestrator.live.get, self._item, self.host_id, clock, ids)
        self._looking: asyncio.Task[None] | None = None

    async def start(self) -> list[str]:
        """Register, and close the runs of hosts that are gone; gives their ids."""
        recovered = await self.writer.submit(self._register)
        self._looking = asyncio.ensure_future(self._look())
        return recovered

    async def submit(self, order: RunOrder, *, after: bool = False, again: Again | None = None) -> Ticket:
        """Take an event in: into the run at work, or as a run that starts when its slot is free."""
        await self.orchestrator.settle()
        return await self.dispatch.accept(order, after=after, again=again)

    async def ended(self, run_id: str) -> None:
        """Return when a run of this process has ended; at once where it is none."""
        task = self.dispatch.run_task(run_id)
        if task is not None:
            await asyncio.shield(task)

    async def cancel(self, run_id: str) -> None:
        """Record that someone wants this run stopped, and stop it if it is ours."""
        await self.writer.submit(lambda tx: runs.request_cancel(tx.connection, run_id, at=self._clock.now()))
        self._stop(run_id)

    def renew(self) -> None:
        """Have runs that begin from here on load their code anew."""
        self._runtime.renew()

    async def recover(self) -> list[str]:
        """Close the runs of hosts that have gone since; gives their ids."""
        return await self.writer.submit(self._recover)

    async def try_to_write(self) -> None:
        """Write something that changes nothing: where that goes, the rest does. Raises what is in the way."""
        await self.writer.submit(lambda tx: hosts.touch(tx.connection, self.host_id))

    async def close(self) -> None:
        """Stop what runs, drop what waits, and leave no process and no lock behind."""
        if self._looking is not None:
            self._looking.cancel()
        self.dispatch.close()
        self.orchestrator.close()
        await self.dispatch.idle()
        await self._runtime.close()
        await self.orchestrator.settle()
        try:
            await self.writer.submit(self._unregister)
        except FactsError as error:
            # The lock goes with this process; whoever opens the database next finds the rest.
            self.trouble = error
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
        drop_waiting(tx, self.host_id, "host_closed", at=self._clock.now())
        # A run whose end could not be written is left to the next host, which looks for hosts that are gone.
        if not runs.live_of_host(tx.connection, self.host_id):
            hosts.unregister(tx.connection, self.host_id)

    def _failed(self, error: FactsError) -> None:
        """What could not be written was not told either; the runs it belonged to cannot go on."""
        self.trouble = error
        if isinstance(error, EntryRefused):
            return  # one entry, not the disk
        for live in self.orchestrator.live.values():
            live.break_off(str(error))

    async def _item(self, item_id: str) -> QueueItem:
        return await self._database.read(lambda conn: queue.get(conn, item_id))

    def _stop(self, run_id: str) -> None:
        live = self.orchestrator.live.get(run_id)
        if live is not None and live.stop is None:
            live.cancel_requested_at = self._clock.now()
            live.recorder.record("person", "cancel.requested", {})
            live.request_stop(Stop.CANCELLED)

    async def _look(self) -> None:
        """Notice what other processes wrote: a cancel of a run of ours, or entries for our subscribers."""
        last = 0
        while True:
            await asyncio.sleep(LOOK)
            await self.orchestrator.settle()
            if not self.orchestrator.live and not self._hub.is_heard:
                continue
            try:
                wanted = await self._database.read(lambda conn: runs.cancel_requested(conn, self.host_id))
                newest = await self._database.read(journal.last_row)
            except Exception as error:  # noqa: BLE001  (a look that failed must not be the last one)
                self.trouble = error if isinstance(error, FactsError) else FactsError(repr(error))
                continue
            for run_id in wanted:
                self._stop(run_id)
            if newest != last:
                last = newest
                self._hub.ring()
