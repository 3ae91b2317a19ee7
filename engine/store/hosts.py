"""Host processes. Each holds an OS lock on its own file beside the database while it is alive."""

import fcntl
import os
from glob import escape
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from engine.store import memory_state
from engine.store.errors import HostRefused, translate
from engine.store.private_files import FILE_MODE
from engine.store.tables import hosts

_SUFFIX: Final = ".lock"
_ONLY: Final = ".only"
_UPGRADE: Final = "upgrade-"


class HostLock:
    """The lock that shows that a host is alive. The system releases it when the process ends, even in a crash."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, database: Path, host_id: str, *, is_only: bool = False) -> "HostLock":
        """Lock the file of this host. Must come before `register`: a row without a lock counts as a dead host.

        The name of the file shows whether this host must be the only one.
        """
        path = lock_path(database, f"{host_id}{_ONLY}" if is_only else host_id)
        try:
            # Python's descriptors are not inherited by children, so a runner that outlives this process holds no lock.
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
            os.fchmod(descriptor, FILE_MODE)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise translate(error, path) from error
        return cls(path, descriptor)

    def release(self) -> None:
        """Release the lock and delete its file. Must come after `unregister`."""
        if self._descriptor is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def lock_path(database: Path, host_id: str) -> Path:
    """Return the path of a host's lock file, beside the real database file even if that was opened through a link."""
    database = database.resolve()
    return database.with_name(f"{database.name}.host-{host_id}{_SUFFIX}")


def take_upgrade_lock(database: Path) -> HostLock:
    """Show other processes that this one upgrades the database. SQLite's own lock keeps them from writing."""
    delete_dead_upgrade_locks(database)
    return HostLock.take(database, f"{_UPGRADE}{os.getpid()}")


def delete_dead_upgrade_locks(database: Path) -> None:
    """Delete the lock files of processes that were killed during an upgrade."""
    for path in _upgrade_locks(database):
        if _is_free(path):
            path.unlink(missing_ok=True)


def upgrading_process(database: Path) -> int | None:
    """Return the id of the process that is upgrading a database; None if there is none."""
    held = (path for path in _upgrade_locks(database) if not _is_free(path))
    return next((int(path.name.removesuffix(_SUFFIX).rpartition(_UPGRADE)[2]) for path in held), None)


def _upgrade_locks(database: Path) -> list[Path]:
    pattern = lock_path(database, _UPGRADE + "*")
    # The name of the database may contain characters that have a meaning in a pattern.
    start = escape(pattern.name.removesuffix(f"*{_SUFFIX}"))
    return sorted(pattern.parent.glob(f"{start}[0-9]*{_SUFFIX}"))


def register(conn: Connection, host_id: str, lock: HostLock, *, started_at: int, version: str) -> None:
    """Register this process as a host. Only the name of the lock file is stored, so a copied database finds no lock."""
    row = {
        "host_id": host_id,
        "pid": os.getpid(),
        "lock_file": lock.path.name,
        "started_at": started_at,
        "version": version,
    }
    conn.execute(insert(hosts).values(row))


def require_place(conn: Connection, host_id: str) -> None:
    """Raise HostRefused if this host or another one must be the only one, and there are both.

    Must run inside the writer's transaction, after dead hosts were deleted.
    """
    rows = conn.execute(select(hosts.c.host_id, hosts.c.pid, hosts.c.lock_file)).all()
    others = [(pid, name) for each, pid, name in rows if each != host_id]
    for pid, name in others:
        if name.endswith(_ONLY + _SUFFIX):
            raise HostRefused(
                f"process {pid} keeps the state of this database in memory, so no other process can host runs on it. "
                "End that process, or name another database with --db."
            )
    if others and any(each == host_id and name.endswith(_ONLY + _SUFFIX) for each, _, name in rows):
        raise HostRefused(
            f"process {others[0][0]} hosts runs on this database, and an engine with its state in memory must be the "
            "only host. End that process, or open another database."
        )


def touch(conn: Connection, host_id: str) -> None:
    """Write the row of this host unchanged, to test whether the database is writable."""
    conn.execute(update(hosts).where(hosts.c.host_id == host_id).values(host_id=host_id))


def unregister(conn: Connection, host_id: str) -> None:
    conn.execute(delete(hosts).where(hosts.c.host_id == host_id))


def dead_hosts(conn: Connection) -> list[str]:
    """Return the hosts whose lock is free.

    Must run inside the writer's transaction, so that only one process recovers their runs.
    """
    folder = _folder(conn)
    query = select(hosts.c.host_id, hosts.c.lock_file).order_by(hosts.c.started_at)
    return [host_id for host_id, name in conn.execute(query) if _is_free(folder / name)]


def live_processes(conn: Connection) -> list[tuple[int, str]]:
    """Return the process id and the version of Trackside of each host that is alive."""
    dead = set(dead_hosts(conn))
    query = select(hosts.c.host_id, hosts.c.pid, hosts.c.version).order_by(hosts.c.started_at)
    return [(pid, version) for host_id, pid, version in conn.execute(query) if host_id not in dead]


def process_of(conn: Connection, host_id: str) -> int | None:
    """Return the process id of a host that is alive; None if it is gone."""
    query = select(hosts.c.pid, hosts.c.lock_file).where(hosts.c.host_id == host_id)
    row = conn.execute(query).first()
    return None if row is None or _is_free(_folder(conn) / row.lock_file) else row.pid


def delete_dead(conn: Connection, host_id: str) -> None:
    """Delete the row and the lock file of a dead host, after its runs were closed."""
    name = conn.execute(select(hosts.c.lock_file).where(hosts.c.host_id == host_id)).scalar()
    if name is not None:
        (_folder(conn) / name).unlink(missing_ok=True)
    unregister(conn, host_id)


def _folder(conn: Connection) -> Path:
    paths = {row[1]: row[2] for row in conn.exec_driver_sql("PRAGMA database_list")}
    return Path(paths.get(memory_state.FILE) or paths["main"]).resolve().parent


def _is_free(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        # The host of another user: whether it is alive cannot be determined, so its runs are left alone.
        return False
    try:
        # A shared lock, so that two processes that check at the same time do not take each other for the host.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
