"""Compares the picture of every scene with the accepted one. `make pictures` accepts the current ones."""

from pathlib import Path
from typing import Any

import pytest

from console.testing.environment import fixed_environment
from tests.console.pictures.all_scenes import PICTURES
from tests.console.pictures.scene import Scene


@pytest.mark.parametrize(
    ("scene", "size"),
    [pytest.param(scene, size, id=f"{scene.name}-{size[0]}x{size[1]}") for scene, size in PICTURES],
)
def test_picture(scene: Scene, size: tuple[int, int], tmp_path: Path, snap_compare: Any):
    with fixed_environment(tmp_path):
        driver = scene.create_driver(tmp_path)
        assert snap_compare(driver.app, terminal_size=size, run_before=scene.run_before(driver))
