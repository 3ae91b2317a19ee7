"""Opening a database: it is created, recognised or upgraded, or a clear error is raised and nothing is changed."""

import asyncio
import os
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from engine.store import database as database_module
from engine.store import entries, tables
from engine.store.database import Database
from engine.store.errors import (
    DatabaseDamaged,
    DatabaseForeign,
    DatabaseLocked,
    DatabaseMissing,
    DatabaseNewer,
    DatabaseOlder,
    DatabaseReadOnly,
    DiskFailed,
    DiskFull,
    StoreError,
    translate,
)
from tests.support.small_disk import small_disk
from tests.support.store_samples import RecordedCallbacks, entry, make_writer, schema

NOBODY = 65_534
INDEX = set(tables.SEARCH_INDEXES)
"""Virtual tables, which metadata cannot describe; they are compared as text."""
OF_THE_INDEX = {f"{index}_{name}" for index in INDEX for name in ("config", "data", "idx")}
"""SQLite's own tables behind them."""


def test_a_new_database_is_made_with_its_folder_and_stamped(tmp_path: Path):
    path = tmp_path / "some" / "where" / "facts.db"
    Database.open(path, write=True).close()

    driver = sqlite3.connect(path)
    assert driver.execute("SELECT version_num FROM alembic_version").fetchall() == [(tables.SCHEMA_VERSION,)]
    assert driver.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    driver.close()


def test_migrations_and_metadata_give_the_same_schema(tmp_path: Path):
    new, migrated = tmp_path / "new.db", tmp_path / "migrated.db"
    Database.open(new, write=True).close()
    prepared = sqlite3.connect(migrated)
    prepared.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    prepared.close()

    Database.open(migrated, write=True).close()

    made = schema(new)
    assert schema(migrated) == made
    assert {table.name for table in tables.metadata.sorted_tables} | INDEX | OF_THE_INDEX < set(made)
    driver = sqlite3.connect(migrated)
    assert driver.execute("SELECT version_num FROM alembic_version").fetchall() == [(tables.SCHEMA_VERSION,)]
    driver.close()


def test_every_table_is_in_the_metadata_or_the_search_index(database: Database):
    driver = sqlite3.connect(database.path)
    rows = driver.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()
    driver.close()
    described = {table.name for table in tables.metadata.sorted_tables}
    assert {name for (name,) in rows} - described == INDEX | OF_THE_INDEX | {"alembic_version"}


@pytest.mark.filterwarnings("ignore:.*expression-based index")  # compared as text by the test above
def test_alembic_finds_nothing_to_migrate_in_a_new_database(database: Database):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    engine = create_engine(f"sqlite:///{database.path}")
    with engine.connect() as connection:
        without = {"include_name": lambda name, kind, _: kind != "table" or name not in INDEX | OF_THE_INDEX}
        found = compare_metadata(MigrationContext.configure(connection, opts=without), tables.metadata)
    engine.dispose()
    assert found == []


def test_alembic_is_imported_only_to_upgrade(path: Path):
    script = (
        "import sys; from pathlib import Path; from engine.store.database import Database\n"
        "for _ in range(2): Database.open(Path(sys.argv[1]), write=True).close()\n"
        "sys.exit('alembic' in sys.modules)"
    )
    import sys

    assert subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode == 0


def test_reader_does_not_create_a_database(path: Path):
    with pytest.raises(DatabaseMissing, match=r"there is no database at .*facts\.db\. `trackside run` creates one"):
        Database.open(path, write=False)
    assert not path.exists()


def test_a_reader_does_not_upgrade(path: Path):
    driver = sqlite3.connect(path)
    driver.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    driver.close()
    with pytest.raises(DatabaseOlder, match="was written by an older Trackside"):
        Database.open(path, write=False)
    assert schema(path) == {}


