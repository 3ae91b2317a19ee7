"""An upgrade that fails, is interrupted or is killed changes nothing, and the next one begins again."""

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import Connection

from engine.store import hosts, search_index, tables, upgrade
from engine.store.database import Database
from engine.store.errors import (
    DatabaseInUse,
    DatabaseMissing,
    DatabaseOlder,
    DatabaseReadOnly,
    DiskFull,
    StoreError,
    UpgradeInProgress,
    UpgradeInterrupted,
)
from engine.store.hosts import HostLock
from engine.store.migrations import journal_slices
from engine.store.private_files import unfinished_copy, upgrade_copy
from tests.support.faults.killed_upgrade import COMMITTED, MOMENTS, kill_upgrade
from tests.support.old_databases import OLDER_VERSIONS, contents, make_database, old_rows
from tests.support.small_disk import small_disk
from tests.support.store_samples import find_texts, is_index_consistent

NOBODY = 65_534
INTERRUPTED = "An earlier upgrade had been interrupted and had changed nothing; its copy was removed."


@pytest.fixture
def old(path: Path) -> Path:
    """A database of the first version, whose upgrade takes every step."""
    make_database(path, "0001", old_rows("0001"))
    return path


def files(path: Path) -> list[str]:
    """Return the names of the files beside a database, without those that SQLite keeps while it is open."""
    names = {each.name for each in path.parent.iterdir()}
    return sorted(names - {path.name, f"{path.name}-wal", f"{path.name}-shm"})


def upgrade_and_check(path: Path) -> list[str]:
    """Upgrade, check the result, and return the remarks."""
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        assert is_index_consistent(conn)
        assert len(find_texts(conn, "midnight", limit=100)) == 100
    assert database.integrity() == []
    remarks = database.remarks
    database.close()
    assert files(path) == []
    return remarks


# Killed


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_upgrade_has_changed_nothing_and_is_begun_again(old: Path, moment: str):
    before = contents(old)

    kill_upgrade(old, moment)

    assert contents(old) == before
    copy = upgrade_copy(old)
    if moment not in ("before the copy", "while copying"):
        assert contents(copy) == before
        assert copy.stat().st_mode & 0o777 == 0o600
    with pytest.raises(DatabaseOlder) as caught:
        Database.open(old, write=False)
    assert ("An earlier upgrade was interrupted; it changed nothing." in str(caught.value)) is copy.exists()
    (remark,) = upgrade_and_check(old)
    assert remark.startswith("The database was upgraded from schema 0001 to ")
    assert remark.endswith(INTERRUPTED) is (moment != "before the copy")


def test_upgrade_that_is_killed_after_its_commit_has_succeeded(old: Path):
    kill_upgrade(old, COMMITTED)

    assert upgrade_copy(old).exists()
    Database.open(old, write=False).close()
    assert upgrade_and_check(old) == [
        f"An upgrade of the database was interrupted when it had succeeded. Its copy {upgrade_copy(old)} was removed."
    ]
    assert upgrade_and_check(old) == []


def test_copy_of_a_killed_upgrade_is_not_lost_if_the_database_is_gone(old: Path):
    before = contents(old)
    kill_upgrade(old, MOMENTS[-1])
    for each in old.parent.glob("facts.db*"):
        if each != upgrade_copy(old):
            each.unlink()

    with pytest.raises(DatabaseMissing, match=r"interrupted upgrade left a copy .*Rename the copy to facts\.db to use"):
        Database.open(old, write=True)

    assert not old.exists()
    assert contents(upgrade_copy(old)) == before
    upgrade_copy(old).rename(old)
    upgrade_and_check(old)


def test_what_is_written_after_a_killed_upgrade_is_kept(old: Path):
    kill_upgrade(old, MOMENTS[-1])
    with closing(sqlite3.connect(old)) as driver:  # as the older Trackside does
        driver.execute("UPDATE runs SET status_reason = 'written later'")
        driver.commit()

    upgrade_and_check(old)

    with closing(sqlite3.connect(old)) as driver:
        assert set(driver.execute("SELECT status_reason FROM runs")) == {("written later",)}


