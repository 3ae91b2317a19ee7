"""Copies of a database: complete, also while others write_entries, and never over something else by accident."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection

from engine.store import backup
from engine.store.backup import back_up
from engine.store.database import Database
from engine.store.errors import BackupRefused, DatabaseForeign, DatabaseMissing
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.store_samples import entry, write_entries


def rows(path: Path) -> int:
    with closing(sqlite3.connect(path)) as driver:
        assert driver.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return driver.execute("SELECT count(*) FROM journal").fetchone()[0]


def test_the_last_close_folds_the_log_into_the_file_and_never_waits_for_readers(path: Path):
    database, reader = Database.open(path, write=True), Database.open(path, write=False)
    reading, done = threading.Event(), threading.Event()

    def read(conn: Connection) -> None:
        conn.exec_driver_sql("SELECT count(*) FROM journal")
        reading.set()
        assert done.wait(MAX_WAIT_SECONDS)

    with database.writing_connection() as conn:
        write_entries(conn, entry(1, "run_1"))
    # A snapshot that stays open, as in another process.
    thread = threading.Thread(
        target=reader.read_now, args=(lambda conn: (conn.exec_driver_sql("SELECT 1"), read(conn)),)
    )
    thread.start()
    assert reading.wait(MAX_WAIT_SECONDS)
    with database.writing_connection() as conn:
        write_entries(conn, entry(2, "run_1"))

    closing_thread = threading.Thread(target=database.close)
    closing_thread.start()
    closing_thread.join(MAX_WAIT_SECONDS)
    has_closed = not closing_thread.is_alive()
    done.set()
    thread.join()
    reader.close()

    assert has_closed
    Database.open(path, write=True).close()
    assert not path.with_name(f"{path.name}-wal").exists()
    alone = path.with_name("alone.db")
    alone.write_bytes(path.read_bytes())
    assert rows(alone) == 2


def test_a_backup_is_complete_while_another_process_writes(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(backup, "_PAGES_PER_STEP", 8)
    target, steps = tmp_path / "copy.db", list[tuple[int, int]]()
    with database.writing_connection() as conn:
        write_entries(conn, *(entry(number, "run_1") for number in range(1, 400)))

        def write_more(copied: int, total: int) -> None:
            steps.append((copied, total))
            if len(steps) < 50:  # otherwise a copy that starts again after each write would never end
                write_entries(conn, entry(1_000 + len(steps), "run_1"))

        size = back_up(database.path, target, progress=write_more)

    assert len(steps) > 2
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1]
    assert rows(target) == 399
    assert (target.stat().st_size, target.stat().st_mode & 0o777) == (size, 0o600)
    copy = Database.open(target, write=True)
    assert copy.integrity() == []
    copy.close()
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_a_backup_overwrites_only_what_it_is_told_to(database: Database, tmp_path: Path):
    target = tmp_path / "copy.db"
    target.write_text("mine")

    with pytest.raises(BackupRefused, match=r"copy\.db exists already\. Add --force"):
        back_up(database.path, target)
    assert target.read_text() == "mine"
    back_up(database.path, target, overwrite=True)

    assert rows(target) == 0
    for name, words in (
        ("facts.db", "is the database itself"),
        (".", "is a folder"),
        ("no/copy.db", "cannot be written"),
    ):
        with pytest.raises(BackupRefused, match=words):
            back_up(database.path, tmp_path / name, overwrite=True)


def test_a_backup_does_not_replace_a_database_in_use(database: Database, tmp_path: Path):
    other = Database.open(tmp_path / "other.db", write=True)
    with other.writing_connection() as conn:
        write_entries(conn, entry(1, "run_1"))
        with pytest.raises(BackupRefused, match=r"other\.db is a database in use"):
            back_up(database.path, other.path, overwrite=True)
    other.close()
    assert rows(tmp_path / "other.db") == 1


def test_a_file_that_appears_during_the_backup_is_kept(database: Database, tmp_path: Path):
    target = tmp_path / "copy.db"

    with pytest.raises(BackupRefused, match="exists already"):
        back_up(database.path, target, progress=lambda *_: target.write_text("mine"))
    assert target.read_text() == "mine"
    assert sorted(file.suffix for file in tmp_path.iterdir() if file.name.startswith(".")) == []


def test_only_a_database_of_trackside_is_copied(tmp_path: Path):
    with pytest.raises(DatabaseMissing):
        back_up(tmp_path / "none.db", tmp_path / "copy.db")
    foreign = tmp_path / "foreign.db"
    with closing(sqlite3.connect(foreign)) as driver:
        driver.execute("CREATE TABLE other (a)")
    with pytest.raises(DatabaseForeign):
        back_up(foreign, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
