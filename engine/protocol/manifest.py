"""A runner's manifest: capabilities, permissions and config form."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BeforeValidator, Field, StrictBool

from engine.protocol.base import Model, OpenModel, StrictModel

DEFAULT_LOCALE: Final = "en_US"


def _by_locale(value: object) -> object:
    return {DEFAULT_LOCALE: value} if isinstance(value, str) else value


LocalText = Annotated[dict[str, str], BeforeValidator(_by_locale)]
"""A text in several languages, by locale; a plain string counts as English."""


class RunnerCapabilities(StrictModel):
    """What a runner can do. A capability grants no resource by itself."""

    streaming: StrictBool = False
    tool_calling: StrictBool = False
    """Required for tools."""
    knowledge_retrieval: StrictBool = False
    """Required for knowledge bases."""
    multimodal_input: StrictBool = False
    skill_authoring: StrictBool = False
    """Required for skills."""
    interrupt: StrictBool = False
    steering: StrictBool = False
    """Required for `steering_pull`."""


ModelOperation = Literal["invoke", "stream", "rerank"]
ToolOperation = Literal["detail", "call"]
KnowledgeOperation = Literal["list", "retrieve"]
HistoryOperation = Literal["page", "search"]
EventOperation = Literal["get", "page"]
ArtifactOperation = Literal["metadata", "read"]
StorageKind = Literal["plugin", "workspace"]
FileKind = Literal["config", "knowledge"]


class RunnerPermissions(StrictModel):
    """The upper bound of what a run of this runner may be granted."""

    models: list[ModelOperation] = Field(default_factory=list[ModelOperation])
    tools: list[ToolOperation] = Field(default_factory=list[ToolOperation])
    knowledge_bases: list[KnowledgeOperation] = Field(default_factory=list[KnowledgeOperation])
    history: list[HistoryOperation] = Field(default_factory=list[HistoryOperation])
    events: list[EventOperation] = Field(default_factory=list[EventOperation])
    artifacts: list[ArtifactOperation] = Field(default_factory=list[ArtifactOperation])
    storage: list[StorageKind] = Field(default_factory=list[StorageKind])
    files: list[FileKind] = Field(default_factory=list[FileKind])


class FieldType(StrEnum):
    """The type of a config field."""

    STRING = "string"
    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    SELECT = "select"
    PROMPT_EDITOR = "prompt-editor"
    LLM_MODEL = "llm-model-selector"
    MODEL_FALLBACK = "model-fallback-selector"
    RERANK_MODEL = "rerank-model-selector"
    KNOWLEDGE_BASES = "knowledge-base-multi-selector"
    FILE = "file"
    FILES = "array[file]"
    STRINGS = "array[string]"


FIELD_TYPE_ALIASES: Final[Mapping[str, FieldType]] = {
    "select-llm-model": FieldType.LLM_MODEL,
    "select-knowledge-bases": FieldType.KNOWLEDGE_BASES,
}


def _without_alias(value: object) -> object:
    return FIELD_TYPE_ALIASES.get(value, value) if isinstance(value, str) else value


class ConfigOption(OpenModel):
    """One option of a select field."""

    name: str | int | float | bool
    """The stored value."""
    label: LocalText = Field(default_factory=dict)


def _as_options(value: object) -> object:
    if not isinstance(value, list):
        return value
    listed = cast("list[object]", value)
    return [{"name": option} if isinstance(option, str | int | float) else option for option in listed]


class ConfigItem(OpenModel):
    """One field of a runner's config form."""

    name: str = Field(min_length=1)
    type: Annotated[FieldType, BeforeValidator(_without_alias)]
    label: LocalText = Field(default_factory=dict)
    description: LocalText | None = None
    required: StrictBool = False
    default: Any = None
    options: Annotated[list[ConfigOption] | None, BeforeValidator(_as_options)] = None


class AgentRunnerManifest(Model):
    """Everything that a runner declares. Its id must equal the id made from its location."""

    id: str
    name: str = Field(min_length=1)
    label: LocalText = Field(default_factory=dict)
    description: LocalText | None = None
    capabilities: RunnerCapabilities = Field(default_factory=RunnerCapabilities)
    permissions: RunnerPermissions = Field(default_factory=RunnerPermissions)
    config_schema: list[ConfigItem] = Field(default_factory=list[ConfigItem])
    metadata: dict[str, Any] = Field(default_factory=dict)
