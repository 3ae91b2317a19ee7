"""A sent message is visible from the moment of enter, even while it cannot be saved."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.queue.items import sending_rows
from engine.store.database import Database
from engine.store.writer import Writer
from tests.console.health.test_database_problems import LOCKER
from tests.support.console.pilot import (
    MAX_WAIT_SECONDS,
    Cue,
    at_both_sizes,
    at_the_screen,
    listener,
    say,
    sees,
    shown,
    until,
)
from tests.support.engines import Engines
from tests.support.faults.faults import other_process, read_line
from tests.support.faults.faults import write_line as tell

Size = tuple[int, int]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writers retry a locked database often and without a limit."""
    monkeypatch.setattr("engine.store.database.BUSY_SECONDS", 0.1)
    monkeypatch.setattr(Database.open.__func__, "__kwdefaults__", {"synchronous": "NORMAL", "busy": 0.1})
    monkeypatch.setattr(
        Writer.__init__, "__kwdefaults__", {"window_seconds": 0.004, "busy_seconds": 2 * MAX_WAIT_SECONDS}
    )


@at_both_sizes
@pytest.mark.usefixtures("patient")
async def test_message_waiting_for_the_database_is_shown_as_sending(open_engine: Engines, tmp_path: Path, size: Size):
    (script := tmp_path / "locker.py").write_text(LOCKER)
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        with other_process(script, open_engine.db) as other:
            assert await asyncio.to_thread(read_line, other) == "locked"
            await say(pilot, "hello")
            await sees(pilot, "◌ sending… hello")
            await sees(pilot, "database locked, waiting for it")
            await pilot.press("up", "d")
            await sees(pilot, "This message is being saved")
            tell(other)
            await asyncio.to_thread(other.wait)
        await sees(pilot, "You said: hello")
        await until(pilot, lambda: "sending…" not in shown(app))
        await until(pilot, lambda: app.main.where() == "prompt")


async def test_message_sent_before_the_engine_is_open_is_shown_at_once(open_engine: Engines):
    opens = asyncio.Event()

    async def slowly() -> Any:
        await opens.wait()
        return await open_engine(listener(Cue()))

    app = Trackside(LaunchOptions(), slowly)
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        await sees(pilot, "Conversation")
        await say(pilot, "hello")
        await sees(pilot, "◌ sending… hello", "as soon as the engine is open")
        opens.set()
        await sees(pilot, "You said: hello")
        await until(pilot, lambda: "sending…" not in shown(app))


def test_sending_texts_are_safe_and_on_one_line():
    (one,) = sending_rows(["two\nlines \x1b[31m"], "not on disk yet")

    assert "\n" not in one.text
    assert "\x1b" not in one.text
    assert not one.is_editable
