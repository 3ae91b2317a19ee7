"""All resources of this host, by id."""

from collections.abc import Iterable

from engine.resources.catalog import Catalog
from engine.resources.interfaces import KnowledgeBase, Model, Tool
from engine.resources.skills import Skill


class ResourceSet:
    """Looks up resources for granted calls, and lists them for grants."""

    def __init__(
        self,
        models: Iterable[Model] = (),
        tools: Iterable[Tool] = (),
        knowledge_bases: Iterable[KnowledgeBase] = (),
        skills: Iterable[Skill] = (),
    ) -> None:
        self.models = {model.fact.model_id: model for model in models}
        self.tools = {tool.fact.tool_name: tool for tool in tools}
        self.knowledge_bases = {base.fact.kb_id: base for base in knowledge_bases}
        self.skills = {skill.fact.skill_name: skill for skill in skills}

    def catalog(self) -> Catalog:
        """Return the resources that can be granted."""
        return Catalog(
            models={ident: model.fact for ident, model in self.models.items()},
            tools={name: tool.fact for name, tool in self.tools.items()},
            knowledge_bases={ident: base.fact for ident, base in self.knowledge_bases.items()},
            skills={name: skill.fact for name, skill in self.skills.items()},
        )
