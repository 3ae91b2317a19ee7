"""Drives the real console on a real engine, with a clock and a tick that only the test advances."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from textual import events
from textual._context import visible_screen_stack
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.timer import Timer

from console.app import Trackside
from console.data.active_session import OpenEngine
from console.launch import LaunchOptions
from console.testing import quick_textual
from console.testing.clock_and_ids import CountingIds, FakeClock
from engine.api import Engine

NEVER_SECONDS: Final = 1_000_000.0
MAX_WAIT_SECONDS: Final = 30.0
"""After this time a condition will never become true, however busy the machine is."""

POLL_SECONDS: Final = 0.005
CONTINUE_KEY: Final = "f6"

Steps = Callable[["ConsoleDriver"], Awaitable[None]]


class DrivenConsole(Trackside):
    """The console with a tick that only its driver triggers."""

    def __init__(self, options: LaunchOptions, open_engine: OpenEngine) -> None:
        super().__init__(options, open_engine)
        self.animation_level = "none"
        self.is_ticking = False
        """True once the console has started its tick, which is when it begins to show the engine's entries."""
        self.received_entries = 0
        """Number of entries that the engine has announced to the console."""

    def set_interval(self, interval: float, callback: Any = None, **details: Any) -> Timer:  # noqa: ARG002
        """Start the timer with an interval that never ends, so that nothing happens unless the driver triggers it."""
        self.is_ticking = self.is_ticking or callback == self._tick
        return super().set_interval(NEVER_SECONDS, callback, **details)

    def tick(self) -> None:
        """Show everything that was announced since the last tick."""
        self.received_entries += len(self.active_session._new_entries)
        self._tick()


