"""A sent message is visible from the moment of enter, even while it cannot be saved."""

import asyncio
from typing import Any

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.queue.items import sending_rows
from tests.support.console.database_lock import locked_database
from tests.support.console.pilot import (
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

Size = tuple[int, int]


@at_both_sizes
@pytest.mark.usefixtures("long_lock_timeout")
async def test_message_waiting_for_the_database_is_shown_as_sending(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        async with locked_database(open_engine.db):
            await say(pilot, "hello")
            await sees(pilot, "◌ sending… hello")
            await sees(pilot, "database locked, waiting for it")
            await pilot.press("up", "d")
            await sees(pilot, "This message is being saved")
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
