"""What the answers work with: the facts and the writer. Resources lie with the order of the run that asks."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import Connection

from engine.clock import Clock, Ids, rfc3339
from engine.facts import artifacts
from engine.facts.artifacts import ArtifactRow, Storage
from engine.facts.database import Database
from engine.facts.writer import Transaction, Writer
from engine.run.live import LiveRun

T = TypeVar("T")
INLINE: Final = 32 * 1024
"""Bytes of a request or reply that the journal keeps in the entry; more is an artifact that the entry refers to."""


@dataclass(frozen=True, slots=True)
class Room:
    """Given to every answer."""

    database: Database
    writer: Writer
    clock: Clock
    ids: Ids

    async def read(self, run: LiveRun, query: Callable[[Connection], T]) -> T:
        """Read facts. The run sees its own earlier writes, and waits for them only where there are any."""
        if not run.is_settled:
            await self.writer.flush()
        return await self.database.read(query)

    def write(self, operation: Callable[[Transaction], T]) -> Awaitable[T]:
        """Write facts; done means committed."""
        return self.writer.submit(operation)

    def part(self, run: LiveRun, kind: str, name: str, value: object) -> dict[str, Any]:
        """A request or reply as a part of an entry; a large one becomes an artifact that the entry refers to."""
        blob = orjson.dumps(value)
        if len(blob) <= INLINE:
            return {name: value}
        return {f"{name}_ref": self.keep(run, kind, blob), f"{name}_size": len(blob)}

    def keep(self, run: LiveRun, kind: str, blob: bytes) -> str:
        """Store something too large for an entry as an artifact of the run; gives its id at once."""
        artifact_id, grants = self.ids.new("art"), run.order.grants
        content = run.recorder.cover(blob.decode()).encode()
        row = ArtifactRow(
            artifact_id=artifact_id,
            artifact_type=kind,
            storage=Storage.BLOB,
            mime_type="application/json",
            sha256=hashlib.sha256(content).hexdigest(),
            source="host",
            conversation_id=grants.conversation_id,
            thread_id=grants.thread_id,
            bot_id=grants.bot_id,
            workspace_id=grants.workspace_id,
            run_id=run.order.run_id,
            runner_id=run.order.binding.runner_id,
            created_at=self.clock.now(),
        )
        run.recorder.count(len(content))
        run.decide(lambda tx: _register(tx, row, content))
        return artifact_id


def is_internal(row: ArtifactRow) -> bool:
    """Whether an artifact is the large part of a journal entry, which no runner may read."""
    return row.source == "host" and row.artifact_type.startswith("call.")


def _register(tx: Transaction, row: ArtifactRow, content: bytes) -> None:
    artifacts.register(tx.connection, row, content)


def stamp(microseconds: int | None) -> str | None:
    """A time as replies carry it."""
    return None if microseconds is None else rfc3339(microseconds)