# Interrupted


def test_upgrade_that_nobody_waits_for_changes_nothing(old: Path):
    before = contents(old)

    for count in range(5):
        calls = iter(range(count))

        def interrupt(_done: int, _total: int, calls: Iterator[int] = calls) -> None:
            if next(calls, None) is None:
                raise UpgradeInterrupted("nobody waits")

        with pytest.raises(UpgradeInterrupted, match="nobody waits"):
            Database.open(old, write=True, on_progress=interrupt)
        assert (contents(old), files(old)) == (before, [])


def test_long_statement_is_interrupted(old: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(upgrade, "STEPS_PER_CHECK", 100)
    before, reports = contents(old), 0

    def interrupt(done: int, total: int) -> None:
        nonlocal reports
        reports += upgrade_copy(old).exists()
        if reports == 3:  # no slice of the journal is done yet
            raise UpgradeInterrupted("nobody waits")

    with pytest.raises(UpgradeInterrupted, match="nobody waits"):
        Database.open(old, write=True, on_progress=interrupt)

    assert contents(old) == before
    assert files(old) == []


# Progress


def test_progress_grows_from_nothing_to_all(old: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_index, "BACKLOG_LINES", 10)
    monkeypatch.setattr(journal_slices, "SLICE_ROWS", 10)
    reports: list[tuple[int, int]] = []

    Database.open(old, write=True, on_progress=lambda *report: reports.append(report)).close()

    totals = {total for _, total in reports}
    done = [done for done, _ in reports]
    assert len(totals) == 1
    assert (done[0], done[-1]) == (0, *totals)
    assert done == sorted(done)
    # Start, copy, twelve slices of the journal for each of two revisions, ten of the transcript, end.
    assert len(done) == 1 + 1 + 2 * 12 + 10 + 1
    assert len(set(done)) == len(done)


def test_index_that_an_older_version_has_begun_is_finished(path: Path):
    def fill(conn: Connection) -> None:
        old_rows("0012")(conn)
        conn.exec_driver_sql("INSERT INTO transcript_search (transcript_search) VALUES ('delete-all')")
        conn.exec_driver_sql("INSERT INTO search_backlog VALUES (0)")

    make_database(path, "0012", fill)

    upgrade_and_check(path)

    with closing(sqlite3.connect(path)) as driver:
        assert driver.execute("SELECT count(*) FROM search_backlog").fetchone() == (0,)


# The copy


def test_copy_holds_what_is_still_in_the_log(old: Path):
    reader = sqlite3.connect(old)
    reader.execute("UPDATE runs SET status_reason = 'in the log'")
    reader.commit()
    before = contents(old)
    copied: list[list[str]] = []

    def look(done: int, total: int) -> None:
        if done == total:
            copied.append(contents(upgrade_copy(old)))

    Database.open(old, write=True, on_progress=look).close()
    reader.close()

    assert copied == [before]


def test_failed_upgrade_changes_nothing_and_names_its_copy(old: Path):
    with closing(sqlite3.connect(old)) as driver:
        # Blocks a statement of the last step.
        driver.execute("CREATE TRIGGER transcript_deleted AFTER DELETE ON hosts BEGIN SELECT 1; END")
    before, copy = contents(old), upgrade_copy(old)

    with pytest.raises(StoreError, match="transcript_deleted already exists") as caught:
        Database.open(old, write=True)

    assert str(caught.value).endswith(
        f" The upgrade from schema 0001 failed and changed nothing; a copy of the database is at {copy}."
    )

    assert contents(old) == before
    assert contents(copy) == before
    assert files(old) == [copy.name]
    with closing(sqlite3.connect(old)) as driver:
        driver.execute("DROP TRIGGER transcript_deleted")
    assert upgrade_and_check(old)[0].endswith(INTERRUPTED)


def test_what_is_in_the_way_of_the_copy_stops_the_upgrade(old: Path):
    before = contents(old)
    upgrade_copy(old).mkdir()

    with pytest.raises(StoreError, match=r"facts\.db\.upgrade-copy is in the way .* Move it away, then try again"):
        Database.open(old, write=True)

    assert contents(old) == before


@pytest.mark.parametrize("place", [upgrade_copy, unfinished_copy])
def test_link_at_the_place_of_the_copy_is_not_followed(old: Path, tmp_path: Path, place: Callable[[Path], Path]):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    other = folder / "other.db"
    other.write_bytes(b"not ours")
    place(old).symlink_to(other)

    Database.open(old, write=True).close()

    assert other.read_bytes() == b"not ours"
    assert files(old) == [folder.name]


def test_link_at_the_place_of_a_copy_that_was_left_is_not_followed(path: Path, tmp_path: Path):
    Database.open(path, write=True).close()
    other = tmp_path / "other.db"
    other.write_bytes(b"not ours")
    upgrade_copy(path).symlink_to(other)

    Database.open(path, write=True).close()

    assert other.read_bytes() == b"not ours"
    assert files(path) == [other.name]


def test_link_to_nothing_is_not_in_the_way_of_the_copy(old: Path, tmp_path: Path):
    unfinished_copy(old).symlink_to(tmp_path / "nothing")

    upgrade_and_check(old)

    assert not (tmp_path / "nothing").exists()


# The disk


def test_missing_room_for_the_copy_is_reported_before_the_upgrade_begins(tmp_path: Path):
    with small_disk(tmp_path / "disk", 3 << 20) as disk:
        path = disk / "facts.db"
        make_database(path, "0012", old_rows("0012"))
        before, size = contents(path), path.stat().st_size
        filler = disk / "filler"
        filler.write_bytes(bytes(3 << 19))
        reports: list[int] = []

        with pytest.raises(DiskFull) as caught:
            Database.open(path, write=True, on_progress=lambda done, _: reports.append(done))

        found = re.search(
            r"no room for a copy of it: ([\d,]+) bytes are needed, and ([\d,]+) are free", str(caught.value)
        )
        assert found is not None
        needed, free = (int(number.replace(",", "")) for number in found.groups())
        assert needed == size + (1 << 20)
        assert free < needed
        assert str(caught.value).endswith("Nothing was changed.")
        assert (contents(path), files(path), reports) == (before, ["filler"], [])
        filler.unlink()
        upgrade_and_check(path)


def test_disk_that_becomes_full_changes_nothing(tmp_path: Path):
    with small_disk(tmp_path / "disk", 8 << 20) as disk:
        path, filler = disk / "facts.db", disk / "filler"
        make_database(path, "0001", old_rows("0001", lines=2_000))
        before = contents(path)

        def fill(_done: int, _total: int) -> None:
            if upgrade_copy(path).exists():
                with suppress(OSError), filler.open("ab", buffering=0) as file:
                    while True:
                        file.write(bytes(4_096))

        with pytest.raises(DiskFull) as caught:
            Database.open(path, write=True, on_progress=fill)

        assert str(caught.value) == (
            f"no space is left to upgrade {path}. Free some space, then try again; or name another database with --db. "
            "Nothing was changed."
        )
        assert contents(path) == before
        assert files(path) == ["filler"]
        filler.unlink()
        database = Database.open(path, write=True)
        assert database.integrity() == []
        database.close()


Limit = Callable[[sqlite3.Connection], object]


@pytest.mark.parametrize(
    ("limit", "kind", "words"),
    [
        (lambda driver: driver.execute("PRAGMA max_page_count = 1"), DiskFull, "Free some space, then try again"),
        (lambda driver: driver.execute("PRAGMA query_only = ON"), DatabaseReadOnly, "Make the file and its folder"),
    ],
    ids=["full", "read-only"],
)
def test_database_that_can_be_written_no_longer_is_not_changed(
    old: Path, limit: Limit, kind: type[StoreError], words: str, monkeypatch: pytest.MonkeyPatch
):
    before = contents(old)
    connections: list[sqlite3.Connection] = []
    connect = Database._connect_to_write

    def noted(database: Database) -> sqlite3.Connection:
        connections.append(connect(database))
        return connections[-1]

    def restrict(_done: int, _total: int) -> None:
        if upgrade_copy(old).exists():
            limit(connections[-1])

    with monkeypatch.context() as patch:
        patch.setattr(Database, "_connect_to_write", noted)
        with pytest.raises(kind, match=words):
            Database.open(old, write=True, on_progress=restrict)

    assert contents(old) == before
    assert upgrade_copy(old).exists() is (kind is not DiskFull), "a full disk needs the room of the copy"
    upgrade_and_check(old)


@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o755, 0o444), (0o555, 0o644)])
def test_read_only_database_is_not_upgraded(tmp_path: Path, folder_mode: int, file_mode: int):
    path = tmp_path / "facts.db"
    make_database(path, "0012", old_rows("0012"))
    before = path.read_bytes()
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(path, NOBODY, NOBODY)
        os.chown(tmp_path, NOBODY, NOBODY)
    path.chmod(file_mode)
    tmp_path.chmod(folder_mode)
    reports: list[int] = []
    if is_root:  # permissions do not apply to root
        os.seteuid(NOBODY)
    try:
        with pytest.raises(
            DatabaseReadOnly, match=r"facts\.db cannot be written\. Make the file and its folder writable"
        ):
            Database.open(path, write=True, on_progress=lambda done, _: reports.append(done))
    finally:
        if is_root:
            os.seteuid(0)
        tmp_path.chmod(0o755)

    assert path.read_bytes() == before
    assert (files(path), reports) == ([], [])


