"""All that a screen needs to have a runner configured."""

from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError

from engine.intake.agents import DeliveryPolicy, ResourcePolicy, StatePolicy, StateScope
from engine.intake.settings import KeptSettings
from engine.protocol.manifest import FieldType
from engine.resources.catalog import Catalog
from engine.runners.faults import faults
from engine.runners.fields import Field, Option
from engine.runners.forms import ConfigForm


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to be chosen, each by its id and name."""

    models: tuple[Option, ...]
    rerank_models: tuple[Option, ...]
    knowledge_bases: tuple[Option, ...]
    tools: tuple[Option, ...]
    skills: tuple[Option, ...]
    files: tuple[Option, ...]
    scopes: tuple[Option, ...]
    """Of state."""
    has_file_roots: bool = True
    """Whether there is any folder that files could be chosen from."""

    def by_field(self) -> dict[FieldType, tuple[Option, ...]]:
        """For each kind of selector, what it selects from."""
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
    """What trackside.yaml says, with the form's defaults."""
    secrets: frozenset[str]
    """Names in it whose values must not be shown."""
    choices: Choices
    """What there is to be chosen for fields and policies."""
    resources: ResourcePolicy
    state: StatePolicy
    delivery: DeliveryPolicy
    kept: KeptSettings | None
    """What a person keeps over that, if anything."""
    rules: ConfigForm
    """Checks and reads values: `check`, `check_field`, `check_some`, `read`, `complete`."""

    def check_policy(self, section: str, name: str, value: object) -> str | None:
        """What is wrong with one value of resources, state or delivery, in the words of trackside.yaml."""
        policy: ResourcePolicy | StatePolicy | DeliveryPolicy = getattr(self, section)
        try:
            type(policy).model_validate({name: value}, strict=True)
        except ValidationError as error:
            return faults(error)[0][1]
        return None


def choices_of(catalog: Catalog, files: list[str], *, has_file_roots: bool = True) -> Choices:
    """What the catalog and the file roots hold."""
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
