"""Open a scene in a test that looks at it, or goes on from it, without a picture."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from console.model.preferences.store import Preferences
from console.testing.environment import fixed_environment
from tests.console.pictures.all_scenes import SCENES
from tests.support.console.scene_driver import SceneDriver


@asynccontextmanager
async def open_scene(name: str, folder: Path, size: tuple[int, int]) -> AsyncIterator[SceneDriver]:
    """Run the console up to the state of a scene, with the default preferences."""
    scene = SCENES[name]
    scene = replace(scene, options=replace(scene.options, preferences=Preferences(scene.options.preferences.file)))
    with fixed_environment(folder):
        driver = scene.create_driver(folder)
        async with driver.app.run_test(size=size) as pilot:
            await scene.run_before(driver)(pilot)
            yield driver
