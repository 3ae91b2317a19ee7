"""The facade's entry point: opens a database, to host runs or to read, and holds the groups of actions."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from platformdirs import user_data_path

from engine.api.artifacts import ArtifactsApi
from engine.api.breakpoints import BreakpointsApi
from engine.api.core import EngineCore
from engine.api.queue import QueueApi
from engine.api.resources import ResourcesApi
from engine.api.runners import RunnersApi
from engine.api.runs import RunsApi
from engine.api.search import SearchApi
from engine.api.sessions import SessionsApi
from engine.api.settings import SettingsApi
from engine.api.state import StateApi
from engine.api.storage import StorageApi
from engine.clock import Clock, Ids, SystemClock, TimeIds
from engine.events import Subscription
from engine.host import Host
from engine.project.config import Project, find_project
from engine.project.kept_settings import AllKept
from engine.project.workspace import Workspace, WorkspaceOptions
from engine.resources.catalog import Catalog
from engine.resources.resource_set import ResourceSet
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import Runtime
from engine.store import entries, index_cleanup, kept_settings, pruning, sizes
from engine.store.database import Database, OnProgress, StateStore
from engine.store.errors import DatabaseMissing, StoreError, UpgradeInterrupted
from engine.store.health import HostStatus, hosts_seen
from engine.store.private_files import sqlite_files, tighten
from engine.store.pruning import PrunedData
from engine.store.sizes import DiskUsage

FOLLOW_SECONDS: Final = 0.1
"""How often a reader with subscribers looks for entries of other processes."""


def default_database() -> Path:
    """The database of a project that names none."""
    return user_data_path("trackside", appauthor=False) / "trackside.db"


def project_database(folder: Path) -> Path:
    """The database that a command uses in this folder if none is named."""
    return find_project(None, folder).database_path() or default_database()


def saved_settings_in(path: Path) -> AllKept:
    """The settings that are saved in a database; none if the database does not exist."""
    try:
        database = Database.open(path, write=False)
    except DatabaseMissing:
        return {}
    try:
        return database.read_now(kept_settings.every)
    finally:
        database.close()


class _Upgrade:
    """Reports the progress of an upgrade, and ends its thread if nobody waits for it any more."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._is_over = False

    def report(self, done: int, total: int) -> None:
        if self._is_over:
            raise UpgradeInterrupted("the upgrade was interrupted and changed nothing; the next start begins again.")
        if self._on_progress is not None:
            self._on_progress(done, total)

    def __enter__(self) -> "_Upgrade":
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True


