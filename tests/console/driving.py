"""Drives the console as a person would: keys go in, and what stands on the screen comes out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from console.app import Trackside
from tests.support import declares, done, said

WIDE, NARROW = (160, 45), (80, 24)
SIZES = [WIDE, NARROW]
PATIENCE = 20.0
"""Seconds after which a screen is not slow but stuck."""
at_both_sizes = pytest.mark.parametrize("size", SIZES, ids=["160x45", "80x24"])


class Cue:
    """Lets the runner go on, a step at a time."""

    def __init__(self) -> None:
        self._steps: asyncio.Queue[None] = asyncio.Queue()

    def go(self) -> None:
        self._steps.put_nowait(None)

    async def wait(self) -> None:
        await self._steps.get()


def listener(cue: Cue, heard: list[str] | None = None, turns: int = 1) -> Any:
    """A runner that answers, then listens once a turn, each on cue, and ends on the last cue."""

    @declares(capabilities={"steering": True})
    async def listens(ctx: Any):
        yield said(f"You said: {ctx.input.to_text()}")
        for _ in range(turns):
            await cue.wait()
            pulled = await ctx.api.steering_pull()
            for item in pulled.items:
                if heard is not None:
                    heard.append(item.input.to_text())
                yield said(f"Then you said: {item.input.to_text()}")
        await cue.wait()
        yield done()

    return listens


@asynccontextmanager
async def at_the_screen(app: Trackside, size: tuple[int, int] = WIDE) -> AsyncIterator[Pilot[None]]:
    """The app with its engine open; the rest is typed."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.stage.is_open)
        yield pilot


async def say(pilot: Pilot[None], text: str) -> None:
    """Type this into what has the focus, and press Enter."""
    await pilot.press(*text, "enter")


def shown(app: Any) -> str:
    """What stands on the screen; toasts once more below, in one line each however they were wrapped."""
    strips = app.screen._compositor.render_strips()
    toasts = (toast._notification.message for toast in app.screen.query(Toast))
    return "\n".join(["".join(segment.text for segment in strip) for strip in strips] + [*toasts])


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Wait for what must come; where it does not, the screen tells what came instead."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await pilot.pause(0.02)
    except TimeoutError:
        raise AssertionError(f"it never came to this:\n{shown(pilot.app)}") from None


async def sees(pilot: Pilot[Any], *words: str) -> None:
    """Wait until all of these words are on the screen at once."""
    await until(pilot, lambda: all(word in shown(pilot.app) for word in words))


async def becomes(pilot: Pilot[Any], ask: Callable[[], Awaitable[Any]], wanted: Any) -> None:
    """Wait until the engine gives this answer."""
    answer = None
    try:
        async with asyncio.timeout(PATIENCE):
            while (answer := await ask()) != wanted:
                await pilot.pause(0.02)
    except TimeoutError:
        raise AssertionError(f"{answer!r} never became {wanted!r}:\n{shown(pilot.app)}") from None


async def waiting(app: Trackside) -> list[tuple[str | None, str, str]]:
    """Text, mode and fate of what waits, as the engine has it."""
    return [(item.text, str(item.mode), str(item.fate)) for item in await app.stage.engine.queue(app.stage.session)]


async def go_to(pilot: Pilot[None], app: Trackside, pane: str) -> None:
    """Tab until a pane has the focus."""
    for _ in range(6):
        if app.main.where() == pane:
            return
        await pilot.press("tab")
    raise AssertionError(f"tab never leads to {pane}")


async def narrow(pilot: Pilot[None], app: Trackside, text: str) -> None:
    """Filter the stream by this, and wait until all that it hides is hidden."""
    await pilot.press("slash", *text, "enter")
    look = app.main.stream._look
    assert look is not None
    await until(pilot, lambda: look.timeline.is_hiding and look.timeline.progress is None)
