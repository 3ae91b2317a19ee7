"""Draw the picture of a scene outside of pytest, exactly as the test does."""

from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_textual_snapshot import normalize_svg
from textual._doc import take_svg_screenshot

from console.testing.environment import fixed_environment
from tests.console.pictures.scene import Scene


def take(scene: Scene, size: tuple[int, int]) -> str:
    """Return the picture as SVG, without the random number in its class names."""
    with TemporaryDirectory(prefix="trackside-picture-") as folder, fixed_environment(Path(folder)):
        driver = scene.create_driver(Path(folder))
        return normalize_svg(take_svg_screenshot(driver.app, terminal_size=size, run_before=scene.run_before(driver)))
