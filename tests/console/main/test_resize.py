"""Resizing the terminal during a run: the screen is always the same as if drawn from scratch."""

import asyncio
import random
from typing import Any

import pytest
from textual.events import Resize
from textual.geometry import Size
from textual.pilot import Pilot

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import at_the_screen, say, sees, until
from tests.support.engines import Engines, declares, delta, done, said, state_updated, wait_forever

pytestmark = pytest.mark.usefixtures("every_frame")

RESIZES = 200
TINY_SIZES = [(20, 5), (60, 15), (1, 1), (30, 8)]


def word_sender(words: asyncio.Queue[str | None]) -> Any:
    """Make a runner that sends each word of the queue as a delta, with tool calls and state between, until None."""

    @declares(capabilities={"steering": True})
    async def sends_words(ctx: Any):
        text, number = "", 0
        while (word := await words.get()) is not None:
            text, number = f"{text} {word}", number + 1
            yield delta(text)
            if number % 9 == 0:
                call = {"tool_call_id": f"c{number}", "tool_name": "look"}
                yield {"type": "tool.call.started", "data": {**call, "parameters": {"at": number}}}
                yield {"type": "tool.call.completed", "data": {**call, "result": {"saw": word}}}
                yield state_updated("words", number)
            if number % 25 == 0:
                yield said(text)
                text = ""
        yield done()
        await wait_forever()

    return sends_words


def rows(app: Trackside) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


def rows_drawn_again(app: Trackside) -> list[str]:
    """Draw every widget again without cached lines, and return the rows."""
    for widget in app.screen.walk_children(with_self=True):
        widget.notify_style_update()
        widget.refresh(layout=True)
    app.screen._refresh_layout()
    return rows(app)


async def wait_until_settled(pilot: Pilot[None], app: Trackside, words: "asyncio.Queue[str | None]") -> None:
    """Wait until every word is recorded, read and drawn."""
    await until(pilot, words.empty)
    view = app.services.updater.view
    assert view is not None
    while (
        view.status.entries != await app.active_session.engine.runs.last_position(view.run_id)
        or app.services.updater._reads
    ):
        await pilot.pause(0.05)
    drawn: list[str] = []
    while drawn != (drawn := rows(app)):
        await pilot.pause(0.1)


async def test_screen_is_correct_after_many_fast_resizes(open_engine: Engines):
    words: asyncio.Queue[str | None] = asyncio.Queue()
    app = Trackside(LaunchOptions(), lambda: open_engine(word_sender(words)))
    rng = random.Random(7)
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        for number in range(RESIZES):
            words.put_nowait(f"word{number}")
            size = Size(rng.randint(20, 220), rng.randint(5, 70))
            if number % 20:
                # As if a user drags the edge of the terminal: the next size comes before the last one is drawn.
                app.post_message(Resize(size, size))
                await asyncio.sleep(0.002)
            else:
                await pilot.resize_terminal(*size)
            if number % 40 == 39:
                await until(pilot, lambda size=size: app.main.size == size)
                await wait_until_settled(pilot, app, words)
                assert rows(app) == rows_drawn_again(app)
        assert [pane for pane in app.main.guarded if pane.failure is not None] == []
        await pilot.resize_terminal(160, 45)
        words.put_nowait("the_end")
        words.put_nowait(None)
        await sees(pilot, "the_end", "completed")
        await wait_until_settled(pilot, app, words)
        assert rows(app) == rows_drawn_again(app)


async def test_console_works_in_tiny_terminals(open_engine: Engines):
    words: asyncio.Queue[str | None] = asyncio.Queue()
    app = Trackside(LaunchOptions(), lambda: open_engine(word_sender(words)))
    async with at_the_screen(app, TINY_SIZES[0]) as pilot:
        await say(pilot, "hello")
        await until(pilot, lambda: app.services.updater.view is not None)
        for size in TINY_SIZES:
            await pilot.resize_terminal(*size)
            words.put_nowait("hi")
            await pilot.press("tab", "f1", "escape", "ctrl+p", "escape", "2", "3", "4", "escape", "escape")
            await until(pilot, lambda size=size: app.screen is app.main and app.main.size == size)
            assert {len(row) for row in rows(app)} == {size[0]}
            assert [pane for pane in app.main.guarded if pane.failure is not None] == []
        words.put_nowait(None)
        await until(pilot, lambda: app.services.updater.view is not None and app.services.updater.view.status.is_over)
