"""The first minute at the screen, with the real engine behind it and a runner that waits for the test."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import Trackside
from console.opening import Opening
from tests.support import Engines, declares, done, said

SIZES = [(160, 45), (80, 24)]


class Cue:
    """Lets the runner go on, a step at a time."""

    def __init__(self) -> None:
        self._steps: asyncio.Queue[None] = asyncio.Queue()

    def go(self) -> None:
        self._steps.put_nowait(None)

    async def wait(self) -> None:
        await self._steps.get()


def listener(cue: Cue) -> Any:
    @declares(capabilities={"steering": True})
    async def listens(ctx: Any):
        yield said(f"You said: {ctx.input.to_text()}")
        await cue.wait()
        pulled = await ctx.api.steering_pull()
        for item in pulled.items:
            yield said(f"Then you said: {item.input.to_text()}")
        await cue.wait()
        yield done()

    return listens


def shown(app: Trackside) -> str:
    """What stands on the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait for what must come; fails by itself where it does not."""
    async with asyncio.timeout(20):
        while not holds():
            await pilot.pause(0.02)


@pytest.mark.parametrize("size", SIZES, ids=["160x45", "80x24"])
async def test_a_newcomer_sends_steers_and_sees_it_land(open_engine: Engines, size: tuple[int, int]):
    cue = Cue()
    app = Trackside(Opening(), lambda: open_engine(listener(cue)))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.stage.is_open)
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: "You said: hello" in shown(app))
        assert "running" in shown(app)

        await pilot.press(*"be brief", "enter")
        await until(pilot, lambda: "be brief" in shown(app) and "1 queued" in shown(app))

        cue.go()
        await until(pilot, lambda: "Then you said: be brief" in shown(app))
        assert "injected" in shown(app)

        cue.go()
        await until(pilot, lambda: "completed" in shown(app))


async def test_stopping_gives_back_what_was_not_delivered(open_engine: Engines):
    app = Trackside(Opening(), lambda: open_engine(listener(Cue())))
    async with app.run_test(size=(160, 45)) as pilot:
        await until(pilot, lambda: app.stage.is_open)
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: "You said: hello" in shown(app))
        await pilot.press(*"too late", "enter")
        await until(pilot, lambda: "1 queued" in shown(app))
        await pilot.press("f8")
        await until(pilot, lambda: "stopped by you" in shown(app))
        await until(pilot, lambda: "dropped" in shown(app))
        assert "too late" in shown(app)


async def test_keys_typed_before_the_engine_is_there_are_kept(open_engine: Engines):
    loaded = asyncio.Event()

    async def slowly() -> Any:
        await loaded.wait()
        return await open_engine(listener(Cue()))

    app = Trackside(Opening(), slowly)
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.press(*"early", "enter", *"bird")
        loaded.set()
        await until(pilot, lambda: "You said: early" in shown(app))
        assert app.main.prompt.text == "bird"


async def test_what_cannot_be_opened_is_said_and_the_screen_lives():
    async def broken() -> Any:
        raise OSError("the database is on the moon [/b]")

    app = Trackside(Opening(), broken)
    async with app.run_test(size=(160, 45)) as pilot:
        await until(pilot, lambda: "on the moon" in shown(app))
        await pilot.press(*"still typing")
        assert app.main.prompt.text == "still typing"
