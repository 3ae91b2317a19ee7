"""A locked, full, damaged or missing database: the console says so, keeps typed text, and recovers."""

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
from tests.support.console.database_lock import locked_database
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, listener, say, sees, shown, until
from tests.support.engines import Engines


@pytest.fixture(autouse=True)
def short_lock_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers and writers soon give up on a locked database, and the console soon tries again."""
    monkeypatch.setattr("engine.store.database.BUSY_SECONDS", 0.1)
    defaults = Database.open.__func__.__kwdefaults__
    monkeypatch.setattr(Database.open.__func__, "__kwdefaults__", {**defaults, "busy": 0.1})
    monkeypatch.setattr(Writer.__init__, "__kwdefaults__", {"window_seconds": 0.004, "busy_seconds": 0.5})
    monkeypatch.setattr("console.data.active_session.RETRY_SECONDS", 0.1)
    monkeypatch.setattr("console.app.RETRY_SECONDS", 0.1)


def make_console(engines: Engines, cue: Cue) -> Trackside:
    return Trackside(LaunchOptions(), lambda: engines(listener(cue)))


async def test_lasting_lock_is_shown_and_the_message_returns_to_the_prompt(open_engine: Engines):
    cue = Cue()
    app = make_console(open_engine, cue)
    async with at_the_screen(app) as pilot:
        async with locked_database(open_engine.db):
            await say(pilot, "hello")
            await sees(pilot, "database locked, waiting for it", "Wait for it or end it, then try again")
            await until(pilot, lambda: app.main.prompt.text == "hello")
        await until(pilot, lambda: "database locked" not in shown(app))
        await pilot.press("enter")
        await sees(pilot, "You said: hello")


async def test_full_disk_is_shown_until_there_is_space(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = make_console(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        with monkeypatch.context() as patch:
            patch.setattr(Writer, "_execute_when_free", raise_disk_full)
            await say(pilot, "hello")
            await sees(pilot, "no space left on the disk", "Free some space")
            await until(pilot, lambda: app.main.prompt.text == "hello")
            await pilot.press("enter")
            await until(pilot, lambda: app.main.prompt.text == "hello" and not app.controllers.sender.sending)
            assert "no space left on the disk" in shown(app)
        await until(pilot, lambda: "no space left" not in shown(app))
        await pilot.press("enter")
        await sees(pilot, "You said: hello")


def raise_disk_full(self: Writer, *_: Any) -> None:
    """Raise what SQLite raises if the disk is full."""
    disk_full = sqlite3.OperationalError("database or disk is full")
    disk_full.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise disk_full


async def test_long_message_returns_to_the_prompt_if_the_disk_is_full(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    connect = Database._connect_to_write

    def connect_with_page_limit(database: Database) -> sqlite3.Connection:
        driver = connect(database)
        if app.active_session.is_open:
            driver.execute("PRAGMA max_page_count = 1")
        return driver

    monkeypatch.setattr(Database, "_connect_to_write", connect_with_page_limit)
    app = make_console(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        app.active_session.engine._core.host.writer._disconnect()  # type: ignore[union-attr]
        app.main.prompt.load(big := "x" * 300_000)
        await pilot.press("enter")
        await sees(pilot, "No space is left", "Free some space")
        await until(pilot, lambda: app.main.prompt.full_text == big)


def set_newer_schema(db: Path) -> None:
    with sqlite3.connect(db) as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
    other.close()


def restore_schema_version(db: Path) -> None:
    with sqlite3.connect(db) as other:
        other.execute("UPDATE alembic_version SET version_num = ?", (tables.SCHEMA_VERSION,))
    other.close()


def replace_with_garbage(db: Path) -> None:
    db.rename(db.with_suffix(".away"))
    db.write_bytes(b"this is not a database, but some other file" * 100)


def restore_file(db: Path) -> None:
    db.unlink()
    db.with_suffix(".away").rename(db)


def replace_folder_with_a_file(db: Path) -> None:
    db.parent.rename(db.parent.with_name("away"))
    db.parent.write_text("not a folder")


def restore_folder(db: Path) -> None:
    db.parent.unlink()
    db.parent.with_name("away").rename(db.parent)


@pytest.mark.parametrize(
    ("damage", "words", "repair"),
    [
        (set_newer_schema, ("newer Trackside", "was written by a newer"), restore_schema_version),
        (replace_with_garbage, ("database is damaged", "Move it"), restore_file),
        (replace_folder_with_a_file, ("--db",), restore_folder),
    ],
)
async def test_database_is_opened_as_soon_as_it_is_repaired(
    tmp_path: Path,
    open_engine: Engines,
    damage: Callable[[Path], None],
    words: tuple[str, ...],
    repair: Callable[[Path], None],
):
    (tmp_path / "folder").mkdir()
    open_engine.db = tmp_path / "folder" / "facts.db"
    engine = await open_engine(listener(Cue()))
    await open_engine.close(engine)
    damage(open_engine.db)
    app = make_console(open_engine, Cue())
    async with app.run_test(size=(80, 24)) as pilot:
        await sees(pilot, *words)
        await pilot.press(*"early", "enter")
        await until(pilot, lambda: app.main.prompt.text == "early")
        repair(open_engine.db)
        await until(pilot, lambda: app.active_session.is_open)
        await pilot.press("enter")
        await sees(pilot, "You said: early")
        assert not any(word in shown(app) for word in words)


async def test_interrupted_subscription_is_shown_and_resumed(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("console.data.active_session.RETRY_SECONDS", 0.1)
    cue = Cue()
    app = make_console(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        engine, error = app.active_session.engine, OSError("the line is dead")

        async def fail(*_: Any) -> Any:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(Engine, "last_row", fail)
            patch.setattr(engine._core.hub, "reread", fail)
            engine._core.hub.notify()
            await sees(pilot, "New entries cannot be read, trying again: the line is dead")
            await say(pilot, "be brief")
            cue.go()
        await sees(pilot, "Then you said: be brief")
        assert "the line is dead" not in shown(app)


async def test_repeated_error_is_shown_as_one_toast(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = make_console(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")

        async def fail_to_load(*_: Any, **__: Any) -> Any:
            raise OSError("it cannot be read")

        monkeypatch.setattr(app.controllers.inspector.loader, "load_tab", fail_to_load)
        for tab in ("state", "calls", "state", "calls", "context"):
            app.main.inspector.choose(tab)
            await pilot.pause()
        await sees(pilot, "it cannot be read")
        assert [toast.message for toast in app._notifications].count("✗ it cannot be read") == 1


async def test_draft_of_a_closed_console_is_restored_in_the_next_one(open_engine: Engines):
    one, other = make_console(open_engine, Cue()), make_console(open_engine, Cue())
    async with at_the_screen(one) as pilot:
        one.main.prompt.load("y" * 20_000)
        await pilot.press(*"half a")
        await until(pilot, lambda: any(open_engine.db.parent.glob("facts.db.draft-*")))
        async with other.run_test() as second:
            await until(second, lambda: other.active_session.is_open)
            assert other.main.prompt.text == "", "the draft belongs to the first console, which is still open"
    third = make_console(open_engine, Cue())
    async with at_the_screen(third) as pilot:
        await until(pilot, lambda: third.main.prompt.full_text == "y" * 20_000 + "half a")
        await pilot.press("enter")
        await sees(pilot, "You said: yyy")
    assert list(open_engine.db.parent.glob("facts.db.draft-*")) == []


@at_both_sizes
@pytest.mark.parametrize("when", ["at once", "after the lock is shown"])
async def test_message_sent_before_the_engine_is_open_is_shown_and_sent_later(
    open_engine: Engines,
    size: tuple[int, int],
    when: str,
):
    await open_engine.close(await open_engine(listener(Cue())))
    async with locked_database(open_engine.db) as release:
        app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
        async with app.run_test(size=size, notifications=True) as pilot:
            await sees(pilot, "Type a message")
            if when != "at once":
                await sees(pilot, "database locked")
            await say(pilot, "hello")
            await sees(pilot, "database locked", "sending… hello", "as soon as the engine is open")
            assert app.main.prompt.text == ""
            await release()
            await sees(pilot, "You said: hello")
            await until(pilot, lambda: "sending…" not in shown(app))
            assert app.main.prompt.text == ""


async def test_early_message_returns_to_the_prompt_if_the_engine_cannot_open(open_engine: Engines):
    may_open = asyncio.Event()

    async def fail_to_open() -> Any:
        await may_open.wait()
        raise OSError("the disk is gone")

    app = Trackside(LaunchOptions(), fail_to_open)
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        await sees(pilot, "Type a message")
        await say(pilot, "hello")
        await sees(pilot, "sending… hello")
        may_open.set()
        await sees(pilot, "the disk is gone", "The message is in the prompt again.")
        assert app.main.prompt.full_text == "hello"
        assert "sending…" not in shown(app)


async def test_failed_send_names_the_problem_of_the_database(open_engine: Engines):
    open_engine.db.write_bytes(b"this is not a database, but some other file" * 100)
    app = make_console(open_engine, Cue())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await sees(pilot, "database is damaged")
        await say(pilot, "early")
        await sees(pilot, "Not sent: database is damaged. The message is in the prompt again.")
        await pilot.press("ctrl+l")
        await sees(pilot, "The engine could not be opened: ", "Move it")
