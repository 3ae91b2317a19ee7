"""The form that a screen shows to configure a runner."""

from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError

from engine.project.agents import DeliveryPolicy, ResourcePolicy, StatePolicy, StateScope
from engine.project.kept_settings import KeptSettings
from engine.protocol.manifest import FieldType
from engine.resources.catalog import Catalog
from engine.runners.config_form import ConfigForm
from engine.runners.form_fields import Field, Option
from engine.runners.validation_text import faults


@dataclass(frozen=True, slots=True)
class Choices:
    """The resources that can be chosen, each with its id and name."""

    models: tuple[Option, ...]
    rerank_models: tuple[Option, ...]
    knowledge_bases: tuple[Option, ...]
    tools: tuple[Option, ...]
    skills: tuple[Option, ...]
    files: tuple[Option, ...]
    scopes: tuple[Option, ...]
    """Scopes of state."""
    has_file_roots: bool = True
    """Whether the project has folders to choose files from."""

    def by_field(self) -> dict[FieldType, tuple[Option, ...]]:
        """The options of each type of selector."""
        return {
            FieldType.LLM_MODEL: self.models,
            FieldType.MODEL_FALLBACK: self.models,
            FieldType.RERANK_MODEL: self.rerank_models,
            FieldType.KNOWLEDGE_BASES: self.knowledge_bases,
            FieldType.FILE: self.files,
            FieldType.FILES: self.files,
        }


@dataclass(frozen=True, slots=True)
class Form:
    """The form of an agent, or of a runner opened by path."""

    agent_id: str | None
    runner_id: str
    fields: tuple[Field, ...]
    config: dict[str, Any]
    """The config of trackside.yaml, completed with defaults."""
    secrets: frozenset[str]
    """The names of config values that must not be shown."""
    choices: Choices
    """The options of fields and policies."""
    resources: ResourcePolicy
    state: StatePolicy
    delivery: DeliveryPolicy
    kept: KeptSettings | None
    """The settings that the user saved over the config."""
    rules: ConfigForm
    """Checks and reads values: `check`, `check_field`, `check_some`, `read`, `complete`."""

    def check_policy(self, section: str, name: str, value: object) -> str | None:
        """The problem of one value of the section resources, state or delivery of trackside.yaml."""
        policy: ResourcePolicy | StatePolicy | DeliveryPolicy = getattr(self, section)
        try:
            type(policy).model_validate({name: value}, strict=True)
        except ValidationError as error:
            return faults(error)[0][1]
        return None


def resource_choices(catalog: Catalog, files: list[str], *, has_file_roots: bool = True) -> Choices:
    """The options that the catalog and the file roots offer."""
    models = catalog.models.values()
    return Choices(
        models=tuple(Option(model.model_id, model.model_id) for model in models if model.model_type == "llm"),
        rerank_models=tuple(Option(model.model_id, model.model_id) for model in models if model.model_type == "rerank"),
        knowledge_bases=tuple(Option(base.kb_id, base.kb_name) for base in catalog.knowledge_bases.values()),
        tools=tuple(Option(tool.tool_name, tool.tool_name) for tool in catalog.tools.values()),
        skills=tuple(
            Option(skill.skill_name, skill.display_name or skill.skill_name) for skill in catalog.skills.values()
        ),
        files=tuple(Option(key, key) for key in files),
        scopes=tuple(Option(scope, scope) for scope in get_args(StateScope)),
        has_file_roots=has_file_roots,
    )
