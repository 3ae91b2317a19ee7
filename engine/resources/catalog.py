"""What there is to be granted: models, tools, knowledge bases, skills and files that this host knows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ModelFact:
    """A model that can be asked."""

    model_id: str
    provider: str
    model_type: Literal["llm", "rerank"] = "llm"
    context_window_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ToolFact:
    """A tool that can be called."""

    tool_name: str
    tool_type: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class KnowledgeBaseFact:
    """A knowledge base that can be searched."""

    kb_id: str
    kb_name: str
    kb_type: str


@dataclass(frozen=True, slots=True)
class SkillFact:
    """A skill that can be shown to a runner."""

    skill_name: str
    display_name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything by its id. An id that is not here does not exist, whoever asks for it."""

    models: Mapping[str, ModelFact] = field(default_factory=dict[str, ModelFact])
    tools: Mapping[str, ToolFact] = field(default_factory=dict[str, ToolFact])
    knowledge_bases: Mapping[str, KnowledgeBaseFact] = field(default_factory=dict[str, KnowledgeBaseFact])
    skills: Mapping[str, SkillFact] = field(default_factory=dict[str, SkillFact])
