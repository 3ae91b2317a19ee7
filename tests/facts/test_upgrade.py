"""A database of an older Trackside is brought up with all it holds, or left as it was."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, insert

from engine.facts import migrations, retention, runs, search, settings, tables, transcript
from engine.facts.database import Database
from engine.facts.errors import DatabaseOlder, FactsError
from engine.facts.rows import Place
from tests.facts.samples import found, run, said, sound

TALK, OTHER = Place("talk"), Place("other")


@pytest.fixture
def old(path: Path) -> Path:
    """A database as the first release left it, with lines in it."""
    engine = create_engine(f"sqlite:///{path}")
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent).replace("%", "%%"))
    with engine.begin() as conn:
        config.attributes["connection"] = conn
        command.upgrade(config, "0001")
        columns = tables.transcript.columns.keys()
        for number in range(search.BATCH + 5):
            content = {0: "the train at midnight", 1: "今天天气很好", 2: None}.get(number, f"line {number}")
            line = said(number, content, (TALK, OTHER)[number % 2], metadata={}, artifact_refs=[])
            conn.execute(
                insert(tables.transcript).values({name: getattr(line, name) for name in columns if name != "seq"})
            )
    engine.dispose()
    return path


def contents(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as driver:
        return list(driver.iterdump())


def test_an_older_database_is_upgraded_and_its_lines_are_found(old: Path):
    assert not [line for line in contents(old) if "fts5" in line]
    Database.open(old, write=True).close()

    database = Database.open(old, write=True)
    with database.writing_connection() as conn:
        assert found(conn, "mid") == ["the train at midnight"]
        assert found(conn, "天气", OTHER) == ["今天天气很好"]
        assert found(conn, "天气", TALK) == []
        assert found(conn, f"line {search.BATCH + 4}", None) == [f"line {search.BATCH + 4}"]
        assert search.find(conn, "line", None)[1] == 1_000
        assert sound(conn)
        transcript.append(conn, said(9_999, "midnight again"))
        assert found(conn, "midnight") == ["midnight again", "the train at midnight"]
        retention.prune(conn, 10_000, 10_000, event_id="audit")
        assert found(conn, "midnight", None) == []
        assert sound(conn)
    assert database.integrity() == []
    database.close()


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(old: Path):
    with closing(sqlite3.connect(old)) as driver:
        # In the way of the last statement, when the index is made and filled.
        driver.execute("CREATE TRIGGER transcript_deleted AFTER DELETE ON hosts BEGIN SELECT 1; END")
    before = contents(old)

    with pytest.raises(FactsError, match="transcript_deleted already exists"):
        Database.open(old, write=True)

    assert contents(old) == before
    with closing(sqlite3.connect(old)) as driver:
        assert driver.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]
        driver.execute("DROP TRIGGER transcript_deleted")
    Database.open(old, write=True).close()


def test_a_database_without_settings_gets_them_and_keeps_its_runs(path: Path):
    engine = create_engine(f"sqlite:///{path}")
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent).replace("%", "%%"))
    with engine.begin() as conn:
        config.attributes["connection"] = conn
        command.upgrade(config, "0002")
        runs.create(conn, run("run_1", at=5))
    engine.dispose()

    with pytest.raises(DatabaseOlder, match="is of an older Trackside"):
        Database.open(path, write=False)
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        assert runs.last_used(conn, [("plugin:a/b/c", None)]) == {("plugin:a/b/c", None): 5}
        settings.put(conn, ("agent", ""), {"config": {}}, at=1)
        assert list(settings.every(conn)) == [("agent", "")]
    assert database.integrity() == []
    database.close()