# Other processes


@pytest.mark.parametrize("revision", [OLDER_VERSIONS[0], OLDER_VERSIONS[-1]])
def test_database_that_another_host_has_open_is_not_upgraded(path: Path, revision: str):
    make_database(path, revision, old_rows(revision))
    lock = HostLock.take(path, "host_alive")
    with closing(sqlite3.connect(path)) as driver:
        driver.execute("INSERT INTO hosts VALUES ('host_alive', 77, ?, 1, '0.4')", (lock.path.name,))
        driver.commit()
    before = contents(path)

    with pytest.raises(DatabaseInUse) as caught:
        Database.open(path, write=True)

    assert str(caught.value) == (
        f"{path} must be upgraded, and process 77 (trackside 0.4) has it open. End that process, then try again. "
        "Nothing was changed."
    )
    assert (contents(path), files(path)) == (before, [lock.path.name])
    lock.release()
    upgrade_and_check(path)


def test_others_are_told_which_process_upgrades_the_database(old: Path):
    told: list[str] = []

    def open_others(done: int, total: int) -> None:
        if done in (0, total):
            for write in (True, False):
                with pytest.raises(UpgradeInProgress) as caught:
                    Database.open(old, write=write, busy=0.01)
                told.append(str(caught.value))

    database = Database.open(old, write=True, on_progress=open_others)

    message = f"process {os.getpid()} is upgrading {old}. Wait until it has finished, then try again."
    assert told == [message] * 4
    assert database.remarks == [f"The database was upgraded from schema 0001 to {tables.SCHEMA_VERSION}."]
    Database.open(old, write=True).close()
    database.close()


def test_host_beside_the_end_of_an_upgrade_leaves_its_copy_alone(path: Path):
    Database.open(path, write=True).close()
    upgrade_copy(path).write_bytes(b"")
    lock = hosts.take_upgrade_lock(path)  # as of a process that has committed its upgrade

    database = Database.open(path, write=True)
    database.close()

    assert database.remarks == []
    assert upgrade_copy(path).exists()
    lock.release()


def test_reader_names_the_command_that_upgrades(tmp_path: Path):
    path = tmp_path / "my facts.db"
    make_database(path, "0012", old_rows("0012"))
    before = path.read_bytes()

    with pytest.raises(DatabaseOlder) as caught:
        Database.open(path, write=False)

    assert str(caught.value) == (
        f"{path} was written by an older Trackside (schema 0012, this one needs {tables.SCHEMA_VERSION}). "
        f"`trackside run --db '{path}'` upgrades it."
    )
    assert path.read_bytes() == before
