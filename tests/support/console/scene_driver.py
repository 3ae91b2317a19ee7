"""Drives the console of a scene, whose runners are functions of the test that continue one step at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from console.launch import LaunchOptions
from console.testing.driver import ConsoleDriver, DrivenConsole
from engine.api import Engine, RunOptions, RunRow, message
from tests.support.engines import Engines, Runner

OpenEngine = Callable[["SceneDriver"], Awaitable[Engine]]
Prepare = Callable[["SceneDriver", Engine], Awaitable[None]]


class SceneConsole(DrivenConsole):
    """The driven console of a scene that may have opened more engines."""

    def __init__(self, driver: "SceneDriver", options: LaunchOptions) -> None:
        super().__init__(options, driver.open_engine)
        self._driver_of_scene = driver

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


class SceneDriver(ConsoleDriver):
    """Controls one app and its engine for a scene. The clock advances only if the scene or its runner advances it."""

    def __init__(self, folder: Path, options: LaunchOptions) -> None:
        super().__init__(options)
        self.folder = folder
        self.engines = Engines(folder, self.clock, self.ids)
        self.steps = StepControl()
        self.runners: tuple[Runner, ...] = ()
        self.project: dict[str, Any] = {}
        self.engine_factory: OpenEngine | None = None
        self.prepare: Prepare | None = None
        self._others: list[Engine] = []

    # Engines

    def make_app(self, options: LaunchOptions) -> DrivenConsole:
        return SceneConsole(self, options)

    async def make_engine(self) -> Engine:
        """Open and prepare the engine of the scene, with its runners in this process."""
        if self.engine_factory is None:
            engine = await self.engines(*self.runners, **self.project)
        else:
            engine = await self.engine_factory(self)
        if self.prepare is not None:
            await self.prepare(self, engine)
        return engine

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

    async def flush(self, engine: Engine) -> None:
        for one in (engine, *self._others):
            await super().flush(one)

    # Runs

    async def continue_runner(self) -> None:
        """Let the runner take its next step, and wait until its results are shown."""
        self.steps.allow_next()
        await self.wait_for_step()

    async def wait_for_step(self) -> None:
        """Wait until the runner waits for its next step and everything it did is shown."""
        await self.wait_until(self.steps.is_reached.is_set)
        await self.wait_until_received()

    async def run_to_end(self, engine: Engine, text: str, *, session: str, **choice: Any) -> RunRow:
        """Run an event to its end, before the console opens."""
        return await engine.runs.wait_for_end(await self.start_run(engine, text, session=session, **choice))

    async def start_run(self, engine: Engine, text: str, *, session: str, **choice: Any) -> str:
        """Submit a message. Returns the id of its run once that has started."""
        given = message(engine.ids.new("evt"), text, conversation_id=session)
        return await (await engine.runs.submit(given, RunOptions(**choice))).started
