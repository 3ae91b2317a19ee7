"""Hosting processes: each holds an OS lock on its own file beside the database, as long as it lives."""

import fcntl
import os
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from engine.facts.errors import translate
from engine.facts.tables import hosts

_SUFFIX: Final = ".lock"


class HostLock:
    """The sign that this host lives. The system drops it with the process, however that ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, database: Path, host_id: str) -> "HostLock":
        """Lock this host's own file. Take it before `register`: a row without a lock is a dead host."""
        path = lock_path(database, host_id)
        try:
            # Python's descriptors do not pass to children, so a runner that outlives us holds no lock of ours.
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise translate(error, path) from error
        return cls(path, descriptor)

    def release(self) -> None:
        """Give it up and take the file away; after `unregister`."""
        if self._descriptor is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def lock_path(database: Path, host_id: str) -> Path:
    """Beside the database itself, also where it was opened through a link."""
    database = database.resolve()
    return database.with_name(f"{database.name}.host-{host_id}{_SUFFIX}")


def register(conn: Connection, host_id: str, lock: HostLock, *, started_at: int, version: str) -> None:
    """Name this process as a host. Only the lock file's name is kept, so a copied database finds no lock."""
    row = {
        "host_id": host_id,
        "pid": os.getpid(),
        "lock_file": lock.path.name,
        "started_at": started_at,
        "version": version,
    }
    conn.execute(insert(hosts).values(row))


def touch(conn: Connection, host_id: str) -> None:
    """Write this host's row as it is."""
    conn.execute(update(hosts).where(hosts.c.host_id == host_id).values(host_id=host_id))


def unregister(conn: Connection, host_id: str) -> None:
    conn.execute(delete(hosts).where(hosts.c.host_id == host_id))


def dead_hosts(conn: Connection) -> list[str]:
    """Hosts whose lock is free. Asked inside the writer's transaction, so that one process recovers their runs."""
    folder = _folder(conn)
    query = select(hosts.c.host_id, hosts.c.lock_file).order_by(hosts.c.started_at)
    return [host_id for host_id, name in conn.execute(query) if _is_free(folder / name)]


def bury(conn: Connection, host_id: str) -> None:
    """Forget a dead host, with its lock file, once its runs are closed."""
    name = conn.execute(select(hosts.c.lock_file).where(hosts.c.host_id == host_id)).scalar()
    if name is not None:
        (_folder(conn) / name).unlink(missing_ok=True)
    unregister(conn, host_id)


def _folder(conn: Connection) -> Path:
    rows = conn.exec_driver_sql("PRAGMA database_list")
    return Path(next(row[2] for row in rows if row[1] == "main")).resolve().parent


def _is_free(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        # Another user's host: whether it lives cannot be told, so its runs are left alone.
        return False
    try:
        # Shared, so that two processes that ask at the same time do not take each other for the host.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
