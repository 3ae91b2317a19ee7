"""The facade: all that a console or a script needs of the engine."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from platformdirs import user_data_path
from sqlalchemy import Connection

from engine.clock import Clock, Ids, SystemClock, TimeIds
from engine.config import ConfigError, Project, find_project, json_schema
from engine.events import Entry, Hub, Subscription
from engine.examine import Examined, HostSeen, examine
from engine.facts import artifacts, journal, retention, runs, sessions, state, transcript
from engine.facts.artifacts import READ as ARTIFACT_READ
from engine.facts.artifacts import ArtifactRow
from engine.facts.batch import Transaction
from engine.facts.database import Database
from engine.facts.errors import AlreadyFinal, FactsError, NotFound
from engine.facts.retention import Deleted
from engine.facts.rows import Place
from engine.facts.runs import RunRow, Status
from engine.facts.sessions import Session, Summary
from engine.facts.state import Kept, Written
from engine.facts.transcript import Line
from engine.facts.writer import Writer
from engine.host import Host
from engine.intake.agents import AgentConfig
from engine.intake.envelope import CONSOLE_DELIVERY, LOCAL_ACTOR, SESSION_ID, EventEnvelope, message, read_event
from engine.intake.errors import IntakeError
from engine.protocol.content import text_of
from engine.resources.catalog import Catalog
from engine.resources.shelf import Shelf
from engine.resources.stock import shelf_of
from engine.run.deltas import DeltaText
from engine.run.dispatch import Ticket
from engine.run.order import RunOrder
from engine.run.prepare import Choice, prepare
from engine.runners.descriptor import Problem, RunnerDescriptor
from engine.runners.errors import RunnersError
from engine.runners.forms import ConfigForm
from engine.runners.registry import Registry
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import Runtime
from engine.version import VERSION

__all__ = [
    "CONSOLE_DELIVERY",
    "LOCAL_ACTOR",
    "SESSION_ID",
    "VERSION",
    "AgentConfig",
    "AlreadyFinal",
    "ArtifactRow",
    "Choice",
    "ConfigError",
    "ConfigForm",
    "Deleted",
    "DeltaText",
    "Engine",
    "Entry",
    "EventEnvelope",
    "Examined",
    "FactsError",
    "HostSeen",
    "IntakeError",
    "Kept",
    "Line",
    "NotFound",
    "Problem",
    "Project",
    "Registry",
    "RunOrder",
    "RunRow",
    "RunnerDescriptor",
    "RunnersError",
    "Session",
    "Status",
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


class Engine:
    """One open database, to host runs or to read. Open it with `Engine.open`."""

    def __init__(
        self,
        project: Project,
        target: Path | None,
        database: Database,
        clock: Clock,
        ids: Ids,
        catalog: Catalog,
    ) -> None:
        self.project = project
        self.registry = project.registry(target, Path.cwd())
        self.ids = ids
        self.recovered: Sequence[str] = ()
        """Runs that a dead host had left open and that were closed on opening."""
        self._database = database
        self._clock = clock
        self._hub = Hub(lambda row, limit: database.read(lambda conn: journal.since(conn, row, limit)))
        self._catalog = catalog
        self._host: Host | None = None
        self._editing: tuple[Database, Writer] | None = None
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
        engine = cls(project, target, database, clock, ids or TimeIds(clock), catalog or shelf.catalog())
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
    def database_path(self) -> Path:
        return self._database.path

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

    # Events and runs

    def prepare(self, envelope: EventEnvelope, choice: Choice | None = None) -> RunOrder:
        """Check an event and a choice without recording anything."""
        return prepare(self.project, self.registry, self._catalog, envelope, choice or Choice(), self.ids)

    async def submit(self, event: EventEnvelope | RunOrder, choice: Choice | None = None) -> Ticket:
        """Take in one event; its run starts when its slot is free. A repeated event id gives its first run."""
        order = event if isinstance(event, RunOrder) else self.prepare(event, choice)
        return await self._hosting().submit(order)

    async def finished(self, run_id: str) -> RunRow:
        """The run, once it has ended here."""
        task = self._hosting().dispatch.run_task(run_id)
        if task is not None:
            await asyncio.shield(task)
        return await self.run(run_id)

    async def idle(self) -> None:
        """Return when nothing runs and nothing waits."""
        await self._hosting().dispatch.idle()

    async def cancel(self, run_id: str) -> None:
        """Ask for a run's end, whichever process hosts it."""
        if self._host is not None:
            await self._host.cancel(run_id)
        else:
            await self._edit(lambda tx: runs.request_cancel(tx.connection, run_id, at=self._clock.now()))

    async def run(self, name: str) -> RunRow:
        """A run by id, by a unique beginning of it, or `last`."""
        return await self._read(lambda conn: runs.find(conn, name))

    async def runs(
        self,
        *,
        before: str | None = None,
        limit: int = 100,
        status: str | None = None,
        conversation_id: str | None = None,
        runner_id: str | None = None,
    ) -> list[RunRow]:
        """Runs, newest first, before a run id."""
        return await self._read(
            lambda conn: runs.page(
                conn, before=before, limit=limit, status=status, conversation_id=conversation_id, runner_id=runner_id
            )
        )

    # The journal

    async def journal(
        self, run_id: str, *, after: int | None = None, before: int | None = None, limit: int = 100
    ) -> list[Entry]:
        """A page of a run's journal: rising after a position, or falling before one."""
        return await self._read(lambda conn: journal.page(conn, run_id, after=after, before=before, limit=limit))

    async def entries(self, run_id: str, *, after: int = 0) -> AsyncIterator[Entry]:
        """A run's whole journal, page by page."""
        while page := await self.journal(run_id, after=after, limit=1_000):
            for entry in page:
                yield entry
            after = page[-1].position

    async def last_row(self) -> int:
        """The newest global row: subscribe since here to hear only what is new."""
        return await self._read(journal.last_row)

    def subscribe(self, since: int = 0, *, run_id: str | None = None) -> Subscription:
        """Entries after a global row, of all runs or of one, as they are committed."""
        if self._host is None and self._following is None:
            self._following = asyncio.ensure_future(self._follow())
        return self._hub.subscribe(since, run_id)

    # Facts

    async def transcript(
        self, conversation_id: str, *, before: int | None = None, after: int | None = None, limit: int = 100
    ) -> list[Line]:
        """Lines of a conversation's main thread: newest first, or rising after one."""
        place = await self._place(conversation_id)
        return await self._read(lambda conn: transcript.page(conn, place, before=before, after=after, limit=limit))

    async def state(self, *, conversation_id: str | None = None, runner_id: str | None = None) -> list[Kept]:
        """What is kept in all scopes, for a person to look through."""
        return await self._read(lambda conn: state.browse(conn, conversation_id=conversation_id, runner_id=runner_id))

    async def state_at(self, run_id: str, position: int) -> dict[str, dict[str, Written]]:
        """The run's scopes as they were at an entry, with who wrote each key."""
        return await self._read(lambda conn: _state_at(conn, run_id, position))

    async def artifacts(self, *, run_id: str | None = None, conversation_id: str | None = None) -> list[ArtifactRow]:
        """Artifacts that have not expired, newest first."""
        now = self._clock.now()
        return await self._read(
            lambda conn: artifacts.page(conn, run_id=run_id, conversation_id=conversation_id, now=now)
        )

    async def artifact_bytes(self, artifact_id: str, *, offset: int = 0, limit: int = ARTIFACT_READ) -> bytes:
        """A range of an artifact's content."""
        now = self._clock.now()
        return await self._read(lambda conn: artifacts.read_range(conn, artifact_id, offset, limit, now=now))

    # Sessions and upkeep

    async def sessions(
        self, *, user_id: str | None = None, before: str | None = None, limit: int = 100
    ) -> list[Session]:
        """Sessions, the last active first."""
        return await self._read(lambda conn: sessions.page(conn, user_id=user_id, before=before, limit=limit))

    async def session(self, session_id: str) -> Summary:
        return await self._read(lambda conn: sessions.summary(conn, session_id))

    async def rename_session(self, session_id: str, title: str | None) -> None:
        await self._edit(lambda tx: sessions.rename(tx.connection, session_id, title))

    async def set_session_metadata(self, session_id: str, metadata: Mapping[str, Any]) -> Session:
        return await self._edit(lambda tx: sessions.set_metadata(tx.connection, session_id, metadata))

    async def spawn_session(self, parent_id: str, *, title: str | None = None) -> Session:
        """A child of a session, with an empty transcript."""
        child_id, now = self.ids.new("ses"), self._clock.now()
        return await self._edit(lambda tx: sessions.spawn(tx.connection, parent_id, child_id, at=now, title=title))

    async def delete_session(self, session_id: str) -> Deleted:
        """Delete a session with its transcript, conversation state, artifacts and runs; its children live on."""
        event_id, now = self.ids.new("evt"), self._clock.now()
        return await self._edit(lambda tx: sessions.delete(tx.connection, session_id, at=now, event_id=event_id))

    async def prune(self, older_than: int) -> Deleted:
        """Delete what is older than a stamp, and artifacts that have expired."""
        event_id, now = self.ids.new("evt"), self._clock.now()
        return await self._edit(lambda tx: retention.prune(tx.connection, older_than, now, event_id=event_id))

    async def integrity(self) -> list[str]:
        """What SQLite finds wrong with the database; nothing when it is sound."""
        return await asyncio.to_thread(self._database.integrity)

    def now(self) -> int:
        """The engine's own time, in microseconds."""
        return self._clock.now()

    # Inside

    def _hosting(self) -> Host:
        if self._host is None:
            raise FactsError("this database was opened to read; open it to host runs")
        return self._host

    async def _read(self, query: Callable[[Connection], T]) -> T:
        return await self._database.read(query)

    async def _edit(self, operation: Callable[[Transaction], T]) -> T:
        """A person's change, through the host's writer or, in a reader, through one made for it."""
        if self._host is not None:
            return await self._host.writer.submit(operation)
        if self._editing is None:
            writable = await asyncio.to_thread(Database.open, self._database.path, write=True)
            editor = Writer(writable.writing_connection, writable.path, told=self._hub.tell, failed=lambda _: None)
            self._editing = writable, editor
        return await self._editing[1].submit(operation)

    async def _place(self, conversation_id: str) -> Place:
        """Where a person means when they only name the conversation: the bot and workspace of its last run."""
        found = await self.runs(conversation_id=conversation_id, limit=1)
        return Place(conversation_id, None, found[0].bot_id, found[0].workspace_id) if found else Place(conversation_id)

    async def _follow(self) -> None:
        last = -1
        while True:
            newest = await self._read(journal.last_row)
            if newest != last:
                last = newest
                self._hub.ring()
            await asyncio.sleep(LOOK)


def _state_at(conn: Connection, run_id: str, position: int) -> dict[str, dict[str, Written]]:
    run = runs.get(conn, run_id)
    row = journal.row_of(conn, run_id, position)
    if row is None:
        raise NotFound(f"run {run_id} has no entry at position {position}")
    scopes: Mapping[str, str] = (run.authorization or {}).get("state_scopes", {})
    found = state.at(conn, scopes.values(), row)
    return {scope: found[key] for scope, key in scopes.items()}
