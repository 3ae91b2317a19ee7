"""Finds the skills that trackside.yaml lists and reads their headers."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, cast

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from engine.project.config import ConfigError, Project
from engine.resources.catalog import SkillFact
from engine.resources.skills import SKILL_FILE, Skill, split_header
from engine.rooted_files import OutsideRoot, open_in_root
from engine.runners.document import dotted, parse
from engine.runners.errors import InvalidFile
from engine.runners.validation_text import faults
from engine.yaml_model import ResourceName

MAX_HEADER_BYTES: Final = 64 * 1024
"""The header must end within so many bytes. The body is not read before a runner asks for it."""
_Words = Annotated[str, StringConstraints(max_length=4_096)]
"""A text of the header. Every run that may use the skill gets it in its context."""


class _Header(BaseModel):
    """The keys of a header that Trackside uses. Other tools have more."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    name: ResourceName
    """Default: the name of the folder."""
    display_name: _Words = ""
    description: _Words = ""


def load_skills(project: Project) -> Iterator[Skill]:
    """The skills of the project. Raises ConfigError if a folder has none, or if two have the same name."""
    folders: dict[str, Path] = {}
    for place, text in enumerate(project.config.skills):
        found = project.skill_files(text)
        if not found:
            path = project.path_of(text)
            problem = f"has no {SKILL_FILE}, nor has a folder in it" if path.is_dir() else "is not a folder"
            raise project.error(("skills", place), f"{path} {problem}")
        for file in found:
            skill = _read_skill(file)
            name = skill.fact.skill_name
            if name in folders:
                raise ConfigError(file, None, "name", f"another skill is called {name!r} already: {folders[name]}")
            folders[name] = file
            yield skill


def _read_skill(file: Path) -> Skill:
    header = _read_header(file)
    return Skill(SkillFact(header.name, header.display_name, header.description), file.parent)


def _read_header(file: Path) -> _Header:
    try:
        with os.fdopen(open_in_root(file.parent, SKILL_FILE).descriptor, "rb") as opened:
            content = opened.read(MAX_HEADER_BYTES)
    except OutsideRoot:
        raise ConfigError(file, None, "", "is a link to a file outside its folder") from None
    except OSError as error:
        raise ConfigError(file, None, "", f"cannot be read: {error.strerror or error}") from error
    text, _ = split_header(content)
    if text is None:
        if content.removeprefix(b"\xef\xbb\xbf").startswith(b"---"):
            raise ConfigError(file, 1, "", "the header does not end: add a line with --- after it")
        text = b""
    try:
        # The first line of the file is the line --- above the header.
        document = parse(b"\n" + text, file)
    except InvalidFile as error:
        raise ConfigError(file, error.line, "", error.reason) from error
    written: object = {} if document.value is None else document.value
    if isinstance(written, dict):
        written = {"name": file.parent.resolve().name, **cast("dict[str, object]", written)}
    try:
        return _Header.model_validate(written)
    except ValidationError as error:
        keys, words = faults(error)[0]
        raise ConfigError(file, document.line(keys), dotted(keys), words) from error
