"""Every scene, noted."""

from tests.console.pictures import course, endings, looking
from tests.console.pictures.scene import scene

__all__ = ["PICTURES", "SCENES", "course", "endings", "looking"]

SCENES = scene.all
PICTURES = scene.pictures()
