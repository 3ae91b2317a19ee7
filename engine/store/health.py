"""Examines a database without changing it: version, integrity, size and hosts."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, select

from engine.clock import SystemClock
from engine.events import LIVE_STATUSES
from engine.store import hosts, index_cleanup, runs, sizes, tables
from engine.store.database import Database
from engine.store.errors import StoreError
from engine.store.index_cleanup import IndexCleanup
from engine.store.private_files import files_beside, open_to_others
from engine.store.runs import RunRow
from engine.store.sizes import DiskUsage, SessionSize, StoredSize

IDLE_US: Final = 3_600_000_000
"""A run in progress without activity for so long is reported, in microseconds."""
LARGEST_SESSIONS: Final = 5


@dataclass(frozen=True, slots=True)
class HostStatus:
    """A process that is registered as a host of the database, alive or dead."""

    host_id: str
    pid: int
    version: str
    is_alive: bool
    live_runs: int
    last_activity_at: int | None = None
    """When one of its live runs was last active, in microseconds; None if it has none."""


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """The result of `examine`."""

    path: Path
    exists: bool
    disk: DiskUsage = field(default_factory=lambda: DiskUsage(0))
    stored: StoredSize = field(default_factory=StoredSize)
    """What the data in the database takes; what sessions share counts once."""
    largest: tuple[SessionSize, ...] = ()
    """The largest sessions, the largest first."""
    schema: str | None = None
    faults: tuple[str, ...] = ()
    """Reasons why the database cannot be used; each says what to do."""
    hosts: tuple[HostStatus, ...] = ()
    idle_runs: tuple[RunRow, ...] = ()
    """Runs in progress without a result or call for an hour, newest first; at most 100."""
    examined_at: int = 0
    """In microseconds since 1970."""
    cleanups: tuple[IndexCleanup, ...] = ()
    """Search indexes that may still contain deleted words."""
    wide_files: tuple[Path, ...] = ()
    """Files of the database that other users may read or write."""
    wide_folder: Path | None = None
    """The folder of Trackside's own data, if other users may enter it."""


def examine(path: Path, *, data_folder: Path | None = None) -> DatabaseHealth:
    """Examine a database. Problems are part of the result. Blocks for a time that grows with the size of the file.

    `data_folder` is the folder that holds only data of Trackside; the permissions of other folders are not examined.
    """
    path = path.expanduser().absolute()
    if not path.exists():
        return DatabaseHealth(path, exists=False)
    folders = [path.parent] if path.parent == data_folder else []
    health = _examine_content(path)
    # After the database was opened: SQLite creates files beside it, with the mode of the database.
    wide_files, wide_folders = open_to_others(files_beside(path)), open_to_others(folders)
    return replace(health, wide_files=tuple(wide_files), wide_folder=wide_folders[0] if wide_folders else None)


def _examine_content(path: Path) -> DatabaseHealth:
    now = SystemClock().now()
    disk = DiskUsage(sizes.file_bytes(path))
    try:
        database = Database.open(path, write=False)
    except StoreError as error:
        return DatabaseHealth(path, exists=True, disk=disk, faults=(str(error),))
    health = DatabaseHealth(path, exists=True, disk=disk, schema=tables.SCHEMA_VERSION, examined_at=now)
    try:
        faults = database.integrity()
        return replace(health, faults=tuple(faults)) if faults else database.read_now(partial(_read_content, health))
    except StoreError as error:
        return replace(health, faults=(str(error),))
    finally:
        database.close()


def _read_content(health: DatabaseHealth, conn: Connection) -> DatabaseHealth:
    return replace(
        health,
        disk=sizes.disk_usage(conn, health.path),
        stored=sizes.of_database(conn),
        largest=tuple(sizes.largest(conn, LARGEST_SESSIONS)),
        hosts=tuple(hosts_seen(conn)),
        idle_runs=tuple(runs.page(conn, idle_since=health.examined_at - IDLE_US)),
        cleanups=tuple(index_cleanup.pending(conn)),
    )


def hosts_seen(conn: Connection) -> list[HostStatus]:
    """Return the registered hosts, each with whether its lock is held."""
    dead = set(hosts.dead_hosts(conn))
    table = tables.hosts
    is_live = (tables.runs.c.host == table.c.host_id, tables.runs.c.status.in_(LIVE_STATUSES))
    live = select(func.count()).select_from(tables.runs).where(*is_live).scalar_subquery()
    active = select(func.max(runs.ACTIVE_AT)).where(*is_live).scalar_subquery()
    query = select(table.c.host_id, table.c.pid, table.c.version, live, active).order_by(table.c.started_at)
    return [
        HostStatus(host_id, pid, version, is_alive=host_id not in dead, live_runs=count, last_activity_at=at)
        for host_id, pid, version, count, at in conn.execute(query)
    ]
