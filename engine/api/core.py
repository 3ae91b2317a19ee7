"""What the groups of the facade share: the open database, the workspace in force and the host."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sqlalchemy import Connection

from engine.clock import Clock, Ids
from engine.events import EXECUTED_ELSEWHERE, LIVE_STATUSES, Hub
from engine.host import Host
from engine.intake.envelope import EventEnvelope
from engine.journal.secret_mask import SecretMask, secrets_in
from engine.project.workspace import Workspace
from engine.queue.request_sender import RequestSender
from engine.run.live import LiveRun
from engine.run.prepare import RunOptions, prepare
from engine.run.run_order import RunOrder
from engine.store import entries, kept_settings, runs
from engine.store.async_reader import Query
from engine.store.batch import Transaction
from engine.store.cleanup import Cleanup
from engine.store.database import Database
from engine.store.errors import BreakpointError, OwnedByOtherHost, StoreError
from engine.store.runs import RunRow
from engine.store.writer import Writer

T = TypeVar("T")


class EngineCore:
    """One open database with its workspace, and its host if this process may run runners."""

    def __init__(self, workspace: Workspace, database: Database, clock: Clock) -> None:
        self.workspace = workspace
        """The project, runners and resources that new runs are made from; a reload replaces it."""
        self.database = database
        self.clock = clock
        self.hub = Hub(lambda row, limit: database.fetch(entries.since_query(row, limit)))
        self.host: Host | None = None
        """None in an engine that was opened to read."""
        self._reader_requests = RequestSender(database, self.edit, clock)
        self._reader_edits: tuple[Database, Writer] | None = None
        self._reader_cleanup: Cleanup | None = None

    @property
    def ids(self) -> Ids:
        return self.workspace.ids

    def now(self) -> int:
        """The engine's time, in microseconds since 1970, UTC."""
        return self.clock.now()

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run a query in a thread, on a connection that cannot write."""
        return await self.database.read(query)

    async def fetch(self, query: Query[T]) -> T:
        """Run one statement that is compiled already."""
        return await self.database.fetch(query)

    async def find_run(self, name: str) -> RunRow:
        """The run that the user means: a whole id, the start of just one, or `last`."""
        found = await self.fetch(runs.exact_query(name))
        return found[0] if found else await self.read(lambda conn: runs.find(conn, name))

    async def edit(self, operation: Callable[[Transaction], T]) -> T:
        """Make a user's change through the host's writer; a reader opens a writer of its own for its first change."""
        if self.host is not None:
            return await self.host.writer.submit(operation)
        if self._reader_edits is None:
            writable = await asyncio.to_thread(Database.open, self.database.path, write=True)
            writer = Writer(
                writable.writing_connection, writable.path, on_committed=self.hub.publish, on_failure=lambda _: None
            )
            self._reader_edits = writable, writer
        return await self._reader_edits[1].submit(operation)

    @property
    def requests(self) -> RequestSender:
        """Sends requests to the hosts of other processes."""
        return self._reader_requests if self.host is None else self.host.sender

    def prepare_message(self, envelope: EventEnvelope, live: LiveRun) -> RunOrder:
        """Prepare a message of another process for the agent of a run in progress."""
        order = live.order
        kept = {runs.KEPT: order.uses_kept_settings}
        return prepare(
            self.workspace, envelope, self.same_runner(order.binding.agent_id, order.binding.runner_id, kept)
        )

    @property
    def cleanup(self) -> Cleanup:
        """The clean-up after deletions. In a reader it works only when it is told to."""
        if self.host is not None:
            return self.host.cleanup
        if self._reader_cleanup is None:
            self._reader_cleanup = Cleanup(self.edit, self.database, self.clock, self.ids)
        return self._reader_cleanup

    def require_host(self) -> Host:
        """The host of this process; raises StoreError if the database was opened to read."""
        if self.host is None:
            raise StoreError("this database was opened to read; open it to host runs")
        return self.host

    def live_run(self, run_id: str) -> LiveRun | None:
        """A run in progress in this process, by its full id."""
        return self.host.orchestrator.live.get(run_id) if self.host is not None else None

    async def find_live_run(self, name: str) -> LiveRun | None:
        """A run in progress in this process, once it has started; None if it has ended.

        Raises OwnedByOtherHost if another process hosts it.
        """
        run, host = await self.find_run(name), self.require_host()
        live = host.orchestrator.live.get(run.run_id)
        if live is not None:
            await live.started.wait()
        elif run.status in LIVE_STATUSES and run.host != host.host_id:
            raise OwnedByOtherHost(f"run {run.run_id} is in progress in another process; pause and continue it there.")
        return live

    async def require_live_run(self, name: str) -> LiveRun:
        """The same; raises BreakpointError if the run has ended or is executed elsewhere."""
        live = await self.find_live_run(name)
        if live is None or live.has_ended:
            run = await self.find_run(name)
            raise BreakpointError(f"run {run.run_id} has ended; only a run in progress can be paused.")
        if live.order.is_external:
            raise BreakpointError(f"{EXECUTED_ELSEWHERE}, so it cannot be paused.")
        return live

    def same_runner(self, agent: str | None, runner_id: str | None, metadata: Mapping[str, Any]) -> RunOptions:
        """Options for the agent that an earlier event went to; for its runner if no agent has that name now."""
        known = {entry.id for entry in self.workspace.project.config.agents}
        return RunOptions(runner=agent if agent in known else runner_id, kept=bool(metadata.get(runs.KEPT)))

    async def secret_mask(self) -> SecretMask:
        """A mask of the secrets that this process knows, for texts that the user writes outside of a run.

        These are the secrets of the project's agents, of the saved settings and of the runs prepared here.
        """
        project = self.workspace.project
        names = {*project.config.env, *(name for agent in project.config.agents for name in agent.env)}
        named: list[tuple[str, Any]] = [(name, os.environ[name]) for name in sorted(names) if name in os.environ]
        for agent in project.config.agents:
            named += agent.config.items()
        for saved in (self.workspace.kept or await self.read(kept_settings.every)).values():
            named += saved.get("config", {}).items()
        return SecretMask({**self.workspace.secrets, **secrets_in(named)})

    async def close(self) -> None:
        """Stop the runs in progress and close the database."""
        if self.host is not None:
            await self.host.close()
        if self._reader_cleanup is not None:
            await self._reader_cleanup.close()
        if self._reader_edits is not None:
            await self._reader_edits[1].close()
        await asyncio.to_thread(self.database.close)
        if self._reader_edits is not None:
            # Last: it folds in the WAL, which a reader of this process would prevent.
            await asyncio.to_thread(self._reader_edits[0].close)
