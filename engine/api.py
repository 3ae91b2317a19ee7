"""The facade: all that a console or a script needs of the engine."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar

from platformdirs import user_data_path

from engine.amending import Amending
from engine.choosing import Choosing
from engine.clock import Clock, Ids, SystemClock, TimeIds
from engine.config import ConfigError, Project, UnfitAgent, find_project, json_schema
from engine.controlling import Stopped
from engine.events import Entry, Subscription
from engine.examine import Examined, HostSeen, examine, hosts_seen
from engine.facts import journal, retention, sessions, settings
from engine.facts.artifacts import ArtifactRow
from engine.facts.database import Database
from engine.facts.entry import Mark
from engine.facts.errors import (
    AlreadyDecided,
    AlreadyFinal,
    CannotHold,
    DatabaseMissing,
    Elsewhere,
    FactsError,
    NotFound,
    StateMoved,
    StateRefused,
)
from engine.facts.hits import Hit, Hits
from engine.facts.opened import Opened
from engine.facts.queue import Fate, Mode, QueueItem
from engine.facts.retention import Deleted
from engine.facts.runs import INPUT_GLIMPSE, RunRow, Status
from engine.facts.scopes import Scope, ScopeIdentity
from engine.facts.search import Reach, reach
from engine.facts.session_pages import SessionRow
from engine.facts.sessions import Session, Summary
from engine.facts.state import Kept, Written
from engine.facts.state_edits import Expected, StateEdit
from engine.facts.state_pages import StateChange, StateRow
from engine.facts.transcript import Line
from engine.form import Choices, Form
from engine.host import Host
from engine.intake.agents import AgentConfig
from engine.intake.attaching import AttachmentProblem, attachment_of
from engine.intake.composing import Draft, DraftProblem, draft_of, example_draft, usual_draft
from engine.intake.envelope import CONSOLE_DELIVERY, LOCAL_ACTOR, SESSION_ID, EventEnvelope, message, read_event
from engine.intake.errors import IntakeError
from engine.intake.settings import KeptSettings
from engine.protocol.content import Attachment, text_of
from engine.protocol.event import EventSource, EventType
from engine.protocol.manifest import NOTHING_CHOSEN, FieldType
from engine.reloading import Reloaded
from engine.resources.catalog import Catalog
from engine.resources.shelf import Shelf
from engine.run.apis import Clause
from engine.run.deltas import DeltaText
from engine.run.grants import Grants
from engine.run.holds import Armed, Held, Stage
from engine.run.marks import has_mark
from engine.run.order import RunOrder
from engine.run.past import PastEvent
from engine.run.points import Point
from engine.run.prepare import AllKept, Choice
from engine.run.ticket import Ticket
from engine.runners.descriptor import Origin, Problem, RunnerDescriptor
from engine.runners.errors import FormError, RunnersError, TargetNotFound
from engine.runners.facts import RunnerFact
from engine.runners.fields import Field, Option
from engine.runners.forms import ConfigForm, FieldProblem
from engine.runners.registry import Registry
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import Runtime
from engine.setting import Given, Setting
from engine.settings_text import LineProblem, to_yaml
from engine.steering.receipts import Receipt, Steering
from engine.version import VERSION
from engine.watching import CodeChange

__all__ = [
    "CONSOLE_DELIVERY",
    "INPUT_GLIMPSE",
    "LOCAL_ACTOR",
    "NOTHING_CHOSEN",
    "SESSION_ID",
    "VERSION",
    "AgentConfig",
    "AlreadyDecided",
    "AlreadyFinal",
    "Armed",
    "ArtifactRow",
    "Attachment",
    "AttachmentProblem",
    "CannotHold",
    "Choice",
    "Choices",
    "Clause",
    "CodeChange",
    "ConfigError",
    "ConfigForm",
    "Deleted",
    "DeltaText",
    "Draft",
    "DraftProblem",
    "Elsewhere",
    "Engine",
    "Entry",
    "EventEnvelope",
    "EventSource",
    "EventType",
    "Examined",
    "Expected",
    "FactsError",
    "Fate",
    "Field",
    "FieldProblem",
    "FieldType",
    "Form",
    "FormError",
    "Grants",
    "Held",
    "Hit",
    "Hits",
    "HostSeen",
    "IntakeError",
    "Kept",
    "KeptSettings",
    "Line",
    "LineProblem",
    "Mark",
    "Mode",
    "NotFound",
    "Opened",
    "Option",
    "Origin",
    "PastEvent",
    "Point",
    "Problem",
    "Project",
    "QueueItem",
    "Reach",
    "Receipt",
    "Registry",
    "Reloaded",
    "RunOrder",
    "RunRow",
    "RunnerDescriptor",
    "RunnerFact",
    "RunnersError",
    "Scope",
    "ScopeIdentity",
    "Session",
    "SessionRow",
    "Setting",
    "Stage",
    "StateChange",
    "StateEdit",
    "StateMoved",
    "StateRefused",
    "StateRow",
    "Status",
    "Steering",
    "Stopped",
    "Subscription",
    "Summary",
    "TargetNotFound",
    "Ticket",
    "UnfitAgent",
    "Written",
    "attachment_of",
    "default_database",
    "draft_of",
    "examine",
    "example_draft",
    "find_project",
    "has_mark",
    "json_schema",
    "kept_in",
    "message",
    "reach",
    "read_event",
    "text_of",
    "to_yaml",
    "usual_database",
    "usual_draft",
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


def kept_in(path: Path) -> AllKept:
    """The settings that are kept in a database; none where there is no database."""
    try:
        database = Database.open(path, write=False)
    except DatabaseMissing:
        return {}
    try:
        return database.read_now(settings.every)
    finally:
        database.close()


class Engine(Choosing, Amending):
    """One open database, to host runs or to read. Open it with `Engine.open`."""

    def __init__(self, setting: Setting, database: Database, clock: Clock) -> None:
        super().__init__(setting, database, clock)
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
        clock = clock or SystemClock()
        given = Given(target, project, shelf, catalog)
        setting = await asyncio.to_thread(Setting.find, given=given, ids=ids or TimeIds(clock))
        project = setting.project
        path = db or project.database_path() or default_database()
        synchronous = project.config.database.synchronous
        hosting = mode == "host"
        if hosting:
            await asyncio.to_thread(setting.registry.look)
        # Last, so that nothing which goes wrong before leaves it open.
        database = await asyncio.to_thread(Database.open, path, write=hosting, synchronous=synchronous)
        engine = cls(setting, database, clock)
        if hosting:
            try:
                engine._host = Host(database, runtime or ChildPool(), engine._hub, clock, engine.ids)
                engine.recovered = await engine._host.start()
                setting.kept = await database.read(settings.every)
            except BaseException:
                await engine.close()
                raise
        return engine

    async def close(self) -> None:
        """Stop live runs and leave nothing behind."""
        self._hub.close()
        self._watcher.close()
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

    @property
    def hindrance(self) -> FactsError | None:
        """What keeps this host from writing now; none as soon as something could be written."""
        return self._host.writer.hindrance if self._host else None

    async def try_to_write(self) -> None:
        """Find out whether what was in the way still is. Raises it."""
        await self._hosting().try_to_write()

    # Other processes

    @property
    def host_id(self) -> str | None:
        """The name of this process among the hosts; a reader has none."""
        return self._host.host_id if self._host else None

    async def hosts(self) -> list[HostSeen]:
        """Who hosts runs on this database, and who did and is gone without a word."""
        return await self._read(hosts_seen)

    async def recover(self) -> list[str]:
        """Close the runs of hosts that are gone, as opening does; gives their ids."""
        return await self._hosting().recover()

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
