"""The facade: all that a console or a script needs of the engine."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar

from platformdirs import user_data_path

from engine.clock import Clock, Ids, SystemClock, TimeIds
from engine.config import ConfigError, Project, find_project, json_schema
from engine.controlling import Controlling, Stopped
from engine.events import Entry, Subscription
from engine.examine import Examined, HostSeen, examine
from engine.facts import journal, retention, sessions
from engine.facts.artifacts import ArtifactRow
from engine.facts.database import Database
from engine.facts.errors import AlreadyFinal, CannotHold, Elsewhere, FactsError, NotFound
from engine.facts.journal import Mark
from engine.facts.queue import Fate, Mode, QueueItem
from engine.facts.retention import Deleted
from engine.facts.runs import RunRow, Status
from engine.facts.sessions import Session, Summary
from engine.facts.state import Kept, Written
from engine.facts.transcript import Line
from engine.host import Host
from engine.intake.agents import AgentConfig
from engine.intake.envelope import CONSOLE_DELIVERY, LOCAL_ACTOR, SESSION_ID, EventEnvelope, message, read_event
from engine.intake.errors import IntakeError
from engine.protocol.content import text_of
from engine.resources.catalog import Catalog
from engine.resources.shelf import Shelf
from engine.resources.stock import shelf_of
from engine.run.apis import Clause
from engine.run.deltas import DeltaText
from engine.run.grants import Grants
from engine.run.holds import Armed, Held, Stage
from engine.run.order import RunOrder
from engine.run.points import Point
from engine.run.prepare import Choice
from engine.run.ticket import Ticket
from engine.runners.descriptor import Problem, RunnerDescriptor
from engine.runners.errors import RunnersError
from engine.runners.forms import ConfigForm
from engine.runners.registry import Registry
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import Runtime
from engine.setting import Setting
from engine.steering.receipts import Receipt, Steering
from engine.version import VERSION

__all__ = [
    "CONSOLE_DELIVERY",
    "LOCAL_ACTOR",
    "SESSION_ID",
    "VERSION",
    "AgentConfig",
    "AlreadyFinal",
    "Armed",
    "ArtifactRow",
    "CannotHold",
    "Choice",
    "Clause",
    "ConfigError",
    "ConfigForm",
    "Deleted",
    "DeltaText",
    "Elsewhere",
    "Engine",
    "Entry",
    "EventEnvelope",
    "Examined",
    "FactsError",
    "Fate",
    "Grants",
    "Held",
    "HostSeen",
    "IntakeError",
    "Kept",
    "Line",
    "Mark",
    "Mode",
    "NotFound",
    "Point",
    "Problem",
    "Project",
    "QueueItem",
    "Receipt",
    "Registry",
    "RunOrder",
    "RunRow",
    "RunnerDescriptor",
    "RunnersError",
    "Session",
    "Setting",
    "Stage",
    "Status",
    "Steering",
    "Stopped",
    "Subscription",
    "Summary",
    "Ticket",
    "Written",
    "default_database",
    "examine",
    "find_project",
    "json_schema",
    "message",
    "read_event",
    "text_of",
    "usual_database",
]

T = TypeVar("T")
LOOK = 0.1
"""Seconds between looks of a reader that follows another process's runs."""


def default_database() -> Path:
    """Where facts are kept when nobody says otherwise."""
    return user_data_path("trackside", appauthor=False) / "trackside.db"


def usual_database(folder: Path) -> Path:
    """The database that a command uses in this folder when none is named."""
    return find_project(None, folder).database_path() or default_database()