@pytest.mark.parametrize("write", [True, False])
def test_newer_database_is_refused_and_left_unchanged(path: Path, write: bool):
    Database.open(path, write=True).close()
    driver = sqlite3.connect(path)
    driver.execute("UPDATE alembic_version SET version_num = '9999'")
    driver.commit()
    driver.close()
    before = path.read_bytes()

    with pytest.raises(DatabaseNewer) as caught:
        Database.open(path, write=write)
    assert str(caught.value) == (
        f"{path} was written by a newer Trackside (schema 9999, this one knows {tables.SCHEMA_VERSION}). "
        "Upgrade Trackside, or name another file with --db."
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("content", [b"hello, this is no database", os.urandom(40_000)], ids=["text", "bytes"])
def test_file_that_is_not_a_database_is_refused_and_left_unchanged(path: Path, content: bytes, write: bool):
    path.write_bytes(content)
    with pytest.raises(DatabaseDamaged, match=r"facts\.db is not a database\. The file was not changed"):
        Database.open(path, write=write)
    assert path.read_bytes() == content


def damage(path: Path, start: int) -> bytes:
    content = bytearray(path.read_bytes())
    content[start:] = os.urandom(len(content) - start)
    path.write_bytes(content)
    return bytes(content)


def test_database_with_a_broken_first_page_is_left_unchanged(path: Path):
    Database.open(path, write=True).close()
    broken = damage(path, 100)
    with pytest.raises(DatabaseDamaged, match=r"facts\.db is damaged \(.+\)\. Copy it, try `sqlite3 .* \.recover`"):
        Database.open(path, write=True)
    assert path.read_bytes() == broken


async def test_broken_pages_found_later_are_reported_to_readers_and_by_the_check(
    path: Path, callbacks: RecordedCallbacks
):
    database = Database.open(path, write=True)
    writer = make_writer(database, callbacks)
    for position in range(1, 2_000):
        writer.append(entry(position, data='"' + "x" * 200 + '"'))
    await writer.close()
    database.close()
    damage(path, 400_000)

    database = Database.open(path, write=False)
    with pytest.raises(DatabaseDamaged, match=r"facts\.db is damaged"):
        await database.read(lambda conn: entries.since(conn, 0, 10_000))
    assert database.integrity() != []
    database.close()


def test_intact_database_passes_the_check(database: Database):
    assert database.integrity() == []


def test_database_of_another_program_is_left_unchanged(path: Path):
    driver = sqlite3.connect(path)
    driver.execute("CREATE TABLE recipes (name)")
    driver.close()
    before = path.read_bytes()
    with pytest.raises(DatabaseForeign, match="is a database of another program"):
        Database.open(path, write=True)
    assert path.read_bytes() == before


def test_folder_cannot_be_opened_as_a_database(tmp_path: Path):
    with pytest.raises(DatabaseForeign, match=r"is a folder\. Name a file with --db"):
        Database.open(tmp_path, write=True)


def test_a_locked_database_says_who_has_it_and_what_to_do(path: Path):
    Database.open(path, write=True).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseLocked) as caught:
        Database.open(path, write=True, busy=0.01)
    other.close()
    assert str(caught.value) == (
        f"{path} is locked by another process. Wait for it or end it, then try again; or name another file with --db."
    )


def test_lock_does_not_block_readers(path: Path):
    Database.open(path, write=True).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    reader = Database.open(path, write=False)
    assert reader.read_now(entries.last_row) == 0
    reader.close()
    other.close()


async def test_data_version_changes_after_any_write_and_only_then(path: Path):
    database, other = Database.open(path, write=True), sqlite3.connect(path, isolation_level=None)
    first = await database.version()
    assert await database.version() == first
    with database.writing_connection() as ours:
        ours.exec_driver_sql("CREATE TABLE mine (a)")
    second = await database.version()
    other.execute("CREATE TABLE theirs (a)")
    assert len({first, second, await database.version()}) == 3
    other.close()
    database.close()


@contextmanager
def unprivileged() -> Iterator[Path]:
    """A folder and a user to whom permissions apply: they do not to root."""
    folder = Path(tempfile.mkdtemp()).resolve()
    root = os.geteuid() == 0
    if root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)
        for child in folder.iterdir():
            child.unlink()
        folder.rmdir()


@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o755, 0o444), (0o555, 0o644), (0o555, 0o444)])
def test_a_database_that_cannot_be_written_raises_read_only(folder_mode: int, file_mode: int):
    with unprivileged() as folder:
        path = folder / "facts.db"
        Database.open(path, write=True).close()
        path.chmod(file_mode)
        folder.chmod(folder_mode)
        with pytest.raises(DatabaseReadOnly) as caught:
            Database.open(path, write=True)
        assert str(caught.value) == (
            f"{path} cannot be written. Make the file and its folder writable for you, or name another file with --db."
        )
        reader = Database.open(path, write=False)
        assert reader.read_now(entries.last_row) == 0
        reader.close()


def test_log_of_a_database_behind_a_link_is_not_ignored():
    with unprivileged() as folder, unprivileged() as elsewhere:
        path, link = folder / "facts.db", elsewhere / "link.db"
        Database.open(path, write=True).close()
        path.with_name("facts.db-wal").write_bytes(b"changes that SQLite cannot read in a read-only folder")
        link.symlink_to(path)
        folder.chmod(0o555)
        for each in (path, link):
            with pytest.raises(DatabaseReadOnly):
                Database.open(each, write=False)


def test_a_new_database_in_a_read_only_folder_raises_read_only():
    with unprivileged() as folder:
        folder.chmod(0o555)
        for path in (folder / "facts.db", folder / "deeper" / "facts.db"):
            with pytest.raises(DatabaseReadOnly, match=r"facts\.db cannot be written"):
                Database.open(path, write=True)


async def test_no_announced_entry_is_lost_if_the_database_becomes_read_only(callbacks: RecordedCallbacks):
    with unprivileged() as folder:
        path = folder / "facts.db"
        database = Database.open(path, write=True)
        writer = make_writer(database, callbacks, lambda: _read_only(database))
        with pytest.raises(DatabaseReadOnly, match=r"facts\.db cannot be written"):
            await writer.submit(lambda tx: tx.record(entry(1)))
        await writer.close()
        database.close()


