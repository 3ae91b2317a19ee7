"""`trackside.yaml`: read once, checked completely, never written."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationError, model_validator

from engine.intake.envelope import EventEnvelope
from engine.project.agents import AgentConfig, BindingScope, DeliveryPolicy, ResourcePolicy, StatePolicy
from engine.project.event_filter import DATA_PREFIX, MATCHED_FIELDS, EventFilter, is_matched_field
from engine.protocol.event import EventType
from engine.resources.scripted.knowledge import KnowledgeBaseEntry
from engine.resources.scripted.model_script import ModelEntry
from engine.resources.scripted.tool import ToolEntry
from engine.resources.skills import SKILL_FILE
from engine.runners.config_form import ConfigForm
from engine.runners.descriptor import Origin
from engine.runners.discovery import Source, is_plugin
from engine.runners.document import KeyPath, dotted
from engine.runners.errors import InvalidFile, RunnersError, TargetNotFound
from engine.runners.registry import Registry
from engine.runners.validation_text import faults
from engine.store.state import MAX_SCOPE_BYTES, MAX_SCOPE_KEYS, StateLimits
from engine.yaml_model import PathText, YamlModel

if TYPE_CHECKING:
    from engine.runners.document import Document

FILE_NAME: Final = "trackside.yaml"

EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
PluginName = Annotated[str, StringConstraints(pattern=r"^[^/\s]+/[^/\s]+$")]
AgentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
ScopeName = Annotated[str, StringConstraints(min_length=1, max_length=255)]
S = TypeVar("S", bound=YamlModel)


class ConfigError(Exception):
    """The config is invalid. The message has the file, the line and the key."""

    def __init__(self, path: Path, line: int | None, key_path: str, message: str) -> None:
        location = f"{path}:{line}" if line else str(path)
        super().__init__(": ".join(part for part in (location, key_path, message) if part))
        self.path = path
        self.line = line
        self.key_path = key_path
        self.message = message


class DatabaseSection(YamlModel):
    """Where the database is."""

    path: PathText | None = None
    """Relative to this file. Default: in the user's data folder."""
    synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    """NORMAL survives a killed process; FULL also survives a power cut."""


class LimitsSection(YamlModel):
    """Limits of one process that hosts runs, and of what runners store."""

    child_starts: Annotated[int, Field(ge=1, le=1_000)] = 8
    """Processes of runners that start at the same time; other runs wait for their turn."""
    state_bytes: int = Field(MAX_SCOPE_BYTES, ge=1)
    """UTF-8 bytes of the keys and values of one state scope."""
    state_keys: int = Field(MAX_SCOPE_KEYS, ge=1)
    """Keys of one state scope."""


SandboxKind = Literal["bwrap", "none"]


class SandboxSection(YamlModel):
    """Where the process of a runner is confined."""

    kind: SandboxKind
    """`bwrap` for bubblewrap; `none` excepts an agent from the project's sandbox."""
    network: bool = False
    """Whether the runner may use the network of this machine."""


def _as_sandbox_section(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


SandboxEntry = Annotated[
    SandboxSection, BeforeValidator(_as_sandbox_section, json_schema_input_type=SandboxKind | SandboxSection)
]
"""A section, or only its kind."""


class ScopeEntry(YamlModel):
    """Where the events of an agent come from. Exactly one key is given."""

    agent: AgentName | None = None
    """The agent's own id: it handles only events whose sender names it."""
    bot: ScopeName | None = None
    workspace: ScopeName | None = None

    @model_validator(mode="after")
    def _has_one_key(self) -> "ScopeEntry":
        if len(self.model_fields_set) != 1 or None in (getattr(self, name) for name in self.model_fields_set):
            raise ValueError("name one of agent, bot and workspace, or leave scope out to handle all events")
        return self

    def scope(self) -> BindingScope:
        (kind,) = self.model_fields_set
        return BindingScope.model_validate({"type": kind, "id": getattr(self, kind)})


def _check_matched_fields(match: dict[str, str]) -> dict[str, str]:
    unknown = next((name for name in match if not is_matched_field(name)), None)
    if unknown is not None:
        raise ValueError(
            f"{unknown!r:.80} is not a field of events. Use {', '.join(MATCHED_FIELDS)} or {DATA_PREFIX}NAME"
        )
    return match


class ArtifactsSection(YamlModel):
    """How long artifacts are kept."""

    expire_after_seconds: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict[str, int])
    """By artifact type, the seconds after which an artifact cannot be read any more. Default: never."""


