"""The resources that can be granted: models, tools, knowledge bases and skills of this host."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ModelFact:
    """A model that runs may be allowed to call."""

    model_id: str
    provider: str
    model_type: Literal["llm", "rerank"] = "llm"
    context_window_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ToolFact:
    """A tool that runs may be allowed to call."""

    tool_name: str
    tool_type: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class KnowledgeBaseFact:
    """A knowledge base that runs may be allowed to search."""

    kb_id: str
    kb_name: str
    kb_type: str


@dataclass(frozen=True, slots=True)
class SkillFact:
    """A skill that can be listed to a runner."""

    skill_name: str
    display_name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """All grantable resources by id. An id that is missing here does not exist."""

    models: Mapping[str, ModelFact] = field(default_factory=dict[str, ModelFact])
    tools: Mapping[str, ToolFact] = field(default_factory=dict[str, ToolFact])
    knowledge_bases: Mapping[str, KnowledgeBaseFact] = field(default_factory=dict[str, KnowledgeBaseFact])
    skills: Mapping[str, SkillFact] = field(default_factory=dict[str, SkillFact])
