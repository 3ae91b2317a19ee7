"""`trackside.yaml`: read once, checked in full, never written."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from pydantic import Field, StringConstraints, ValidationError

from engine.intake.agents import AgentConfig, DeliveryPolicy, ResourcePolicy, StatePolicy
from engine.protocol.event import EventType
from engine.resources.scripted.knowledge_script import KnowledgeBaseEntry
from engine.resources.scripted.model_script import ModelEntry
from engine.resources.scripted.tool_script import ToolEntry
from engine.runners.descriptor import Origin
from engine.runners.discovery import Source, is_plugin
from engine.runners.errors import Broken, RunnersError, TargetNotFound
from engine.runners.faults import faults
from engine.runners.forms import ConfigForm
from engine.runners.keys import KeyPath, dotted
from engine.runners.registry import Registry
from engine.section import PathText, Section

if TYPE_CHECKING:
    from engine.runners.document import Document

FILE_NAME: Final = "trackside.yaml"

EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
PluginName = Annotated[str, StringConstraints(pattern=r"^[^/\s]+/[^/\s]+$")]
AgentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
S = TypeVar("S", bound=Section)


class ConfigError(Exception):
    """The project's config cannot be used; names the file, the line and the key."""

    def __init__(self, path: Path, line: int | None, key_path: str, message: str) -> None:
        place = f"{path}:{line}" if line else str(path)
        super().__init__(": ".join(part for part in (place, key_path, message) if part))
        self.path = path
        self.line = line
        self.key_path = key_path
        self.message = message


class DatabaseSection(Section):
    """Where facts are kept."""

    path: PathText | None = None
    """Relative to this file. Not set: in the user's data folder."""
    synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    """NORMAL survives a killed process; FULL a power cut too."""


class AgentEntry(Section):
    """A runner with its config and policies, under a name."""

    id: AgentName
    runner: PathText
    """A runner id, or a short name where it is unique."""
    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    """Values for the runner's form."""
    resources: Annotated[ResourcePolicy, Field(strict=False)] = ResourcePolicy()
    state: Annotated[StatePolicy, Field(strict=False)] = StatePolicy()
    delivery: Annotated[DeliveryPolicy, Field(strict=False)] = DeliveryPolicy()
    events: list[Annotated[EventType, Field(strict=False)]] = Field([EventType.MESSAGE_RECEIVED], min_length=1)
    enabled: bool = True
    python: PathText | None = None
    """The interpreter that runs it, relative to this file; not set: the project's."""
    env: list[EnvName] = Field(default_factory=list[EnvName])
    """Names of variables that its process may see, beyond the project's."""


class ProjectConfig(Section):
    """Everything that trackside.yaml can say. Every key has a default: an empty file is a good one."""

    runners: list[PathText] = Field(default_factory=list[PathText])
    """Runner files, plugin folders, or folders of them; relative to this file."""
    agents: list[AgentEntry] = Field(default_factory=list[AgentEntry])
    models: list[ModelEntry] = Field(default_factory=list[ModelEntry])
    tools: list[ToolEntry] = Field(default_factory=list[ToolEntry])
    knowledge_bases: list[KnowledgeBaseEntry] = Field(default_factory=list[KnowledgeBaseEntry])
    allowed_plugins: list[PluginName] | None = None
    """Plugins that may run, as author/name; not set: all."""
    env: list[EnvName] = Field(default_factory=list[EnvName])
    """Names of variables that every runner's process may see."""
    python: PathText | None = None
    """The interpreter that runs runners, relative to this file; not set: the folder's .venv, else Trackside's own."""
    database: DatabaseSection = Field(default_factory=DatabaseSection)
    file_roots: list[PathText] = Field(default_factory=list[PathText])
    """Folders whose files may be named by file fields and become artifacts; relative to this file."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of trackside.yaml."""
    schema = ProjectConfig.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": FILE_NAME}


