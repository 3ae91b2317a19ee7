"""What a scripted knowledge base knows, as YAML has it."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from engine.resources.scripted.failing import Failing
from engine.resources.scripted.model_script import refuse_both
from engine.section import PathText, ResourceName, Section


class InlineDocument(Section):
    """A document that is one passage."""

    text: str
    id: ResourceName | None = None
    """Not set: doc_1, doc_2 … by its place."""
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])


class KnowledgeScript(Failing):
    """What a script file of a knowledge base holds."""

    documents: list[InlineDocument] = Field(default_factory=list[InlineDocument])
    files: list[PathText] = Field(default_factory=list[PathText])
    """Text and Markdown, split in passages; relative to the file that names them."""

    @model_validator(mode="after")
    def _check_failure(self) -> Self:
        self.check_failure()
        return self


class KnowledgeBaseEntry(KnowledgeScript):
    """A knowledge base, with its script here or in a file of its own."""

    id: ResourceName
    kind: Literal["scripted"]
    name: str | None = None
    """What people call it; not set: its id."""
    script: PathText | None = None
    """A YAML file with the keys of a script, instead of them; relative to this file."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse_both(self, KnowledgeScript)
        return self
