"""The first minute at the screen, with the real engine behind it and a runner that waits for the test."""

import asyncio
from typing import Any

from console.app import Trackside
from console.opening import Opening
from tests.console.driving import Cue, at_both_sizes, listener, shown, until
from tests.support import Engines


@at_both_sizes
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
        await until(pilot, lambda: "Then you said: be brief" in shown(app) and "injected" in shown(app))

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