@dataclass(frozen=True, slots=True)
class UnfitAgent:
    """An agent that cannot be used as it is written, and why."""

    agent_id: str
    error: ConfigError
    written: AgentConfig | None = None
    """As it is written, where only its config does not fit: settings that are kept for it may mend that."""

    @property
    def key(self) -> str:
        """What of it does not fit: `runner`, `config.pace`."""
        return self.error.key_path.partition(".")[2]

    @property
    def reason(self) -> str:
        return f"{self.key}: {self.error.message}"


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with its config; without a trackside.yaml, one where all is default."""

    folder: Path
    config: ProjectConfig
    document: "Document | None" = None

    @property
    def file(self) -> Path:
        """Its trackside.yaml, whether there is one or not."""
        return self.document.path if self.document else self.folder / FILE_NAME

    def error(self, keys: KeyPath, message: str) -> ConfigError:
        """An error at this key of the file."""
        return ConfigError(self.file, self.document.line(keys) if self.document else None, dotted(keys), message)

    def path_of(self, text: str) -> Path:
        """A path as written in the file: relative to it, `~` meant as home."""
        return self.folder / Path(text).expanduser()

    def interpreter(self, text: str | None) -> str | None:
        """An interpreter as written in the file: a bare name is looked up on the PATH by whoever starts it."""
        return text if text is None or "/" not in text else str(self.path_of(text))

    def database_path(self) -> Path | None:
        """The database that the file names, if it names one."""
        return self.path_of(self.config.database.path) if self.config.database.path else None

    def file_roots(self) -> tuple[Path, ...]:
        """Folders whose files may become artifacts."""
        return tuple(self.path_of(text) for text in self.config.file_roots)

    def files(self) -> tuple[Path, ...]:
        """The files that it was read from: its own, and the scripts of its resources."""
        config = self.config
        scripts = [entry.script for entry in (*config.models, *config.tools, *config.knowledge_bases) if entry.script]
        known = [name for base in config.knowledge_bases for name in base.files]
        return (self.file, *map(self.path_of, scripts + known))

    def registry(self, target: Path | None, cwd: Path, also: Iterable[Path] = ()) -> Registry:
        """The runners of the target, of this project, those in places that were named since, and the bundled ones."""
        sources = [*self._sources(target), *map(Source, also)]
        return Registry(sources, cwd=cwd, allowed=self.config.allowed_plugins)

    def agents(
        self, registry: Registry, *, as_written: bool = False, event_type: EventType | None = None
    ) -> tuple[AgentConfig, ...]:
        """The agents, each with its runner's id and its config checked against the runner's form.

        As they are written, configs are not checked: who lays something over them does that. For one type of event,
        those that do not take it are left out where something is wrong with them.
        """
        make = self._written if as_written else self._agent
        agents: list[AgentConfig] = []
        for place, entry in enumerate(self.config.agents):
            try:
                agents.append(make(place, entry, registry))
            except ConfigError:
                if event_type is None or (entry.enabled and event_type in entry.events):
                    raise
        return tuple(agents)

    def agent(self, name: str, registry: Registry, *, as_written: bool = False) -> AgentConfig | None:
        """The agent of this name, whatever is wrong with others; nothing where there is none."""
        make = self._written if as_written else self._agent
        places = (place for place, entry in enumerate(self.config.agents) if entry.id == name)
        place = next(places, None)
        return None if place is None else make(place, self.config.agents[place], registry)

    def agents_by_fitness(self, registry: Registry) -> tuple[tuple[AgentConfig, ...], tuple["UnfitAgent", ...]]:
        """The agents that can be used, and those that do not fit, each with the reason."""
        fit: list[AgentConfig] = []
        unfit: list[UnfitAgent] = []
        for place, entry in enumerate(self.config.agents):
            try:
                fit.append(self._agent(place, entry, registry))
            except ConfigError as error:
                unfit.append(UnfitAgent(entry.id, error, self._written_if_known(place, entry, registry)))
        return tuple(fit), tuple(unfit)

    def launch_settings(self, agent_id: str | None) -> tuple[str | None, tuple[str, ...]]:
        """The interpreter and the names of variables for an agent's runner, or for one opened by path."""
        entry = next((entry for entry in self.config.agents if entry.id == agent_id), None)
        names = [*self.config.env, *(entry.env if entry else ())]
        return self.interpreter((entry.python if entry else None) or self.config.python), tuple(dict.fromkeys(names))

    def _sources(self, target: Path | None) -> Iterable[Source]:
        if target is not None and target.resolve() != self.folder.resolve():
            yield Source(target)
        elif is_plugin(self.folder):
            yield Source(self.folder)
        elif target is not None and not self.config.runners:
            yield Source(target)
        for place, text in enumerate(self.config.runners):
            line = self.document.line(("runners", place)) if self.document else None
            named_by = f"runners[{place}] in {FILE_NAME}" + (f", line {line}" if line else "")
            yield Source(self.path_of(text), Origin.PROJECT, named_by)

    def _agent(self, place: int, entry: AgentEntry, registry: Registry) -> AgentConfig:
        agent = self._written(place, entry, registry)
        form = ConfigForm(registry.get(agent.runner_id).manifest)
        wrong = [problem for problem in form.check(agent.runner_config) if not problem.warning]
        if wrong:
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            raise self.error(("agents", place, "config", wrong[0].field), wrong[0].message + more)
        return agent

    def _written_if_known(self, place: int, entry: AgentEntry, registry: Registry) -> AgentConfig | None:
        try:
            return self._written(place, entry, registry)
        except ConfigError:
            return None  # there is no such runner

    def _written(self, place: int, entry: AgentEntry, registry: Registry) -> AgentConfig:
        """Whatever its config is: completed, but not checked."""
        try:
            runner = registry.get(entry.runner)
        except RunnersError as error:
            raise self.error(("agents", place, "runner"), str(error)) from error
        return AgentConfig(
            agent_id=entry.id,
            runner_id=str(runner.id),
            runner_config=ConfigForm(runner.manifest).complete(entry.config),
            resource_policy=entry.resources,
            state_policy=entry.state,
            delivery_policy=entry.delivery,
            event_types=tuple(entry.events),
            enabled=entry.enabled,
        )


