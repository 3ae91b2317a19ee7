"""Where a picture is taken: the real console over a real engine, with the clock and the tick in the scene's hands."""

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

import console.app
from console.app import Trackside
from console.opening import Opening
from engine.api import Choice, Engine, RunRow, message
from tests.support import Engines, FakeClock, Runner

PATIENCE = 20
"""Seconds of real time after which what must come has not come."""
NEVER = 1_000_000.0
CALM = 4
"""Turns of the loop in which nobody had anything to do."""
STYLES = Path(console.app.__file__).with_name("screens") / "main.tcss"
"""Textual looks for a class's styles beside its own file."""

OpenEngine = Callable[["Studio"], Awaitable[Engine]]
Prepare = Callable[["Studio", Engine], Awaitable[None]]


class Posed(Trackside):
    """The console, which shows what is new when the scene says so and not when a timer does."""

    CSS_PATH = STYLES

    def __init__(self, studio: "Studio", opening: Opening) -> None:
        super().__init__(opening, studio.open)
        self._studio = studio
        self.animation_level = "none"
        self.is_listening = False
        """It would show what is new by itself from now on."""
        self.heard = 0
        """Entries that it was told of."""

    def set_interval(self, interval: float, callback: Any = None, **details: Any) -> Timer:
        """Nothing happens by itself: the scene ticks, and looks around where it wants to."""
        self.is_listening = self.is_listening or callback == self._tick
        return super().set_interval(NEVER, callback, **details)

    def tick(self) -> None:
        """Show what is new."""
        self.heard += len(self.stage._fresh)
        self._tick()

    async def on_unmount(self) -> None:
        """Textual asks each class: this one closes the other engines of the scene, the console its own."""
        await self._studio.leave()


