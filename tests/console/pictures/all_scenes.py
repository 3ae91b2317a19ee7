"""Imports every module with scenes, so that all of them are registered."""

from tests.console.pictures import (
    composer_and_artifact_scenes,
    inspector_and_help_scenes,
    navigation_scenes,
    progress_scenes,
    run_end_scenes,
    run_scenes,
    runner_and_form_scenes,
    session_and_state_scenes,
)
from tests.console.pictures.scene import scene

__all__ = [
    "PICTURES",
    "SCENES",
    "composer_and_artifact_scenes",
    "inspector_and_help_scenes",
    "navigation_scenes",
    "progress_scenes",
    "run_end_scenes",
    "run_scenes",
    "runner_and_form_scenes",
    "session_and_state_scenes",
]

SCENES = scene.by_name
PICTURES = scene.pictures()