class Engine:
    """One open database, to host runs or to read. Open it with `Engine.open`."""

    def __init__(self, workspace: Workspace, database: Database, clock: Clock) -> None:
        core = EngineCore(workspace, database, clock)
        self._core = core
        self._follower: asyncio.Task[None] | None = None
        self.recovered_runs: Sequence[str] = ()
        """The ids of the runs that dead hosts had left open, and that were closed on opening."""
        self.remarks: Sequence[str] = tuple(database.remarks)
        """Sentences for the user about the opening: the database was upgraded, or what a killed upgrade had left."""
        self.runs = RunsApi(core)
        self.breakpoints = BreakpointsApi(core)
        self.queue = QueueApi(core)
        self.sessions = SessionsApi(core)
        self.state = StateApi(core)
        self.storage = StorageApi(core)
        self.artifacts = ArtifactsApi(core)
        self.search = SearchApi(core)
        self.runners = RunnersApi(core)
        self.resources = ResourcesApi(core)
        self.settings = SettingsApi(core, self.resources)

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
        resources: ResourceSet | None = None,
        catalog: Catalog | None = None,
        state: StateStore = "database",
        on_progress: OnProgress | None = None,
    ) -> "Engine":
        """Open to host runs, or only to read: a reader closes no runs of dead hosts.

        With state "memory", for tests, the runs begin with an empty state, which is gone when the engine is closed.
        Such an engine must be the only host of its database.
        An upgrade calls `on_progress` in another thread. If this is cancelled, the next open begins the upgrade again.
        """
        clock = clock or SystemClock()
        options = WorkspaceOptions(target, project, resources, catalog)
        workspace = await asyncio.to_thread(Workspace.find, options=options, ids=ids or TimeIds(clock))
        project = workspace.project
        path = db or project.database_path() or default_database()
        synchronous = project.config.database.synchronous
        hosting = mode == "host"
        if state == "memory" and not hosting:
            raise ValueError("state in memory needs an engine that hosts runs: leave out mode='read'")
        if hosting:
            await asyncio.to_thread(workspace.registry.look)
        # Last, so that no error before this leaves the database open.
        with _Upgrade(on_progress) as upgrade:
            database = await asyncio.to_thread(
                Database.open, path, write=hosting, synchronous=synchronous, on_progress=upgrade.report, state=state
            )
        if hosting and path.parent == default_database().parent:
            tighten([path.parent])
        engine = cls(workspace, database, clock)
        if hosting:
            core = engine._core
            try:
                core.host = Host(
                    database,
                    runtime or ChildPool(max_starts=project.config.limits.child_starts, private_paths=[path]),
                    core.hub,
                    clock,
                    core.ids,
                    core.prepare_message,
                    is_only=state == "memory",
                )
                engine.recovered_runs = await core.host.start()
                workspace.kept = await database.read(kept_settings.every)
            except BaseException:
                await engine.close()
                raise
        return engine

    async def close(self) -> None:
        """Stop the runs in progress, end all subscriptions and close the database."""
        self._core.hub.close()
        self.runners.close()
        if self._follower is not None:
            self._follower.cancel()
        await self._core.close()

    async def __aenter__(self) -> "Engine":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def project(self) -> Project:
        """The project in force; a reload replaces it."""
        return self._core.workspace.project

    @property
    def ids(self) -> Ids:
        """Makes the ids of runs, events and sessions."""
        return self._core.ids

    def now(self) -> int:
        """The engine's time, in microseconds since 1970, UTC."""
        return self._core.now()

    def monotonic(self) -> int:
        """Microseconds since some moment, for durations: a change of the machine's time does not affect them."""
        return self._core.clock.monotonic()

    # The database

    @property
    def database_path(self) -> Path:
        return self._core.database.path

    async def integrity(self) -> list[str]:
        """The problems that SQLite finds in the database; empty if it is sound."""
        return await asyncio.to_thread(self._core.database.integrity)

    async def disk_usage(self) -> DiskUsage:
        """The size of the database's files, and how much of it is free for new data."""
        return await self._core.read(lambda conn: sizes.disk_usage(conn, self.database_path))

    @property
    def last_error(self) -> StoreError | None:
        """The last failure of the disk or the database."""
        return self._core.host.last_error if self._core.host else None

    @property
    def write_error(self) -> StoreError | None:
        """The error that keeps this host from writing now; None again after the next successful write."""
        return self._core.host.writer.current_error if self._core.host else None

    async def check_writable(self) -> None:
        """Make a write that changes nothing; raises the error that keeps this host from writing."""
        await self._core.require_host().check_writable()

    async def flush(self) -> None:
        """Return when everything that this process has recorded so far is on disk; at once in a reader."""
        if self._core.host is not None:
            await self._core.host.writer.flush()

    async def list_prunable(self, older_than: int) -> PrunedData:
        """What `prune` would delete now, by session and kind. Changes nothing."""
        now = self.now()
        return await self._core.read(lambda conn: pruning.list_prunable(conn, older_than, now))

    async def prune(self, older_than: int) -> PrunedData:
        """Delete data from before a time, in microseconds, and artifacts that have expired."""
        event_id, now = self.ids.new("evt"), self.now()
        pruned = await self._core.edit(lambda tx: pruning.prune(tx.connection, older_than, now, event_id=event_id))
        self._core.cleanup.wake()
        return pruned

    async def file_bytes(self) -> int:
        """The size of the database's files on disk."""
        files = sqlite_files(self.database_path)
        return await asyncio.to_thread(lambda: sum(each.stat().st_size for each in files if each.exists()))

    async def finish_cleanup(self, max_seconds: float) -> bool:
        """Remove deleted words from the files, without pauses. Returns whether all of it is done.

        A host does this in the background, in small slices; any host continues what is left.
        """
        await self._core.cleanup.finish(max_seconds)
        return not await self._core.read(index_cleanup.pending)

    # Hosts

    @property
    def host_id(self) -> str | None:
        """The id of this process among the hosts; None in a reader."""
        return self._core.host.host_id if self._core.host else None

    async def hosts(self) -> list[HostStatus]:
        """The processes that host runs on this database, and hosts that died without closing it."""
        return await self._core.read(hosts_seen)

    async def recover(self) -> list[str]:
        """Close the runs of hosts that have died since opening. Returns the ids of the runs."""
        return await self._core.require_host().recover()

    # Subscriptions

    def subscribe(self, since: int = 0, *, run_id: str | None = None) -> Subscription:
        """Entries after a global row, of all runs or of one, as they are committed."""
        if self._core.host is None and self._follower is None:
            self._follower = asyncio.ensure_future(self._follow())
        return self._core.hub.subscribe(since, run_id)

    async def last_row(self) -> int:
        """The newest global row: subscribe since this row to get only new entries."""
        return await self._core.read(entries.last_row)

    async def data_version(self) -> int:
        """A number that changes with every write of any process: cheap to compare before reading again."""
        return await self._core.database.version()

    async def _follow(self) -> None:
        last = -1
        while True:
            # A failed read must not end the loop, or subscribers would wait forever.
            with suppress(StoreError):
                newest = await self.last_row()
                if newest != last:
                    last = newest
                    self._core.hub.notify()
            await asyncio.sleep(FOLLOW_SECONDS)
