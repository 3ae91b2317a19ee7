"""Several processes on one database, and hosts that die."""

import asyncio
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection

from engine.store import entries, hosts, runs
from engine.store.database import Database
from engine.store.errors import SlotTaken
from engine.store.hosts import HostLock
from tests.support.store_samples import RecordedCallbacks, entry, make_writer, run_row

ROOT = Path(__file__).parents[3]

WRITE = """
import asyncio, sys
from pathlib import Path
from engine.store.database import Database
from tests.support.store_samples import RecordedCallbacks, entry, make_writer

async def main(path, run_id, count):
    database, callbacks = Database.open(Path(path), write=True), RecordedCallbacks()
    writer = make_writer(database, callbacks)
    print("ready", flush=True)
    sys.stdin.readline()
    for position in range(1, int(count) + 1):
        writer.append(entry(position, run_id))
        if position % 20 == 0:
            await writer.flush()
    await writer.close()
    assert not callbacks.failed, callbacks.failed
    print(len(callbacks.entries), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""

READ = """
import sys
from pathlib import Path
from engine.store import entries as journal
from engine.store.database import Database

database = Database.open(Path(sys.argv[1]), write=False)
print("ready", flush=True)
sys.stdin.readline()
reads, row = 0, 0
while row < int(sys.argv[2]):
    for row, entry in database.read_now(lambda conn: journal.since(conn, row, 50)):
        pass
    reads += 1
print(reads, flush=True)
"""

HOST = """
import sys
from pathlib import Path
from engine.store import hosts, runs
from engine.store.database import Database
from tests.support.store_samples import run_row

database = Database.open(Path(sys.argv[1]), write=True)
lock = hosts.HostLock.take(database.path, sys.argv[2])
with database.writing_connection() as conn:
    hosts.register(conn, sys.argv[2], lock, started_at=1, version="test")
    runs.create(conn, run_row("run_" + sys.argv[2], host=sys.argv[2], conversation_id="talk"))
print("ready", flush=True)
sys.stdin.readline()
with database.writing_connection() as conn:
    hosts.unregister(conn, sys.argv[2])
lock.release()
"""

MAKE = """
import sys
from pathlib import Path
from engine.store.database import Database

print("ready", flush=True)
sys.stdin.readline()
Database.open(Path(sys.argv[1]), write=True).close()
"""


@contextmanager
def process(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready, and waits for a line before it continues."""
    child = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


async def test_two_writers_and_a_reader_share_one_database(database: Database, callbacks: RecordedCallbacks):
    with process(WRITE, database.path, "run_other", 1_000) as other, process(READ, database.path, 3_000) as reader:
        go(reader)
        go(other)
        writer = make_writer(database, callbacks)
        for position in range(1, 2_001):
            writer.append(entry(position))
            if position % 20 == 0:
                await writer.flush()
        await writer.close()
        assert other.communicate(timeout=30)[0] == "1000\n"
        assert int(reader.communicate(timeout=30)[0]) > 0

    assert callbacks.failed == []
    rows = database.read_now(lambda conn: entries.since(conn, 0, 10_000))
    assert [row for row, _ in rows] == list(range(1, 3_001))
    for run_id, count in (("run_a", 2_000), ("run_other", 1_000)):
        assert [each.position for _, each in rows if each.run_id == run_id] == list(range(1, count + 1))
    announced = [(first + index, each) for first, group in callbacks.announced for index, each in enumerate(group)]
    assert announced == [(row, each) for row, each in rows if each.run_id == "run_a"]


def test_two_processes_may_make_the_same_database(path: Path):
    with process(MAKE, path) as one, process(MAKE, path) as two:
        go(one)
        go(two)
        assert (one.wait(30), two.wait(30)) == (0, 0)
    opened = Database.open(path, write=False)
    assert opened.integrity() == []
    opened.close()


async def test_announced_entries_are_on_disk_after_a_kill(path: Path):
    script = WRITE.replace("print(len(callbacks.entries), flush=True)", "").replace(
        "await writer.flush()", "await writer.flush(); print(len(callbacks.entries), flush=True)"
    )
    with process(script, path, "run_a", 100_000) as child:
        go(child)
        assert child.stdout is not None
        lines = [await asyncio.to_thread(child.stdout.readline) for _ in range(20)]
        child.kill()
        lines += child.stdout.readlines()
    announced = max(int(line) for line in lines if line.endswith("\n"))

    database = Database.open(path, write=True)
    assert database.read_now(lambda conn: entries.last_position(conn, "run_a")) >= announced
    assert database.integrity() == []
    database.close()


def test_one_live_run_per_conversation_and_thread_holds_across_processes(database: Database, conn: Connection):
    with process(HOST, database.path, "h1"):
        with pytest.raises(SlotTaken) as caught:
            runs.create(conn, run_row("run_mine", conversation_id="talk"))
        assert caught.value.run_id == "run_h1"
        runs.create(conn, run_row("run_thread", conversation_id="talk", thread_id="t"))


def test_a_host_is_dead_once_its_process_is_killed_and_not_before(database: Database, conn: Connection):
    with process(HOST, database.path, "h1") as host:
        assert hosts.dead_hosts(conn) == []
        assert hosts.dead_hosts(conn) == []
        host.send_signal(signal.SIGKILL)
        host.wait()
        assert hosts.dead_hosts(conn) == ["h1"]
    assert [each.run_id for each in runs.live_of_host(conn, "h1")] == ["run_h1"]

    hosts.delete_dead(conn, "h1")
    assert hosts.dead_hosts(conn) == []
    assert list(database.path.parent.glob("*.lock")) == []


def test_host_that_closes_properly_leaves_no_lock(database: Database, conn: Connection):
    with process(HOST, database.path, "h1") as host:
        assert len(list(database.path.parent.glob("*.lock"))) == 1
        go(host)
        assert host.wait(30) == 0
    assert hosts.dead_hosts(conn) == []
    assert list(database.path.parent.glob("*.lock")) == []


def test_a_child_of_a_host_does_not_hold_its_lock(database: Database, conn: Connection):
    lock = HostLock.take(database.path, "h1")
    hosts.register(conn, "h1", lock, started_at=1, version="test")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False) as child:
        assert hosts.dead_hosts(conn) == []
        lock.release()
        assert hosts.dead_hosts(conn) == ["h1"]
        child.kill()


def test_copied_database_does_not_see_the_host_of_the_original(database: Database, tmp_path: Path):
    with process(HOST, database.path, "h1"):
        (tmp_path / "copy").mkdir()
        copy = tmp_path / "copy" / database.path.name
        source, target = sqlite3.connect(database.path), sqlite3.connect(copy)
        source.backup(target)
        source.close()
        target.close()
        opened = Database.open(copy, write=True)
        with opened.writing_connection() as conn:
            assert hosts.dead_hosts(conn) == ["h1"]
        opened.close()


def test_a_database_opened_through_a_link_finds_the_same_locks(database: Database, tmp_path: Path):
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(database.path)
    with process(HOST, link, "h1") as host:
        opened = Database.open(database.path, write=True)
        with opened.writing_connection() as conn:
            assert hosts.dead_hosts(conn) == []
            host.kill()
            host.wait()
            assert hosts.dead_hosts(conn) == ["h1"]
        opened.close()
    shutil.rmtree(link.parent)
