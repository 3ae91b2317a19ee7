"""Drives the console like a user: keys in, text of the screen out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets._toast import Toast, ToastHolder, ToastRack

from console.app import Trackside
from console.testing.quick_textual import settle_and_tick
from tests.support.engines import declares, done, said
from tests.support.limits import MAX_WAIT_SECONDS

WIDE, NARROW = (160, 45), (80, 24)
SIZES = [WIDE, NARROW]
POLL_SECONDS = 0.02
TOASTS = (Toast, ToastHolder, ToastRack)
at_both_sizes = pytest.mark.parametrize("size", SIZES, ids=["160x45", "80x24"])


class Cue:
    """Lets a runner continue one step at a time."""

    def __init__(self) -> None:
        self._steps: asyncio.Queue[None] = asyncio.Queue()

    def go(self) -> None:
        self._steps.put_nowait(None)

    async def wait(self) -> None:
        await self._steps.get()


def listener(cue: Cue, heard: list[str] | None = None, turns: int = 1) -> Any:
    """Make a runner that replies, pulls steering messages once per turn, and ends; each step waits for the cue."""

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
    """Start the app without a terminal and wait until it shows its session, or why it cannot.

    An open engine is not enough: the console reads the session after that, and shows new entries only then.
    """
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(
            pilot,
            lambda: app.controllers.drafts.is_open or (app.active_session.is_open and app.health.problem is not None),
        )
        yield pilot


async def say(pilot: Pilot[None], text: str) -> None:
    """Type text into the focused widget and press enter."""
    await pilot.press(*text, "enter")


async def paste(pilot: Pilot[Any], text: str) -> None:
    """Paste text into the focused widget, which is much faster than typing it."""
    assert pilot.app.focused is not None
    pilot.app.focused.post_message(Paste(text))
    await pilot.pause()


def shown(app: Any) -> str:
    """Return the text of the screen as if no toast covered it, followed by each toast in one line, unwrapped.

    A toast disappears by the real clock, so what it covers must not decide a test.
    """
    compositor = app.screen._compositor
    every = compositor.visible_widgets
    compositor._visible_widgets = {widget: place for widget, place in every.items() if not isinstance(widget, TOASTS)}
    try:
        strips = compositor.render_strips()
    finally:
        compositor._visible_widgets = None  # computed again when it is needed
    toasts = (toast._notification.message for toast in app.screen.query(Toast))
    return "\n".join(["".join(segment.text for segment in strip) for strip in strips] + [*toasts])


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Wait until the condition holds. Fails with the text of the screen if it does not.

    The condition is checked only when every pane shows what is new and the screen is laid out, so that a test can read
    any pane, its region and the focus right after it.
    """
    try:
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            await settle_and_tick(pilot.app)
            while not holds():
                await pilot.pause(POLL_SECONDS)
    except TimeoutError:
        raise AssertionError(f"the condition did not become true:\n{shown(pilot.app)}") from None


async def sees(pilot: Pilot[Any], *words: str) -> None:
    """Wait until all of these texts are on the screen at the same time."""
    await until(pilot, lambda: all(word in shown(pilot.app) for word in words))


async def becomes(pilot: Pilot[Any], ask: Callable[[], Awaitable[Any]], wanted: Any) -> None:
    """Wait until the engine returns this value."""
    answer = None
    try:
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            while (answer := await ask()) != wanted:
                await pilot.pause(POLL_SECONDS)
            await settle_and_tick(pilot.app)
    except TimeoutError:
        raise AssertionError(f"{answer!r} did not become {wanted!r}:\n{shown(pilot.app)}") from None


async def waiting(app: Trackside) -> list[tuple[str | None, str, str]]:
    """Return text, mode and fate of the queued messages, as the engine has them."""
    return [
        (item.text, str(item.mode), str(item.fate))
        for item in await app.active_session.engine.queue.list(app.active_session.session_id)
    ]


async def go_to(pilot: Pilot[None], app: Trackside, pane: str) -> None:
    """Press tab until this pane has the focus."""
    for _ in range(6):
        if app.main.where() == pane:
            return
        await pilot.press("tab")
    raise AssertionError(f"tab never leads to {pane}")


async def narrow(pilot: Pilot[None], app: Trackside, text: str) -> None:
    """Filter the stream and wait until every row that does not match is hidden."""
    await pilot.press("slash", *text, "enter")
    view = app.main.stream._view
    assert view is not None
    await until(pilot, lambda: view.timeline.is_filtered and view.timeline.progress is None)