def find_project(target: Path | None, cwd: Path) -> Project:
    """The project of a target folder that has a trackside.yaml, else of the working folder."""
    if target is not None and not target.exists():
        raise no_target(target)
    if target is not None and target.is_dir() and (target / FILE_NAME).is_file():
        return load(target / FILE_NAME)
    return load(cwd / FILE_NAME)


def no_target(path: Path) -> TargetNotFound:
    """What is said where nothing lies."""
    return TargetNotFound(
        f"no such file or folder: {path}. Name a runner file (.py), a plugin folder (with manifest.yaml) "
        f"or a project folder (with {FILE_NAME})."
    )


def load(path: Path) -> Project:
    """Read the file; one that is not there means that all is default."""
    if not path.exists():
        # Nothing to check, so the validators of all sections need not be built.
        return Project(path.parent, ProjectConfig.model_construct())
    config, document = read_section(path, ProjectConfig)
    project = Project(path.parent, config, document)
    _refuse_twice(project)
    return project


def read_section(path: Path, kind: type[S]) -> "tuple[S, Document]":
    """A YAML file as what it should be, or an error that names the line."""
    # Imported here: YAML costs 26 ms that a folder without a config need not pay.
    from engine.runners.document import read  # noqa: PLC0415

    try:
        document = read(path)
    except Broken as error:
        raise ConfigError(path, error.line, "", error.reason) from error
    try:
        return kind.model_validate({} if document.value is None else document.value), document
    except ValidationError as error:
        raise _first_fault(error, document) from error


def _refuse_twice(project: Project) -> None:
    config = project.config
    for section, key, word, names in (
        ("agents", "id", "agent", [entry.id for entry in config.agents]),
        ("models", "id", "model", [entry.id for entry in config.models]),
        ("tools", "name", "tool", [entry.name for entry in config.tools]),
        ("knowledge_bases", "id", "knowledge base", [entry.id for entry in config.knowledge_bases]),
    ):
        for place, name in enumerate(names):
            if name is not None and name in names[:place]:
                raise project.error((section, place, key), f"another {word} is called {name!r} already")


def _first_fault(error: ValidationError, document: "Document") -> ConfigError:
    """The fault that stands first in the file."""
    found = faults(error)
    keys, words = min(found, key=lambda fault: document.line(fault[0]) or 0)
    hint = ". `trackside schema` lists the known ones" if words == "unknown key" else ""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return ConfigError(document.path, document.line(keys), dotted(keys), words + hint + more)
