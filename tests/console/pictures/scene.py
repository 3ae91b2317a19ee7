"""A scene: how the console and its engine are set up, what the user does, and the sizes of its pictures."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from console.launch import LaunchOptions
from tests.support.console.scene_driver import OpenEngine, Prepare, SceneDriver
from tests.support.engines import Runner

WIDE, MEDIUM, NARROW, TINY = (160, 45), (120, 35), (80, 24), (60, 15)
BOTH = (WIDE, NARROW)

Steps = Callable[[SceneDriver], Awaitable[None]]
MakeRunner = Callable[[SceneDriver], Runner]


@dataclass(frozen=True)
class Scene:
    """One state of the screen."""

    name: str
    steps: Steps
    runners: tuple[MakeRunner, ...]
    """The console opens with the first."""
    sizes: tuple[tuple[int, int], ...]
    options: LaunchOptions
    engine_factory: OpenEngine | None
    """Opens the engine instead of the driver."""
    prepare: Prepare | None
    agent: dict[str, Any]
    project: dict[str, Any]

    def create_driver(self, folder: Path) -> SceneDriver:
        """Make the driver and its app; the app is not started."""
        driver = SceneDriver(folder, self.options)
        driver.runners = tuple(make(driver) for make in self.runners)
        driver.engine_factory, driver.prepare = self.engine_factory, self.prepare
        driver.project = dict(self.project)
        if driver.runners:
            name = driver.runners[0].__name__
            driver.project["agents"] = [{"id": name, "runner": name} | self.agent]
        return driver

    def run_before(self, driver: SceneDriver) -> Callable[[Pilot[None]], Awaitable[None]]:
        """Make the function that brings the started app to the state of the picture."""
        return driver.run_before_picture(lambda _: self.steps(driver))


@dataclass
class SceneRegistry:
    """All scenes, in the order of their definitions."""

    by_name: dict[str, Scene] = field(default_factory=dict[str, Scene])

    def __call__(
        self,
        *runners: MakeRunner,
        sizes: tuple[tuple[int, int], ...] = BOTH,
        options: LaunchOptions | None = None,
        engine: OpenEngine | None = None,
        prepare: Prepare | None = None,
        agent: dict[str, Any] | None = None,
        **project: Any,
    ) -> Callable[[Steps], Steps]:
        """Decorate the function that does the steps of a scene; its name is the name of the scene."""

        def register(steps: Steps) -> Steps:
            name = steps.__name__
            self.by_name[name] = Scene(
                name, steps, runners, sizes, options or LaunchOptions(), engine, prepare, agent or {}, project
            )
            return steps

        return register

    def with_defaults(self, *runners: MakeRunner, **options: Any) -> Callable[..., Callable[[Steps], Steps]]:
        """Make a decorator for scenes with these runners and options in common."""
        return partial(self, *runners, **options)

    def pictures(self) -> list[tuple[Scene, tuple[int, int]]]:
        return [(scene, size) for scene in self.by_name.values() for size in scene.sizes]


scene = SceneRegistry()
"""The decorator `@scene(…)`, which holds every scene."""
