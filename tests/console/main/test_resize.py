"""A terminal whose size never rests, under a run that never rests: the screen is always as if freshly drawn."""

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

STORM = 200
TINY = [(20, 5), (60, 15), (1, 1), (30, 8)]


def talker(words: asyncio.Queue[str | None]) -> Any:
    """Says what it is handed, a delta each, with tools and state between; ends with nothing."""

    @declares(capabilities={"steering": True})
    async def talks(ctx: Any):
        whole, number = "", 0
        while (word := await words.get()) is not None:
            whole, number = f"{whole} {word}", number + 1
            yield delta(whole)
            if number % 9 == 0:
                call = {"tool_call_id": f"c{number}", "tool_name": "look"}
                yield {"type": "tool.call.started", "data": {**call, "parameters": {"at": number}}}
                yield {"type": "tool.call.completed", "data": {**call, "result": {"saw": word}}}
                yield state_updated("words", number)
            if number % 25 == 0:
                yield said(whole)
                whole = ""
        yield done()
        await wait_forever()

    return talks


def rows(app: Trackside) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


def fresh(app: Trackside) -> list[str]:
    """What a drawing from nothing would show: no line that is kept is used."""
    for widget in app.screen.walk_children(with_self=True):
        widget.notify_style_update()
        widget.refresh(layout=True)
    app.screen._refresh_layout()
    return rows(app)


async def settled(pilot: Pilot[None], app: Trackside, words: "asyncio.Queue[str | None]") -> None:
    """All that was said is recorded, heard and drawn."""
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


async def test_after_a_storm_of_sizes_the_screen_is_as_if_freshly_drawn(open_engine: Engines):
    words: asyncio.Queue[str | None] = asyncio.Queue()
    app = Trackside(LaunchOptions(), lambda: open_engine(talker(words)))
    dice = random.Random(7)
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        for storm in range(STORM):
            words.put_nowait(f"word{storm}")
            size = Size(dice.randint(20, 220), dice.randint(5, 70))
            if storm % 20:
                # As a terminal does while someone drags its edge: nobody waits for what was drawn.
                app.post_message(Resize(size, size))
                await asyncio.sleep(0.002)
            else:
                await pilot.resize_terminal(*size)
            if storm % 40 == 39:
                await until(pilot, lambda size=size: app.main.size == size)
                await settled(pilot, app, words)
                assert rows(app) == fresh(app)
        assert [pane for pane in app.main.guarded if pane.failure is not None] == []
        await pilot.resize_terminal(160, 45)
        words.put_nowait("the_end")
        words.put_nowait(None)
        await sees(pilot, "the_end", "completed")
        await settled(pilot, app, words)
        assert rows(app) == fresh(app)


async def test_tiny_screens_work(open_engine: Engines):
    words: asyncio.Queue[str | None] = asyncio.Queue()
    app = Trackside(LaunchOptions(), lambda: open_engine(talker(words)))
    async with at_the_screen(app, TINY[0]) as pilot:
        await say(pilot, "hello")
        await until(pilot, lambda: app.services.updater.view is not None)
        for size in TINY:
            await pilot.resize_terminal(*size)
            words.put_nowait("hi")
            await pilot.press("tab", "f1", "escape", "ctrl+p", "escape", "2", "3", "4", "escape", "escape")
            await until(pilot, lambda size=size: app.screen is app.main and app.main.size == size)
            assert {len(row) for row in rows(app)} == {size[0]}
            assert [pane for pane in app.main.guarded if pane.failure is not None] == []
        words.put_nowait(None)
        await until(pilot, lambda: app.services.updater.view is not None and app.services.updater.view.status.is_over)
