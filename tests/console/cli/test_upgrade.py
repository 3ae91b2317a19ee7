"""Commands on the database of an older version: progress, messages, and a command that is killed."""

import fcntl
import json
import os
import pty
import shlex
import shutil
import subprocess
from itertools import pairwise

import pytest

from console.cli.progress import LINE_PERCENT
from engine.store import search, tables
from engine.store.hosts import HostLock
from engine.store.private_files import upgrade_copy
from tests.support.commands import Trackside
from tests.support.faults.faults import wait_until
from tests.support.old_databases import contents, make_database, old_rows

PROGRESS = "trackside: Upgrading the database … "
DONE = f"trackside: The database was upgraded from schema 0001 to {tables.SCHEMA_VERSION}."
PIPE_BYTES = 4_096


@pytest.fixture
def old(trackside: Trackside) -> Trackside:
    """The command line on a database of the first version."""
    make_database(trackside.database, "0001", old_rows("0001", lines=search.MAX_HITS + 1))
    return trackside


@pytest.mark.parametrize(
    ("typed", "stdin"),
    [
        (("run", "--runner", "echo", "-m", "hi"), ""),
        (("record", "--runner", "echo", "-m", "hi"), '{"type":"run.completed"}\n'),
        (("sessions", "new", "mine"), ""),
    ],
    ids=["run", "record", "sessions new"],
)
def test_command_that_hosts_upgrades_and_prints_its_progress(old: Trackside, typed: tuple[str, ...], stdin: str):
    done = old(*typed, stdin=stdin)

    first, *between, last = done.stderr.splitlines()
    assert done.returncode == 0, done.stderr
    assert (first, last) == (f"{PROGRESS}0 %", DONE)
    percents = [int(line.removeprefix(PROGRESS).removesuffix(" %")) for line in between]
    assert percents
    assert all(later >= earlier + LINE_PERCENT for earlier, later in pairwise([0, *percents]))
    assert json.loads(old("search", "idnigh", "--json").stdout)["total_count"] == search.MAX_HITS


def test_reader_does_not_upgrade_and_names_the_command_that_does(old: Trackside):
    before = contents(old.database)

    message = old.error("runs")

    command = shlex.split(message.split("`")[1])
    assert command == ["trackside", "run", "--db", str(old.database)]
    assert "was written by an older Trackside (schema 0001, " in message
    for typed in (("doctor",), ("sessions",), ("prune", "--older-than", "1d", "--yes")):
        done = old(*typed)
        assert "was written by an older Trackside" in done.stdout + done.stderr
    assert contents(old.database) == before


def test_progress_on_a_terminal_is_one_line_that_is_cleared(old: Trackside):
    ours, theirs = pty.openpty()
    process = old.start_with("run", "--runner", "echo", "-m", "hi", streams=(None, None, theirs))
    code = process.wait()
    os.close(theirs)

    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    progress, end, rest = shown.rpartition("\r" + " " * len(f"{PROGRESS}100 %") + "\r")
    assert (code, bool(end), rest.strip()) == (0, True, DONE)
    assert progress.startswith(f"\r{PROGRESS}")
    assert "\n" not in progress


def test_killed_command_has_changed_nothing_and_the_next_one_upgrades(old: Trackside):
    before = contents(old.database)
    # The pipe has room for the first line only, so that the upgrade waits with its second line until it is killed.
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    os.write(writing, bytes(PIPE_BYTES - len(f"{PROGRESS}0 %\n".encode())))

    process = old.start_with("run", "--runner", "echo", "-m", "hi", streams=(None, None, writing))
    wait_until(upgrade_copy(old.database).exists)
    os.close(writing)
    process.kill()
    code = process.wait()

    with os.fdopen(reading, "rb") as lines:
        assert lines.read().lstrip(b"\0").decode().startswith(f"{PROGRESS}0 %\n")
    assert code == -9
    assert contents(old.database) == before
    assert old.error("runs").endswith("An earlier upgrade was interrupted; it changed nothing.")
    done = old("run", "--runner", "echo", "-m", "hi")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == (
        f"{DONE} An earlier upgrade had been interrupted and had changed nothing; its copy was removed."
    )
    assert sorted(each.name for each in old.database.parent.glob("facts.db*")) == ["facts.db"]


def test_database_that_another_process_has_open_is_not_upgraded(old: Trackside):
    lock = HostLock.take(old.database, "host_gone")  # the host of the sample rows is alive

    message = old.error("run", "--runner", "echo", "-m", "hi")
    lock.release()

    assert message == (
        f"{old.database} must be upgraded, and process 4242 (trackside 0.1) has it open. End that process, then try "
        "again. Nothing was changed."
    )


def test_missing_room_is_reported_with_the_bytes(old: Trackside):
    disk = old.folder / "disk"
    disk.mkdir()
    mount = ("unshare", "--map-root-user", "--mount", "sh", "-c")
    size = old.database.stat().st_size
    ours = f'mount -t tmpfs -o size={size + 200_000} tmpfs "{disk}"'
    if shutil.which("unshare") is None or subprocess.run([*mount, ours], capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")

    begin = f'{ours} && cp "{old.database}" "{disk}" && exec "$@"'
    message = old.error("run", db=disk / "facts.db", within=(*mount, begin, "sh"))

    assert message.startswith(
        f"{disk / 'facts.db'} must be upgraded, and there is no room for a copy of it: {size + (1 << 20):,} bytes are "
        "needed, and "
    )
    assert message.endswith(
        " are free. Free some space, then try again; or name another database with --db. Nothing was changed."
    )