class ConsoleDriver:
    """Uses one console as a user does, and waits for conditions. The clock stands still unless the test advances it."""

    def __init__(self, options: LaunchOptions) -> None:
        self.clock = FakeClock()
        self.ids = CountingIds()
        self.app = self.make_app(options)
        self._options = options
        self._first_row = 0
        """Last journal row that existed before the console opened."""

    # Opening

    def make_app(self, options: LaunchOptions) -> DrivenConsole:
        """Make the app; it is not started."""
        return DrivenConsole(options, self.open_engine)

    async def make_engine(self) -> Engine:
        """Open the engine that the console uses."""
        return await Engine.open(self._options.target, db=self._options.db, clock=self.clock, ids=self.ids)

    async def open_engine(self) -> Engine:
        """Open the engine in the console's event loop, and note what it has recorded before."""
        engine = await self.make_engine()
        await self.flush(engine)
        self._first_row = await engine.last_row()
        return engine

    async def wait_until_open(self) -> None:
        """Wait until the engine is open or the console shows why it is not."""
        session, health = self.app.active_session, self.app.health
        await self.wait_until(
            lambda: self.is_ready or health.problem is not None or session.upgrade_percent is not None
        )
        await self.wait_until_settled()

    @property
    def is_ready(self) -> bool:
        return self.app.is_ticking

    def run_before_picture(self, steps: Steps) -> Callable[[Pilot[Any]], Awaitable[None]]:
        """Make the function that brings the started app to the state of the picture, for `snap_compare`."""

        async def bring_to_state(_: Pilot[Any]) -> None:
            await self.wait_until_open()
            await steps(self)
            await self.wait_until_settled()

        return bring_to_state

    # Input

    async def press(self, *keys: str) -> None:
        """Press keys, given by name or as characters. Faster than the pilot, which waits for an idle processor."""
        for key in keys:
            name = _character_to_key(key) if len(key) == 1 else key
            self.app.post_message(events.Key(name, key if len(key) == 1 else None))
            await self.wait_until_drawn()
        await self.tick()

    async def paste_text(self, text: str) -> None:
        """Paste into the prompt, which shows the same as typing and takes less time."""
        self.app.main.prompt.post_message(events.Paste(text))
        await self.wait_until_drawn()

    async def submit_text(self, text: str) -> None:
        """Paste into the prompt and press enter."""
        await self.paste_text(text)
        await self.press("enter")
        await self.wait_until(lambda: not self.app.controllers.sender.sending)

    async def focus_pane(self, name: str) -> None:
        """Press tab until this pane has the focus."""
        for _ in self.app.main.panes:
            if self.app.main.where() == name:
                return
            await self.press("tab")
        raise AssertionError(f"tab does not lead to {name}; the panes are {', '.join(self.app.main.panes)}")

    def advance_clock(self, seconds: float) -> None:
        """Let time pass, and call the timers of the engine that are due."""
        self.clock.advance(seconds)

    # Screen

    @property
    def screen_text(self) -> str:
        """The text of the screen, with a line break after each row."""
        visible_screen_stack.set(self.app._background_screens)  # the screens under a dialog are drawn once and cached
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    @property
    def entry_count(self) -> int:
        """Number of entries of the run that is shown."""
        view = self.app.services.updater.view
        return 0 if view is None else view.status.entries

    async def wait_until(self, condition: Callable[[], bool] | str) -> None:
        """Tick until the condition holds, or until the text is on the screen."""
        holds = condition if callable(condition) else lambda: condition in self.screen_text
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                while not holds():
                    await asyncio.sleep(POLL_SECONDS)
                    if self.is_ready:
                        self.app.tick()
                await self.wait_until_drawn()
        except TimeoutError:
            raise AssertionError(f"{condition!r} did not become true; on the screen:\n{self.screen_text}") from None

    async def wait_for_run_end(self) -> None:
        """Wait until no run is in progress or about to start, and the end of the run that is shown is on the screen."""
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await self.app.active_session.engine.runs.wait_until_idle()
        except TimeoutError:
            raise AssertionError(f"the run did not end; on the screen:\n{self.screen_text}") from None
        await self.wait_until_received()
        await self.wait_until(lambda: (view := self.app.services.updater.view) is not None and view.status.is_over)
        await self._show_all()

    async def wait_for_pause(self) -> None:
        """Wait until the run that is shown is paused."""
        await self.wait_until(lambda: self.app.services.situation.is_paused)

    async def continue_run(self) -> None:
        """Press the key that continues a paused run, and wait until the run has left this pause."""
        view, runs = self.app.services.updater.view, self.app.active_session.engine.runs
        pause = None if view is None else await runs.current_pause(view.run_id)
        if view is None or pause is None:
            raise AssertionError(f"no run is paused; on the screen:\n{self.screen_text}")
        await self.press(CONTINUE_KEY)
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            while await runs.current_pause(view.run_id) is pause:  # noqa: ASYNC110  (the engine has no event for it)
                await asyncio.sleep(POLL_SECONDS)
        await self.wait_until_received()

    async def set_breakpoint(self, when: str) -> None:
        """Set a breakpoint in the run that is shown."""
        view = self.app.services.updater.view
        assert view is not None, "no run is shown yet"
        await self.app.active_session.engine.breakpoints.set(view.run_id, when)

    async def tick(self) -> None:
        if self.is_ready:
            self.app.tick()
        await self.wait_until_drawn()

    async def wait_until_drawn(self) -> None:
        """Wait until all messages are handled, also those that they cause, and the screen is laid out."""
        await quick_textual.settle(self.app)

    async def wait_until_received(self) -> None:
        """Wait until everything recorded so far is shown."""
        engine = self.app.active_session.engine
        await self.flush(engine)
        last = await engine.last_row()
        await self.wait_until(lambda: self.app.received_entries >= last - self._first_row)

    async def flush(self, engine: Engine) -> None:
        """Wait until everything that this process has recorded is on disk."""
        await engine.flush()

    async def wait_until_settled(self) -> None:
        """Wait until everything recorded is shown, no read is in progress and the screen no longer changes."""
        app = self.app
        if not app.is_ticking:
            return
        async with asyncio.timeout(MAX_WAIT_SECONDS):
            shown = None
            while shown != self.screen_text:
                shown = self.screen_text
                await self.wait_until_received()
                await self._show_all()
        app.clear_notifications()  # a toast disappears by the real clock
        await self.wait_until_drawn()

    async def _show_all(self) -> None:
        """Let every pane read and show what is recorded. A tick with new entries leaves some panes to the next."""
        self.app.services.updater.refresh("queue", "rail")
        self.app.main.inspector.reload()
        for _ in range(2):
            await self.tick()
            await self.wait_for_reads()

    async def wait_for_reads(self) -> None:
        while self._is_busy:
            await asyncio.sleep(0.002)
            await self.wait_until_drawn()

    @property
    def _is_busy(self) -> bool:
        app = self.app
        # A worker of the app may wait for the answer of a dialog.
        works = (worker for worker in app.workers if worker.node is not app or len(app.screen_stack) == 1)
        is_reading = bool(app.services.updater._reads) or app.main.inspector.is_waiting
        return is_reading or any(not worker.is_finished for worker in works)
