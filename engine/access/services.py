"""Services for call handlers: reads, writes, clock and ids. Resources belong to the order of the run."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection

from engine.clock import Clock, Ids
from engine.run.live import LiveRun
from engine.store.async_reader import Query
from engine.store.database import Database
from engine.store.runs import RunRow
from engine.store.state import ChangeOrigin
from engine.store.writer import Transaction, Writer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Services:
    """Passed to every call handler."""

    database: Database
    writer: Writer
    clock: Clock
    ids: Ids
    remove_claim: Callable[[str, str], None]
    """Called with a run id and an item id once the message was delivered."""
    stop_run: Callable[[LiveRun, str], Awaitable[RunRow]]
    """Called with a run that wants to be stopped, and its reason. The run is stopped in the loop's next iteration."""

    async def read(self, run: LiveRun, query: Callable[[Connection], T]) -> T:
        """Read from the store. The run sees its own earlier writes, and waits for them only if some are pending."""
        await self._flush_writes_of(run)
        return await self.database.read(query)

    async def fetch(self, run: LiveRun, query: Query[T]) -> T:
        """Run one statement that is compiled already. The run sees its own earlier writes."""
        await self._flush_writes_of(run)
        return await self.database.fetch(query)

    async def _flush_writes_of(self, run: LiveRun) -> None:
        if run.has_pending_writes:
            await self.writer.flush()

    def change_origin(self, run: LiveRun) -> ChangeOrigin:
        """Return the origin of a change that a call makes: the entry of the call, which is the newest one."""
        return ChangeOrigin(
            editor="runner", at=self.clock.now(), run_id=run.order.run_id, position=run.recorder.position
        )

    def write(self, operation: Callable[[Transaction], T]) -> Awaitable[T]:
        """Write to the store. The result is available after the commit."""
        return self.writer.submit(operation)