class DiskSection(YamlModel):
    """When to warn of a large database."""

    warn_above_mib: Annotated[int, Field(ge=0)] = 2_048
    """MiB of the database on disk above which the console and `doctor` warn; 0 for never."""


class AgentEntry(YamlModel):
    """A runner with its config and policies, under a name."""

    id: AgentName
    runner: PathText
    """A runner id, or a short name if it is unique."""
    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    """Values for the runner's form."""
    resources: Annotated[ResourcePolicy, Field(strict=False)] = ResourcePolicy()
    state: Annotated[StatePolicy, Field(strict=False)] = StatePolicy()
    delivery: Annotated[DeliveryPolicy, Field(strict=False)] = DeliveryPolicy()
    events: list[Annotated[EventType, Field(strict=False)]] = Field([EventType.MESSAGE_RECEIVED], min_length=1)
    scope: ScopeEntry | None = None
    """Where its events come from. Default: everywhere."""
    match: Annotated[dict[str, str], AfterValidator(_check_matched_fields)] = Field(default_factory=dict[str, str])
    """Patterns for fields of the event, with `*` for any characters. All of them must fit."""
    enabled: bool = True
    python: PathText | None = None
    """The interpreter of the runner, relative to this file. Default: the project's."""
    env: list[EnvName] = Field(default_factory=list[EnvName])
    """Environment variables that the runner's process may see, besides the project's."""
    sandbox: SandboxEntry | None = None
    """Where the runner's process is confined. Default: as the project says."""

    @model_validator(mode="after")
    def _names_itself(self) -> "AgentEntry":
        if self.scope is not None and self.scope.agent not in (None, self.id):
            raise ValueError(f"scope.agent must be the agent's own id, {self.id}")
        return self

    def binding_scope(self) -> BindingScope:
        return BindingScope() if self.scope is None else self.scope.scope()

    def handles(self, envelope: EventEnvelope) -> bool:
        """Whether the agent is enabled and handles this event if its sender names no agent."""
        scope = self.binding_scope()
        return self.enabled and EventFilter(tuple(self.events), scope.type, scope.id, self.match).accepts(envelope)


