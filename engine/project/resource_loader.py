"""Builds the resources that trackside.yaml lists."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.project.config import ConfigError, Project, read_yaml_file
from engine.project.skill_loader import load_skills
from engine.resources.catalog import KnowledgeBaseFact, ModelFact
from engine.resources.resource_set import ResourceSet
from engine.resources.scripted.behaviour import Sleep
from engine.resources.scripted.knowledge import KnowledgeBaseEntry, KnowledgeScript, ScriptedKnowledgeBase
from engine.resources.scripted.model import ScriptedModel
from engine.resources.scripted.model_script import ModelEntry, ModelScript
from engine.resources.scripted.passages import Passage, UnusableFile, passages_of, terms
from engine.resources.scripted.tool import ScriptedTool, ToolsFile
from engine.runners.document import KeyPath, dotted
from engine.yaml_model import YamlModel

if TYPE_CHECKING:
    from engine.runners.document import Document

S = TypeVar("S", bound=YamlModel)


def load_resources(project: Project, *, sleep: Sleep = asyncio.sleep) -> ResourceSet:
    """All resources of the project, built from its config and script files; raises ConfigError if one is invalid."""
    return ResourceSet(
        [_model(project, place, entry, sleep) for place, entry in enumerate(project.config.models)],
        list(_tools(project, sleep)),
        [_knowledge_base(project, place, entry, sleep) for place, entry in enumerate(project.config.knowledge_bases)],
        load_skills(project),
    )


@dataclass(frozen=True, slots=True)
class _ScriptFile:
    """A script file, to report errors with its path and line."""

    path: Path
    document: "Document"

    def error(self, keys: KeyPath, message: str) -> ConfigError:
        return ConfigError(self.path, self.document.line(keys), dotted(keys), message)


def _script_file(project: Project, keys: KeyPath, name: str, kind: type[S]) -> tuple[S, _ScriptFile]:
    path = project.path_of(name)
    if not path.is_file():
        raise project.error(keys, f"no such file: {path}")
    script, document = read_yaml_file(path, kind)
    return script, _ScriptFile(path, document)


def _model(project: Project, place: int, entry: ModelEntry, sleep: Sleep) -> ScriptedModel:
    fact = ModelFact(entry.id, entry.provider, entry.type, entry.context_window_tokens)
    script: ModelScript = entry
    if entry.script is not None:
        script, _ = _script_file(project, ("models", place, "script"), entry.script, ModelScript)
    return ScriptedModel(fact, script, sleep=sleep)


def _tools(project: Project, sleep: Sleep) -> Iterator[ScriptedTool]:
    names = {entry.name for entry in project.config.tools}
    for place, entry in enumerate(project.config.tools):
        if entry.name is not None:
            yield ScriptedTool(entry.name, entry, sleep=sleep)
        elif entry.script is not None:
            listed, file = _script_file(project, ("tools", place, "script"), entry.script, ToolsFile)
            for number, tool in enumerate(listed.tools):
                if tool.name in names:
                    raise file.error(("tools", number, "name"), f"another tool is called {tool.name!r} already")
                names.add(tool.name)
                yield ScriptedTool(tool.name, tool, sleep=sleep)


def _knowledge_base(project: Project, place: int, entry: KnowledgeBaseEntry, sleep: Sleep) -> ScriptedKnowledgeBase:
    fact = KnowledgeBaseFact(entry.id, entry.name or entry.id, "scripted")
    own: KeyPath = ("knowledge_bases", place)
    if entry.script is None:
        passages = _passages(entry, project.folder, project, own)
        return ScriptedKnowledgeBase(fact, passages, entry, sleep=sleep)
    script, file = _script_file(project, (*own, "script"), entry.script, KnowledgeScript)
    return ScriptedKnowledgeBase(fact, _passages(script, file.path.parent, file, ()), script, sleep=sleep)


def _passages(
    script: KnowledgeScript, folder: Path, source: "Project | _ScriptFile", keys: KeyPath
) -> tuple[Passage, ...]:
    """The documents, then the files, in the order of the script. Raises ConfigError if two have the same id."""
    found: dict[str, Passage] = {}
    for number, document in enumerate(script.documents):
        ident = document.id or f"doc_{number + 1}"
        if ident in found:
            raise source.error((*keys, "documents", number), f"another document is called {ident!r} already")
        found[ident] = Passage(ident, document.text, document.metadata, terms(document.text))
    for number, name in enumerate(script.files):
        try:
            file_passages = passages_of(folder / Path(name).expanduser(), name)
        except UnusableFile as error:
            raise source.error((*keys, "files", number), f"{name} {error}") from error
        for passage in file_passages:
            if passage.id in found:
                raise source.error((*keys, "files", number), f"{name} is listed twice")
            found[passage.id] = passage
    return tuple(found.values())