def _read_only(database: Database):
    connection = database.writing_connection()
    connection.exec_driver_sql("PRAGMA query_only = ON")
    return connection


async def test_no_announced_entry_is_lost_on_a_full_disk_and_writing_continues_with_space(
    tmp_path: Path, callbacks: RecordedCallbacks
):
    with small_disk(tmp_path / "disk", "2m") as disk:
        database = Database.open(disk / "facts.db", write=True)
        writer = make_writer(database, callbacks)
        filler = disk / "filler"
        filler.write_bytes(b"x" * (1 << 20))
        position = 0
        while not callbacks.failed:
            position += 1
            writer.append(entry(position, data='"' + "x" * 2_000 + '"'))
            await asyncio.sleep(0)
        assert isinstance(callbacks.failed[0], DiskFull)
        assert str(database.path) in str(callbacks.failed[0])
        announced = len(callbacks.entries)

        filler.unlink()
        await writer.submit(lambda tx: tx.record(entry(1, "run_b")))
        await writer.close()
        assert database.read_now(lambda conn: entries.last_position(conn, "run_a")) == announced
        assert database.integrity() == []
        database.close()


def test_a_new_database_on_a_full_disk_raises_disk_full(tmp_path: Path):
    with (
        small_disk(tmp_path / "disk", "64k") as disk,
        pytest.raises(DiskFull, match=r"no space is left for .*facts\.db"),
    ):
        Database.open(disk / "facts.db", write=True)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (28, DiskFull),
        (122, DiskFull),
        (13, DatabaseReadOnly),
        (30, DatabaseReadOnly),
        (2, DatabaseMissing),
        (5, DiskFailed),
    ],
)
def test_every_system_error_has_a_message_and_the_path(number: int, kind: type[StoreError]):
    error = translate(OSError(number, os.strerror(number)), Path("/data/facts.db"))
    assert type(error) is kind
    assert "/data/facts.db" in str(error)
    assert "--db" in str(error)


async def test_a_read_sees_one_snapshot(database: Database, path: Path):
    other = sqlite3.connect(path, isolation_level=None)
    count = text("SELECT count(*) FROM storage")

    def twice(conn):
        before = conn.execute(count).scalar()
        other_now.execute("INSERT INTO storage VALUES ('a', 'b', x'00', 1)")
        return before, conn.execute(count).scalar()

    other_now = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    assert await database.read(twice) == (0, 0)
    assert other.execute("SELECT count(*) FROM storage").fetchone() == (1,)
    other.close()
    other_now.close()


async def test_a_read_cannot_write(database: Database):
    with pytest.raises(DatabaseReadOnly):
        await database.read(lambda conn: conn.execute(text("INSERT INTO storage VALUES ('a', 'b', x'00', 1)")))


async def test_concurrent_reads_each_get_their_result(database: Database):
    answers = await asyncio.gather(
        *(database.read(lambda conn, n=n: conn.scalar(text(f"SELECT {n}"))) for n in range(50))
    )
    assert answers == list(range(50))


def test_writing_connection_overwrites_what_is_deleted(path: Path, monkeypatch: pytest.MonkeyPatch):
    def connect_without(*given: object) -> sqlite3.Connection:
        driver = connect(*given)  # type: ignore[arg-type]
        driver.execute("PRAGMA secure_delete = OFF")  # as some builds of SQLite have it
        return driver

    connect = database_module.connect
    monkeypatch.setattr(database_module, "connect", connect_without)
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        assert conn.exec_driver_sql("PRAGMA secure_delete").scalar() == 1
    database.close()


def test_wal_is_emptied_unless_another_process_reads(path: Path):
    database = Database.open(path, write=True)
    log = path.with_name(f"{path.name}-wal")
    with database.writing_connection() as conn:
        conn.exec_driver_sql("INSERT INTO storage VALUES ('o', 'k', x'00', 1)")
        with sqlite3.connect(path) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM storage").fetchone()
            conn.exec_driver_sql("INSERT INTO storage VALUES ('o', 'l', x'00', 1)")
            assert not database.empty_wal()
            assert log.stat().st_size > 0
        reader.close()
        assert database.empty_wal()
        assert log.stat().st_size == 0
    database.close()


def test_rewritten_file_has_no_unused_pages_and_no_process_is_waited_for(path: Path):
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        conn.exec_driver_sql("CREATE TABLE filler (a)")
        conn.exec_driver_sql("INSERT INTO filler VALUES (zeroblob(1000000))")
        conn.exec_driver_sql("DROP TABLE filler")
        conn.exec_driver_sql("BEGIN IMMEDIATE")
        assert not database.rewrite()
        conn.exec_driver_sql("ROLLBACK")
    assert database.rewrite()
    database.empty_wal()
    assert path.stat().st_size < 1_000_000
    database.close()