class ProjectConfig(YamlModel):
    """The keys of trackside.yaml. Every key has a default, so an empty file is valid."""

    runners: list[PathText] = Field(default_factory=list[PathText])
    """Runner files, plugin folders, or folders of them; relative to this file."""
    agents: list[AgentEntry] = Field(default_factory=list[AgentEntry])
    models: list[ModelEntry] = Field(default_factory=list[ModelEntry])
    tools: list[ToolEntry] = Field(default_factory=list[ToolEntry])
    knowledge_bases: list[KnowledgeBaseEntry] = Field(default_factory=list[KnowledgeBaseEntry])
    skills: list[PathText] = Field(default_factory=list[PathText])
    """Folders with a SKILL.md, or folders of them; relative to this file."""
    allowed_plugins: list[PluginName] | None = None
    """Plugins that may run, as author/name. Default: all."""
    env: list[EnvName] = Field(default_factory=list[EnvName])
    """Environment variables that every runner's process may see."""
    python: PathText | None = None
    """The interpreter of runners, relative to this file. Default: the folder's .venv, else Trackside's own."""
    deterministic: bool = True
    """Whether hashes, `random` and `uuid.uuid4` of runners are seeded with recorded random seeds."""
    sandbox: SandboxEntry | None = None
    """Where the processes of runners are confined. Default: nowhere, they have the rights of the user."""
    database: DatabaseSection = Field(default_factory=DatabaseSection)
    file_roots: list[PathText] = Field(default_factory=list[PathText])
    """Folders whose files can be chosen in file fields and become artifacts; relative to this file."""
    # Not validated: without a config, the section's validator need not be built.
    limits: LimitsSection = Field(default_factory=LimitsSection.model_construct)
    artifacts: ArtifactsSection = Field(default_factory=ArtifactsSection.model_construct)
    disk: DiskSection = Field(default_factory=DiskSection.model_construct)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of trackside.yaml."""
    schema = ProjectConfig.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": FILE_NAME}


@dataclass(frozen=True, slots=True)
class InvalidAgent:
    """An agent of trackside.yaml that cannot be used as it is written, and the reason."""

    agent_id: str
    error: ConfigError
    written: AgentConfig | None = None
    """The agent, if only its config is invalid: settings that the user saved for it may fix that."""

    @property
    def key(self) -> str:
        """The invalid key: `runner`, `config.pace`."""
        return self.error.key_path.partition(".")[2]

    @property
    def reason(self) -> str:
        return f"{self.key}: {self.error.message}"


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with its config. A folder without a trackside.yaml has the default config."""

    folder: Path
    config: ProjectConfig
    document: "Document | None" = None

    @property
    def file(self) -> Path:
        """The path of trackside.yaml, which may not exist."""
        return self.document.path if self.document else self.folder / FILE_NAME

    def error(self, keys: KeyPath, message: str) -> ConfigError:
        """An error at a key of trackside.yaml."""
        return ConfigError(self.file, self.document.line(keys) if self.document else None, dotted(keys), message)

    def path_of(self, text: str) -> Path:
        """A path of trackside.yaml: relative to the file, with `~` for the home folder."""
        return self.folder / Path(text).expanduser()

    def interpreter(self, text: str | None) -> str | None:
        """An interpreter of trackside.yaml. A bare name is looked up on the PATH when it is started."""
        return text if text is None or "/" not in text else str(self.path_of(text))

    def database_path(self) -> Path | None:
        """The database of trackside.yaml, if it names one."""
        return self.path_of(self.config.database.path) if self.config.database.path else None

    def file_roots(self) -> tuple[Path, ...]:
        """Folders whose files may become artifacts."""
        return tuple(self.path_of(text) for text in self.config.file_roots)

    def state_limits(self) -> StateLimits:
        """The limits of each state scope."""
        return StateLimits(self.config.limits.state_bytes, self.config.limits.state_keys)

    def disk_limit_bytes(self) -> int | None:
        """The size of the database above which the user is warned; None for never."""
        return (self.config.disk.warn_above_mib << 20) or None

    def files(self) -> tuple[Path, ...]:
        """The files that the project was read from: trackside.yaml and the files of its resources."""
        config = self.config
        scripts = [entry.script for entry in (*config.models, *config.tools, *config.knowledge_bases) if entry.script]
        known = [name for base in config.knowledge_bases for name in base.files]
        skills = [file for text in config.skills for file in self.skill_files(text)]
        return (self.file, *map(self.path_of, scripts + known), *skills)

    def skill_files(self, text: str) -> list[Path]:
        """The SKILL.md of a folder that `skills` lists, or those of the folders in it."""
        folder = self.path_of(text)
        own = folder / SKILL_FILE
        return [own] if own.is_file() else sorted(folder.glob(f"*/{SKILL_FILE}"))

    def registry(self, target: Path | None, cwd: Path, added_places: Iterable[Path] = ()) -> Registry:
        """The runners of the target, of this project, of places that were added, and the bundled runners."""
        sources = [*self._sources(target), *map(Source, added_places)]
        return Registry(sources, cwd=cwd, allowed=self.config.allowed_plugins)

    def agents(
        self, registry: Registry, *, as_written: bool = False, envelope: EventEnvelope | None = None
    ) -> tuple[AgentConfig, ...]:
        """The agents, each with its runner's id and a valid config; raises ConfigError if one is invalid.

        With `as_written`, configs are not checked, because the caller applies settings to them first. With
        `envelope`, an invalid agent that does not handle this event is left out.
        """
        make = self._written if as_written else self._agent
        agents: list[AgentConfig] = []
        for place, entry in enumerate(self.config.agents):
            try:
                agents.append(make(place, entry, registry))
            except ConfigError:
                if envelope is None or entry.handles(envelope):
                    raise
        return tuple(agents)

    def agent(self, name: str, registry: Registry, *, as_written: bool = False) -> AgentConfig | None:
        """The agent of this name, even if others are invalid; None if there is none."""
        make = self._written if as_written else self._agent
        places = (place for place, entry in enumerate(self.config.agents) if entry.id == name)
        place = next(places, None)
        return None if place is None else make(place, self.config.agents[place], registry)

    def split_agents(self, registry: Registry) -> tuple[tuple[AgentConfig, ...], tuple["InvalidAgent", ...]]:
        """The valid agents, and the invalid ones with the reasons."""
        valid: list[AgentConfig] = []
        invalid: list[InvalidAgent] = []
        for place, entry in enumerate(self.config.agents):
            try:
                valid.append(self._agent(place, entry, registry))
            except ConfigError as error:
                invalid.append(InvalidAgent(entry.id, error, self._written_if_known(place, entry, registry)))
        return tuple(valid), tuple(invalid)

    def launch_settings(self, agent_id: str | None) -> tuple[str | None, tuple[str, ...]]:
        """The interpreter and the environment variables for an agent's runner, or for a runner opened by path."""
        entry = next((entry for entry in self.config.agents if entry.id == agent_id), None)
        names = [*self.config.env, *(entry.env if entry else ())]
        return self.interpreter((entry.python if entry else None) or self.config.python), tuple(dict.fromkeys(names))

    def sandbox(self, agent_id: str | None) -> SandboxSection | None:
        """The sandbox of an agent's runner, or of a runner opened by path; None if it has none."""
        entry = next((entry for entry in self.config.agents if entry.id == agent_id), None)
        section = (entry.sandbox if entry else None) or self.config.sandbox
        return None if section is None or section.kind == "none" else section

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
        errors = [problem for problem in form.check(agent.runner_config) if not problem.warning]
        if errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            raise self.error(("agents", place, "config", errors[0].field), errors[0].message + more)
        return agent

    def _written_if_known(self, place: int, entry: AgentEntry, registry: Registry) -> AgentConfig | None:
        try:
            return self._written(place, entry, registry)
        except ConfigError:
            return None  # there is no such runner

    def _written(self, place: int, entry: AgentEntry, registry: Registry) -> AgentConfig:
        """The agent with its config completed, but not checked."""
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
            scope=entry.binding_scope(),
            match=entry.match,
            enabled=entry.enabled,
        )