class Engine(Controlling):
    """One open database, to host runs or to read. Open it with `Engine.open`."""

    def __init__(self, setting: Setting, database: Database, clock: Clock) -> None:
        super().__init__(setting, database, clock)
        self.project = setting.project
        self.registry = setting.registry
        self.ids = setting.ids
        self.recovered: Sequence[str] = ()
        """Runs that a dead host had left open and that were closed on opening."""
        self._following: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        target: Path | None = None,
        *,
        db: Path | None = None,
        mode: Literal["host", "read"] = "host",
        project: Project | None = None,
        runtime: Runtime | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        shelf: Shelf | None = None,
        catalog: Catalog | None = None,
    ) -> "Engine":
        """Open to host runs, or only to read: a reader recovers nothing and closes no one's runs."""
        project = project or find_project(target, Path.cwd())
        path = db or project.database_path() or default_database()
        clock = clock or SystemClock()
        synchronous = project.config.database.synchronous
        hosting = mode == "host"
        shelf = shelf or shelf_of(project)
        database = await asyncio.to_thread(Database.open, path, write=hosting, synchronous=synchronous)
        registry = project.registry(target, Path.cwd())
        setting = Setting(project, registry, catalog or shelf.catalog(), ids or TimeIds(clock))
        engine = cls(setting, database, clock)
        if hosting:
            try:
                engine._host = Host(
                    database,
                    runtime or ChildPool(),
                    engine._hub,
                    clock,
                    engine.ids,
                    shelf=shelf,
                    file_roots=project.file_roots(),
                )
                engine.recovered = await engine._host.start()
            except BaseException:
                await engine.close()
                raise
        return engine

    async def close(self) -> None:
        """Stop live runs and leave nothing behind."""
        self._hub.close()
        if self._following is not None:
            self._following.cancel()
        if self._host is not None:
            await self._host.close()
        if self._editing is not None:
            writable, editor = self._editing
            await editor.close()
            await asyncio.to_thread(writable.close)
        await asyncio.to_thread(self._database.close)

    async def __aenter__(self) -> "Engine":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def trouble(self) -> FactsError | None:
        """The last failure of the disk or the database."""
        return self._host.trouble if self._host else None

    # Runners

    def runners(self) -> tuple[RunnerDescriptor, ...]:
        """Every runner that can be used."""
        return self.registry.runners()

    def problems(self) -> tuple[Problem, ...]:
        """What discovery left out, and why."""
        return self.registry.problems()

    # News

    def subscribe(self, since: int = 0, *, run_id: str | None = None) -> Subscription:
        """Entries after a global row, of all runs or of one, as they are committed."""
        if self._host is None and self._following is None:
            self._following = asyncio.ensure_future(self._follow())
        return self._hub.subscribe(since, run_id)

    # Sessions and upkeep

    async def rename_session(self, session_id: str, title: str | None) -> None:
        await self._edit(lambda tx: sessions.rename(tx.connection, session_id, title))

    async def set_session_metadata(self, session_id: str, metadata: Mapping[str, Any]) -> Session:
        return await self._edit(lambda tx: sessions.set_metadata(tx.connection, session_id, metadata))

    async def spawn_session(self, parent_id: str, *, title: str | None = None) -> Session:
        """A child of a session, with an empty transcript."""
        child_id, now = self.ids.new("ses"), self._clock.now()
        return await self._edit(lambda tx: sessions.spawn(tx.connection, parent_id, child_id, at=now, title=title))

    async def fork_session(self, session_id: str, *, at: int | str | None = None, title: str | None = None) -> Session:
        """A child that starts with a session's transcript up to a line, by its `seq` or id, and its state of then.

        No line means all that is there now. What a live run has not brought to disk yet does not count.
        """
        child_id, now, numbers = self.ids.new("ses"), self._clock.now(), count(1)
        return await self._edit(
            lambda tx: sessions.fork(
                tx.connection,
                session_id,
                child_id,
                until=at,
                at=now,
                new_id=lambda: f"{child_id}:{next(numbers)}",
                title=title,
            )
        )

    async def delete_session(self, session_id: str) -> Deleted:
        """Delete a session with its transcript, conversation state, artifacts and runs; its children live on."""
        event_id, now = self.ids.new("evt"), self._clock.now()
        return await self._edit(lambda tx: sessions.delete(tx.connection, session_id, at=now, event_id=event_id))

    async def prune(self, older_than: int) -> Deleted:
        """Delete what is older than a stamp, and artifacts that have expired."""
        event_id, now = self.ids.new("evt"), self._clock.now()
        return await self._edit(lambda tx: retention.prune(tx.connection, older_than, now, event_id=event_id))

    # Inside

    async def _follow(self) -> None:
        last = -1
        while True:
            # A look that failed says nothing; those who listen must not be left waiting for ever for it.
            with suppress(FactsError):
                newest = await self._read(journal.last_row)
                if newest != last:
                    last = newest
                    self._hub.ring()
            await asyncio.sleep(LOOK)
