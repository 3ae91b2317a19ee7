"""Takes a picture of a scene outside of pytest, just as a test does."""

from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_textual_snapshot import normalize_svg
from textual._doc import take_svg_screenshot

from tests.console.pictures.scene import Scene
from tests.console.pictures.studio import steady


def take(scene: Scene, size: tuple[int, int]) -> str:
    """The picture as SVG, without the number that makes each one's names its own."""
    with TemporaryDirectory(prefix="trackside-picture-") as folder, steady(Path(folder)):
        studio = scene.studio(Path(folder))
        return normalize_svg(take_svg_screenshot(studio.app, terminal_size=size, run_before=scene.before(studio)))
