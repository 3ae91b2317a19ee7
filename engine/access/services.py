"""Services for call handlers: reads, writes, clock and ids. Resources belong to the order of the run."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import Connection

from engine.clock import Clock, Ids
from engine.events import Source
from engine.run.live import LiveRun
from engine.store import artifacts
from engine.store.artifacts import ArtifactRow, Storage
from engine.store.async_reader import Query
from engine.store.database import Database
from engine.store.runs import RunRow
from engine.store.writer import Transaction, Writer

T = TypeVar("T")
MAX_ENTRY_PART_BYTES: Final = 32 * 1024
"""The most bytes of a request or reply that an entry contains; more is stored as an artifact."""


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

    def write(self, operation: Callable[[Transaction], T]) -> Awaitable[T]:
        """Write to the store. The result is available after the commit."""
        return self.writer.submit(operation)

    def entry_part(
        self, run: LiveRun, kind: str, name: str, value: object, text: bytes | None = None
    ) -> dict[str, Any]:
        """Return a request or reply as fields of an entry: its value, or a reference to an artifact if it is large.

        `text` is the value as JSON, if it is known.
        """
        blob = orjson.dumps(value) if text is None else text
        if len(blob) <= MAX_ENTRY_PART_BYTES:
            return {name: value}
        return {f"{name}_ref": self._store_artifact(run, kind, blob), f"{name}_size": len(blob)}

    def _store_artifact(self, run: LiveRun, kind: str, blob: bytes) -> str:
        """Store a part of an entry as an artifact of the run. Returns its id at once, before the write.

        Secrets are masked in the writer's thread: that may take a second if there are many.
        """
        artifact_id, grants = self.ids.new("art"), run.order.grants
        row = ArtifactRow(
            artifact_id=artifact_id,
            artifact_type=kind,
            storage=Storage.BLOB,
            mime_type="application/json",
            source=Source.HOST,
            conversation_id=grants.conversation_id,
            thread_id=grants.thread_id,
            bot_id=grants.bot_id,
            workspace_id=grants.workspace_id,
            run_id=run.order.run_id,
            runner_id=run.order.binding.runner_id,
            created_at=self.clock.now(),
        )
        run.recorder.count(len(blob))
        run.submit_operation(lambda tx: _register(tx, row, run.recorder.cover(blob.decode()).encode()), len(blob))
        return artifact_id


def _register(tx: Transaction, row: ArtifactRow, content: bytes) -> None:
    artifacts.register(tx.connection, row, content)