def find_project(target: Path | None, cwd: Path) -> Project:
    """The project of a target folder that has a trackside.yaml, else of the working folder."""
    if target is not None and not target.exists():
        raise target_not_found(target)
    if target is not None and target.is_dir() and (target / FILE_NAME).is_file():
        return load_project(target / FILE_NAME)
    return load_project(cwd / FILE_NAME)


def target_not_found(path: Path) -> TargetNotFound:
    """The error for a target that does not exist."""
    return TargetNotFound(
        f"no such file or folder: {path}. Name a runner file (.py), a plugin folder (with manifest.yaml) "
        f"or a project folder (with {FILE_NAME})."
    )


def load_project(path: Path) -> Project:
    """Read trackside.yaml; a file that does not exist gives the default config."""
    if not path.exists():
        # There is nothing to check, so the validators of the sections need not be built.
        return Project(path.parent, ProjectConfig.model_construct())
    config, document = read_yaml_file(path, ProjectConfig)
    project = Project(path.parent, config, document)
    _reject_duplicates(project)
    return project


def read_yaml_file(path: Path, kind: type[S]) -> "tuple[S, Document]":
    """A YAML file as a model; raises ConfigError with the line if it is invalid."""
    # Imported here: the YAML parser costs 26 ms, and a folder without a config does not need it.
    from engine.runners.document import read  # noqa: PLC0415

    try:
        document = read(path)
    except InvalidFile as error:
        raise ConfigError(path, error.line, "", error.reason) from error
    try:
        return kind.model_validate({} if document.value is None else document.value), document
    except ValidationError as error:
        raise _first_error(error, document) from error


def _reject_duplicates(project: Project) -> None:
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


def _first_error(error: ValidationError, document: "Document") -> ConfigError:
    """The error that comes first in the file."""
    found = faults(error)
    keys, words = min(found, key=lambda found_error: document.line(found_error[0]) or 0)
    hint = ". `trackside schema` lists the known ones" if words == "unknown key" else ""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return ConfigError(document.path, document.line(keys), dotted(keys), words + hint + more)
