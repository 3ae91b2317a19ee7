"""Drives the real console on a real engine, with a clock and a tick that only the scene advances."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual._context import visible_screen_stack
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.timer import Timer
from textual.widgets import Input, TextArea

from console.app import Trackside
from console.launch import LaunchOptions
from engine.api import Engine, RunOptions, RunRow, message
from tests.support.console import quick_textual
from tests.support.engines import Engines, FakeClock, Runner
from tests.support.limits import MAX_WAIT_SECONDS

NEVER_SECONDS = 1_000_000.0

OpenEngine = Callable[["ConsoleDriver"], Awaitable[Engine]]
Prepare = Callable[["ConsoleDriver", Engine], Awaitable[None]]


class DrivenConsole(Trackside):
    """The console with a tick that only its driver triggers."""

    def __init__(self, driver: "ConsoleDriver", options: LaunchOptions) -> None:
        super().__init__(options, driver.open_engine)
        self._driver_of_scene = driver
        self.animation_level = "none"
        self.is_ticking = False
        """True once the console has started its tick, which is when it begins to show the engine's entries."""
        self.received_entries = 0
        """Number of entries that the engine has announced to the console."""

    def set_interval(self, interval: float, callback: Any = None, **details: Any) -> Timer:
        """Start the timer with an interval that never ends, so that nothing happens unless the driver triggers it."""
        self.is_ticking = self.is_ticking or callback == self._tick
        return super().set_interval(NEVER_SECONDS, callback, **details)

    def tick(self) -> None:
        """Show everything that was announced since the last tick."""
        self.received_entries += len(self.active_session._new_entries)
        self._tick()

    async def on_unmount(self) -> None:
        """Close the other engines of the scene. Textual also calls the handler of the console, which closes its own."""
        await self._driver_of_scene.close_other_engines()


class StepControl:
    """Lets a runner continue one step at a time, and knows when the runner waits for the next."""

    def __init__(self) -> None:
        self.is_reached = asyncio.Event()
        self._go = asyncio.Event()

    async def wait(self) -> None:
        self._go = asyncio.Event()
        self.is_reached.set()
        await self._go.wait()

    def allow_next(self) -> None:
        self.is_reached.clear()
        self._go.set()


class ConsoleDriver:
    """Controls one app and its engine for a scene. The clock advances only if the scene or its runner advances it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FakeClock()
        self.engines = Engines(folder, self.clock)
        self.steps = StepControl()
        self.runners: tuple[Runner, ...] = ()
        self.project: dict[str, Any] = {}
        self.engine_factory: OpenEngine | None = None
        self.prepare: Prepare | None = None
        self.app: DrivenConsole
        self.pilot: Pilot[None]
        self._others: list[Engine] = []
        self._first_row = 0
        """Last journal row that existed before the console opened."""

    # Opening

    async def open_engine(self) -> Engine:
        """Open and prepare the engine that the console uses, in the console's event loop."""
        make = self.engine_factory or ConsoleDriver._open_own_engine
        engine = await make(self)
        if self.prepare is not None:
            await self.prepare(self, engine)
        await self._flush_writers(engine)
        self._first_row = await engine.last_row()
        return engine

    async def _open_own_engine(self) -> Engine:
        return await self.engines(*self.runners, **self.project)

    async def open_second_host(self) -> Engine:
        """Open a second host on the same database, which the console takes for another process."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("os.getpid", lambda: 4242)  # the id of the process is shown
            engine = await self.engines()
        self._others.append(engine)
        return engine

    async def close_other_engines(self) -> None:
        for engine in self._others:
            await self.engines.close(engine)

    async def wait_until_open(self) -> None:
        """Wait until the engine is open or the console shows why it cannot be opened."""
        await self.wait_until(lambda: self.is_ready or self.app.health.problem is not None)
        await self.wait_until_settled()

    @property
    def is_ready(self) -> bool:
        return self.app.is_ticking

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
        raise AssertionError(f"tab does not lead to {name}")

    # Time and steps of the runner

    def advance_clock(self, seconds: float) -> None:
        self.clock.advance(seconds)

    async def continue_runner(self) -> None:
        """Let the runner take its next step, and wait until its results are shown."""
        self.steps.allow_next()
        await self.wait_for_step()

    async def wait_for_step(self) -> None:
        """Wait until the runner waits for its next step and everything it did is shown."""
        await self.wait_until(self.steps.is_reached.is_set)
        await self.wait_until_received()

    # Screen

    @property
    def screen_text(self) -> str:
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
                    await asyncio.sleep(0.005)
                    if self.is_ready:
                        self.app.tick()
                await self.wait_until_drawn()
        except TimeoutError:
            raise AssertionError(f"{condition!r} did not become true; on the screen:\n{self.screen_text}") from None

    async def tick(self) -> None:
        if self.is_ready:
            self.app.tick()
        await self.wait_until_drawn()

    async def wait_until_drawn(self) -> None:
        """Wait until all messages are handled, also those that they cause, and the screen is laid out."""
        await quick_textual.settle(self.app)

    async def wait_until_received(self) -> None:
        """Wait until everything recorded so far is shown."""
        await self._flush_writers(self.app.active_session.engine)
        last = await self.app.active_session.engine.last_row()
        await self.wait_until(lambda: self.app.received_entries >= last - self._first_row)

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
                app.services.updater.refresh("queue", "rail")
                app.main.inspector.reload()
                for _ in range(2):
                    await self.tick()
                    await self.wait_for_reads()
        app.clear_notifications()  # a toast disappears by the real clock
        await self.wait_until_drawn()

    async def _flush_writers(self, engine: Engine) -> None:
        for one in (engine, *self._others):
            await one._core.host.writer.flush()

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

    # Engine

    async def run_to_end(self, engine: Engine, text: str, *, session: str, **choice: Any) -> RunRow:
        """Run an event to its end, before the console opens."""
        return await engine.runs.wait_for_end(await self.start_run(engine, text, session=session, **choice))

    async def start_run(self, engine: Engine, text: str, *, session: str, **choice: Any) -> str:
        """Submit a message. Returns the id of its run once that has started."""
        given = message(engine.ids.new("evt"), text, conversation_id=session)
        return await (await engine.runs.submit(given, RunOptions(**choice))).started

    async def wait_for_run_end(self) -> None:
        """Wait until the run that is shown has ended."""
        await self.wait_until(lambda: (view := self.app.services.updater.view) is not None and view.status.is_over)

    async def wait_for_pause(self) -> None:
        """Wait until the run that is shown is paused."""
        await self.wait_until(lambda: self.app.services.situation.is_paused)

    async def set_breakpoint(self, when: str) -> None:
        """Set a breakpoint in the run that is shown."""
        view = self.app.services.updater.view
        assert view is not None
        await self.app.active_session.engine.breakpoints.set(view.run_id, when)


@contextmanager
def fixed_environment(home: Path) -> Iterator[None]:
    """Set everything that a picture could take from this machine or the time of day, and speed Textual up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("COLORTERM", "truecolor")
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("HOME", str(home))
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        patch.delenv("NO_COLOR", raising=False)
        patch.chdir(home)
        patch.setattr("gc.collect", lambda: 0)
        quick_textual.apply(patch)
        patch.setattr(Input, "_toggle_cursor", lambda _: None)
        patch.setattr(TextArea, "_toggle_cursor_blink_visible", lambda _: None)
        time.tzset()
        yield
    time.tzset()
