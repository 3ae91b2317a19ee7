"""Looks a database over without changing it: version, soundness, size, and who hosts on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, select

from engine.facts import hosts, runs, tables
from engine.facts.database import Database
from engine.facts.errors import FactsError

_BESIDE: Final = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class HostSeen:
    """A process that hosts runs on the database, or that did and is gone."""

    host_id: str
    pid: int
    version: str
    is_alive: bool
    live_runs: int


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found."""

    path: Path
    exists: bool
    size_bytes: int = 0
    """With its log."""
    schema: str | None = None
    faults: tuple[str, ...] = ()
    """Why it cannot be used; each says what to do."""
    hosts: tuple[HostSeen, ...] = ()


def examine(path: Path) -> Examined:
    """Look a database over. Blocks as long as its size takes; whatever is wrong is in the answer."""
    path = path.expanduser().absolute()
    if not path.exists():
        return Examined(path, exists=False)
    size = sum(file.stat().st_size for suffix in _BESIDE if (file := path.with_name(path.name + suffix)).exists())
    try:
        database = Database.open(path, write=False)
    except FactsError as error:
        return Examined(path, exists=True, size_bytes=size, faults=(str(error),))
    try:
        faults = database.integrity()
        seen = database.read_now(hosts_seen) if not faults else []
    except FactsError as error:
        faults, seen = [str(error)], []
    finally:
        database.close()
    return Examined(
        path,
        exists=True,
        size_bytes=size,
        schema=tables.SCHEMA_VERSION,
        faults=tuple(faults),
        hosts=tuple(seen),
    )


def hosts_seen(conn: Connection) -> list[HostSeen]:
    """Who is named as a host, and whether its lock is held."""
    dead = set(hosts.dead_hosts(conn))
    table = tables.hosts
    live = (
        select(func.count())
        .select_from(tables.runs)
        .where(tables.runs.c.host == table.c.host_id, tables.runs.c.status.in_(runs.LIVE))
        .scalar_subquery()
    )
    found = conn.execute(select(table.c.host_id, table.c.pid, table.c.version, live).order_by(table.c.started_at))
    return [
        HostSeen(host_id, pid, version, is_alive=host_id not in dead, live_runs=count)
        for host_id, pid, version, count in found
    ]
