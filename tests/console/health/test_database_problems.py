"""A database that is locked, full, foreign or not there: it is said in words, nothing typed is lost, and it passes."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from engine.api import Engine
from engine.store import tables
from engine.store.database import Database
from engine.store.writer import Writer
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, listener, say, sees, shown, until
from tests.support.engines import Engines
from tests.support.faults.faults import other_process, read_line
from tests.support.faults.faults import write_line as tell

LOCKER = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.readline()
held.execute("ROLLBACK")
"""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for a lock gives up after a moment."""
    monkeypatch.setattr("engine.store.database.BUSY_SECONDS", 0.1)
    monkeypatch.setattr(Database.open.__func__, "__kwdefaults__", {"synchronous": "NORMAL", "busy": 0.1})
    monkeypatch.setattr(Writer.__init__, "__kwdefaults__", {"window_seconds": 0.004, "busy_seconds": 0.5})
    monkeypatch.setattr("console.app.RETRY_SECONDS", 0.1)


@pytest.fixture
def locker(tmp_path: Path) -> Any:
    """Holds the write lock of a database in another process until it is told to let go."""
    script = tmp_path / "locker.py"
    script.write_text(LOCKER)
    return lambda db: other_process(script, db)


def opened(engines: Engines, cue: Cue) -> Trackside:
    return Trackside(LaunchOptions(), lambda: engines(listener(cue)))


async def test_a_lock_that_lasts_is_said_and_what_was_sent_comes_back(open_engine: Engines, locker: Any):
    cue = Cue()
    app = opened(open_engine, cue)
    async with at_the_screen(app) as pilot:
        with locker(open_engine.db) as other:
            assert await asyncio.to_thread(read_line, other) == "locked"
            await say(pilot, "hello")
            await sees(pilot, "database locked, waiting for it", "Wait for it or end it, then try again")
            await until(pilot, lambda: app.main.prompt.text == "hello")
            tell(other)
            await asyncio.to_thread(other.wait)
        await until(pilot, lambda: "database locked" not in shown(app))
        await pilot.press("enter")
        await sees(pilot, "You said: hello")


async def test_a_full_disk_is_said_as_long_as_it_is_full(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = opened(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        with monkeypatch.context() as patch:
            patch.setattr(Writer, "_execute_when_free", full)
            await say(pilot, "hello")
            await sees(pilot, "no space left on the disk", "Free some space")
            await until(pilot, lambda: app.main.prompt.text == "hello")
            await pilot.press("enter")
            await until(pilot, lambda: app.main.prompt.text == "hello" and not app.controllers.sender.sending)
            assert "no space left on the disk" in shown(app)
        await until(pilot, lambda: "no space left" not in shown(app))
        await pilot.press("enter")
        await sees(pilot, "You said: hello")


def full(self: Writer, *_: Any) -> None:
    """What SQLite says where a page finds no place."""
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise error


async def test_a_message_that_finds_no_room_comes_back_whole(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    connect = Database._connect_to_write

    def limited(database: Database) -> sqlite3.Connection:
        driver = connect(database)
        if app.active_session.is_open:
            driver.execute("PRAGMA max_page_count = 1")
        return driver

    monkeypatch.setattr(Database, "_connect_to_write", limited)
    app = opened(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        app.active_session.engine._core.host.writer._disconnect()  # type: ignore[union-attr]
        app.main.prompt.load(big := "x" * 300_000)
        await pilot.press("enter")
        await sees(pilot, "no space is left", "Free some space")
        await until(pilot, lambda: app.main.prompt.full_text == big)


def make_newer(db: Path) -> None:
    with sqlite3.connect(db) as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
    other.close()


def make_older(db: Path) -> None:
    with sqlite3.connect(db) as other:
        other.execute("UPDATE alembic_version SET version_num = ?", (tables.SCHEMA_VERSION,))
    other.close()


def make_nonsense(db: Path) -> None:
    db.rename(db.with_suffix(".away"))
    db.write_bytes(b"this is no database at all, it is a letter to a friend" * 100)


def bring_back(db: Path) -> None:
    db.unlink()
    db.with_suffix(".away").rename(db)


def make_a_file_of_its_folder(db: Path) -> None:
    db.parent.rename(db.parent.with_name("away"))
    db.parent.write_text("no folder")


def make_the_folder(db: Path) -> None:
    db.parent.unlink()
    db.parent.with_name("away").rename(db.parent)


@pytest.mark.parametrize(
    ("break_it", "words", "mend"),
    [
        (make_newer, ("newer Trackside", "was written by a newer"), make_older),
        (make_nonsense, ("database is damaged", "Move it"), bring_back),
        (make_a_file_of_its_folder, ("--db",), make_the_folder),
    ],
)
async def test_what_cannot_be_opened_is_opened_as_soon_as_it_can(
    tmp_path: Path,
    open_engine: Engines,
    break_it: Callable[[Path], None],
    words: tuple[str, ...],
    mend: Callable[[Path], None],
):
    (tmp_path / "folder").mkdir()
    open_engine.db = tmp_path / "folder" / "facts.db"
    engine = await open_engine(listener(Cue()))
    await open_engine.close(engine)
    break_it(open_engine.db)
    app = opened(open_engine, Cue())
    async with app.run_test(size=(80, 24)) as pilot:
        await sees(pilot, *words)
        await pilot.press(*"early", "enter")
        await until(pilot, lambda: app.main.prompt.text == "early")
        mend(open_engine.db)
        await until(pilot, lambda: app.active_session.is_open)
        await pilot.press("enter")
        await sees(pilot, "You said: early")
        assert not any(word in shown(app) for word in words)


async def test_news_that_break_off_are_said_and_heard_again(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("console.data.active_session.RETRY_SECONDS", 0.1)
    cue = Cue()
    app = opened(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        engine, broken = app.active_session.engine, OSError("the line is dead")

        async def dead(*_: Any) -> Any:
            raise broken

        with monkeypatch.context() as patch:
            patch.setattr(Engine, "last_row", dead)
            patch.setattr(engine._core.hub, "reread", dead)
            engine._core.hub.notify()
            await sees(pilot, "New entries cannot be read, trying again: the line is dead")
            await say(pilot, "be brief")
            cue.go()
        await sees(pilot, "Then you said: be brief")
        assert "the line is dead" not in shown(app)


async def test_the_same_trouble_is_one_toast(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = opened(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")

        async def broken(*_: Any, **__: Any) -> Any:
            raise OSError("it cannot be read")

        monkeypatch.setattr(app.controllers.inspector.loader, "load_tab", broken)
        for tab in ("state", "calls", "state", "calls", "context"):
            app.main.inspector.choose(tab)
            await pilot.pause()
        await sees(pilot, "it cannot be read")
        assert [toast.message for toast in app._notifications].count("✗ it cannot be read") == 1


async def test_what_a_process_left_in_its_prompt_is_in_the_next_one(open_engine: Engines):
    one, other = opened(open_engine, Cue()), opened(open_engine, Cue())
    async with at_the_screen(one) as pilot:
        one.main.prompt.load("y" * 20_000)
        await pilot.press(*"half a")
        await until(pilot, lambda: any(open_engine.db.parent.glob("facts.db.draft-*")))
        async with other.run_test() as second:
            await until(second, lambda: other.active_session.is_open)
            assert other.main.prompt.text == "", "the first lives: it is still its own"
    third = opened(open_engine, Cue())
    async with at_the_screen(third) as pilot:
        await until(pilot, lambda: third.main.prompt.full_text == "y" * 20_000 + "half a")
        await pilot.press("enter")
        await sees(pilot, "You said: yyy")
    assert list(open_engine.db.parent.glob("facts.db.draft-*")) == []


@at_both_sizes
@pytest.mark.parametrize("when", ["early", "when it is said that it is locked"])
async def test_what_is_sent_early_waits_in_view_and_is_sent_as_soon_as_the_engine_opens(
    open_engine: Engines,
    locker: Any,
    size: tuple[int, int],
    when: str,
):
    await open_engine.close(await open_engine(listener(Cue())))
    with locker(open_engine.db) as other:
        assert await asyncio.to_thread(read_line, other) == "locked"
        app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
        async with app.run_test(size=size, notifications=True) as pilot:
            await sees(pilot, "Type a message")
            if when != "early":
                await sees(pilot, "database locked")
            await say(pilot, "hello")
            await sees(pilot, "database locked", "sending… hello", "as soon as the engine is open")
            assert app.main.prompt.text == ""
            tell(other)
            await asyncio.to_thread(other.wait)
            await sees(pilot, "You said: hello")
            await until(pilot, lambda: "sending…" not in shown(app))
            assert app.main.prompt.text == ""


async def test_where_waiting_does_not_mend_it_what_was_sent_early_comes_back_with_a_word(open_engine: Engines):
    opens = asyncio.Event()

    async def cannot() -> Any:
        await opens.wait()
        raise OSError("the disk is gone")

    app = Trackside(LaunchOptions(), cannot)
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        await sees(pilot, "Type a message")
        await say(pilot, "hello")
        await sees(pilot, "sending… hello")
        opens.set()
        await sees(pilot, "the disk is gone", "Not sent, and back in the prompt")
        assert app.main.prompt.full_text == "hello"
        assert "sending…" not in shown(app)


async def test_what_cannot_be_sent_says_what_is_wrong_with_the_database(open_engine: Engines):
    open_engine.db.write_bytes(b"this is no database at all, it is a letter to a friend" * 100)
    app = opened(open_engine, Cue())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await sees(pilot, "database is damaged")
        await say(pilot, "early")
        await sees(pilot, "Not sent, and back in the prompt: database is damaged")
        await pilot.press("ctrl+l")
        await sees(pilot, "The engine could not be opened: ", "Move it")
