"""Fixtures for scripted resources: scripts on disk, and sleeps that return at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.project.config import load_project
from engine.project.resource_loader import load_resources
from engine.resources.catalog import ModelFact
from engine.resources.resource_set import ResourceSet
from engine.resources.scripted.model import ScriptedModel
from engine.resources.scripted.model_script import ModelScript


class RecordedSleeps:
    """Replaces `asyncio.sleep`: returns at once and records the seconds."""

    def __init__(self) -> None:
        self.all: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.all.append(seconds)


@pytest.fixture
def sleeps() -> RecordedSleeps:
    return RecordedSleeps()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write_file


@pytest.fixture
def load_set(write: Callable[[str, str], Path], sleeps: RecordedSleeps) -> Callable[[str], ResourceSet]:
    """Loads the resources of a trackside.yaml with the given text."""

    def load(text: str) -> ResourceSet:
        return load_resources(load_project(write("trackside.yaml", text)), sleep=sleeps)

    return load


@pytest.fixture
def model(sleeps: RecordedSleeps) -> Callable[..., ScriptedModel]:
    """Makes a scripted model with the given replies."""

    def make(*replies: dict[str, Any], **script: Any) -> ScriptedModel:
        checked = ModelScript.model_validate({"replies": list(replies), **script})
        return ScriptedModel(ModelFact("m", "scripted"), checked, sleep=sleeps)

    return make
