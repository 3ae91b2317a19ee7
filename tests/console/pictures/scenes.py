"""Every scene, noted."""

from tests.console.pictures import browsers, choosing, course, endings, events, looking, meanwhile, ways
from tests.console.pictures.scene import scene

__all__ = ["PICTURES", "SCENES", "browsers", "choosing", "course", "endings", "events", "looking", "meanwhile", "ways"]

SCENES = scene.all
PICTURES = scene.pictures()
