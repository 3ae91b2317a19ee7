"""Every state of the screen, compared with how it was accepted. `make pictures` accepts how it is now."""

from pathlib import Path
from typing import Any

import pytest

from tests.console.pictures.scene import Scene
from tests.console.pictures.scenes import PICTURES
from tests.console.pictures.studio import steady


@pytest.mark.parametrize(
    ("scene", "size"),
    [pytest.param(scene, size, id=f"{scene.name}-{size[0]}x{size[1]}") for scene, size in PICTURES],
)
def test_picture(scene: Scene, size: tuple[int, int], tmp_path: Path, snap_compare: Any):
    with steady(tmp_path):
        studio = scene.studio(tmp_path)
        assert snap_compare(studio.app, terminal_size=size, run_before=scene.before(studio))