class Cue:
    """Lets a runner go on, a step at a time, and knows when it has come to the next."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._go = asyncio.Event()

    async def wait(self) -> None:
        self._go = asyncio.Event()
        self.reached.set()
        await self._go.wait()

    def go(self) -> None:
        self.reached.clear()
        self._go.set()


class Studio:
    """One app, its engine, and what a scene does with them. Times pass only where the scene or its runner says so."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FakeClock()
        self.engines = Engines(folder, self.clock)
        self.cue = Cue()
        self.runners: tuple[Runner, ...] = ()
        self.project: dict[str, Any] = {}
        self.engine: OpenEngine | None = None
        self.prepare: Prepare | None = None
        self.app: Posed
        self.pilot: Pilot[None]
        self._others: list[Engine] = []
        self._since = 0
        """The last row that was there before the console."""

    # Before the curtain

    async def open(self) -> Engine:
        """The engine that the console is given, in the console's own loop."""
        make = self.engine or Studio._own
        engine = await make(self)
        if self.prepare is not None:
            await self.prepare(self, engine)
        await self._written(engine)
        self._since = await engine.last_row()
        return engine

    async def _own(self) -> Engine:
        return await self.engines(*self.runners, **self.project)

    async def another(self) -> Engine:
        """A second host on the same database: to the console, a process that is not its own."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("os.getpid", lambda: 4242)  # it is on the screen
            engine = await self.engines()
        self._others.append(engine)
        return engine

    async def leave(self) -> None:
        for engine in self._others:
            await self.engines.close(engine)

    async def opened(self) -> None:
        """The engine is there, or it is said that it cannot be."""
        await self.until(lambda: self.is_ready or self.app.trouble is not None)
        await self.settled()

    @property
    def is_ready(self) -> bool:
        """The console listens: it has begun to show what the engine tells."""
        return self.app.is_listening

    # What a person does

    async def press(self, *keys: str) -> None:
        """Keys by their names, or characters. Quicker than the pilot, which waits for an idle processor."""
        for key in keys:
            name = _character_to_key(key) if len(key) == 1 else key
            self.app.post_message(events.Key(name, key if len(key) == 1 else None))
            await self.drawn()
        await self.tick()

    async def type(self, text: str) -> None:
        """As if it had been pasted: a key for each letter takes longer and shows nothing else."""
        self.app.main.prompt.post_message(events.Paste(text))
        await self.drawn()

    async def say(self, text: str) -> None:
        """Type, and press enter."""
        await self.type(text)
        await self.press("enter")
        await self.until(lambda: not self.app.sending)

    async def go_to(self, name: str) -> None:
        """To a pane, round by tab."""
        for _ in self.app.main.panes:
            if self.app.main.where() == name:
                return
            await self.press("tab")
        raise AssertionError(f"tab does not lead to {name}")

    # What time does

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(seconds)

    async def go_on(self) -> None:
        """Let the runner take its next step, and show what came of it."""
        self.cue.go()
        await self.at_cue()

    async def at_cue(self) -> None:
        """The runner waits again, and all that it did has come to the screen."""
        await self.until(self.cue.reached.is_set)
        await self.caught_up()

    # What is seen

    @property
    def shown(self) -> str:
        visible_screen_stack.set(self.app._background_screens)  # what is seen under a question is kept, once drawn
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    @property
    def entries(self) -> int:
        """Of the run that is shown."""
        view = self.app.hearing.view
        return 0 if view is None else view.status.entries

    async def until(self, holds: Callable[[], bool] | str) -> None:
        """Show what is new until it holds, or until the words are on the screen."""
        is_so = holds if callable(holds) else lambda: holds in self.shown
        try:
            async with asyncio.timeout(PATIENCE):
                while not is_so():
                    await asyncio.sleep(0.005)
                    if self.is_ready:
                        self.app.tick()
                await self.drawn()
        except TimeoutError:
            raise AssertionError(f"waited in vain for {holds!r}; on the screen:\n{self.shown}") from None

    async def tick(self) -> None:
        if self.is_ready:
            self.app.tick()
        await self.drawn()

    async def drawn(self) -> None:
        """All messages that were under way have arrived, those that came of them too, and the screen is drawn."""
        calm = 0
        while calm < CALM:
            await asyncio.sleep(0)
            screen = self.app.screen
            pumps = (self.app, *(node for one in self.app.screen_stack for node in one.walk_children(with_self=True)))
            if any(pump.message_queue_size or pump._next_callbacks for pump in pumps):
                calm = 0
            elif screen._layout_required or screen._repaint_required or screen._dirty_widgets or screen._callbacks:
                screen._on_timer_update()
                calm = 0
            else:
                calm += 1

    async def caught_up(self) -> None:
        """All that was recorded so far has come to the screen."""
        await self._written(self.app.stage.engine)
        last = await self.app.stage.engine.last_row()
        await self.until(lambda: self.app.heard >= last - self._since)

    async def settled(self) -> None:
        """That, and nothing is being read any more."""
        app = self.app
        if not app.is_listening:
            return
        async with asyncio.timeout(PATIENCE):
            shown = None
            while shown != self.shown:
                shown = self.shown
                await self.caught_up()
                app.hearing.refresh("queue", "rail")
                app.main.inspector.ask()
                for _ in range(2):
                    await self.tick()
                    await self._quiet()
        app.clear_notifications()  # a toast goes by the real clock
        await self.drawn()

    async def _written(self, engine: Engine) -> None:
        for one in (engine, *self._others):
            await one._host.writer.flush()

    async def _quiet(self) -> None:
        while self._is_busy:
            await asyncio.sleep(0.002)
            await self.drawn()

    @property
    def _is_busy(self) -> bool:
        app = self.app
        # Under a question, the app's own work waits for the answer.
        works = (worker for worker in app.workers if worker.node is not app or len(app.screen_stack) == 1)
        is_reading = bool(app.hearing._reads) or app.main.inspector.is_waiting
        return is_reading or any(not worker.is_finished for worker in works)

    # What happens in the engine

    async def perform(self, engine: Engine, text: str, *, session: str, **choice: Any) -> RunRow:
        """A whole run, before the console looks."""
        return await engine.finished(await self.send(engine, text, session=session, **choice))

    async def send(self, engine: Engine, text: str, *, session: str, **choice: Any) -> str:
        """The id of the run that has begun."""
        given = message(engine.ids.new("evt"), text, conversation_id=session)
        return await (await engine.submit(given, Choice(**choice))).started

    async def over(self) -> None:
        """The run that is shown has ended."""
        await self.until(lambda: (view := self.app.hearing.view) is not None and view.status.is_over)

    async def held(self) -> None:
        """The run that is shown has come to where it is held."""
        await self.until(lambda: self.app.situation.is_held)

    async def hold(self, when: str) -> None:
        """Hold the run that is shown."""
        view = self.app.hearing.view
        assert view is not None
        await self.app.stage.engine.hold(view.run_id, when)


@contextmanager
def steady(home: Path) -> Iterator[None]:
    """All that a picture could take from this machine, or from the hour, is the same everywhere."""
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
        patch.setattr("gc.freeze", lambda: None)  # what one picture leaves behind must not stay for the next
        patch.setattr(Input, "_toggle_cursor", lambda _: None)
        patch.setattr(TextArea, "_toggle_cursor_blink_visible", lambda _: None)
        time.tzset()
        yield
    time.tzset()
