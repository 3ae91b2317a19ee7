"""A scripted knowledge base: a few documents, searched by words."""

import asyncio
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from engine.resources.catalog import KnowledgeBaseFact
from engine.resources.scripted.behaviour import ScriptedBehaviour, Sleep, contains_all, wait
from engine.resources.scripted.model_script import refuse_both
from engine.resources.scripted.passages import Passage, matched_share, query_terms
from engine.yaml_model import PathText, ResourceName, YamlModel


class ScriptedKnowledgeBase:
    """A knowledge base whose results depend only on the query."""

    def __init__(
        self,
        fact: KnowledgeBaseFact,
        passages: Sequence[Passage],
        failing: ScriptedBehaviour,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._fact = fact
        self._passages = passages
        self._failing = failing
        self._sleep = sleep

    @property
    def fact(self) -> KnowledgeBaseFact:
        return self._fact

    async def retrieve(self, query: str, top_k: int, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return passages that contain words of the query, best match first, ties in document order."""
        await wait(self._failing, self._sleep)
        wanted = query_terms(query)
        scored = ((matched_share(wanted, passage.terms), passage) for passage in self._passages)
        found = [(score, passage) for score, passage in scored if score and contains_all(passage.metadata, filters)]
        found.sort(key=lambda hit: -hit[0])
        return [_entry(score, passage) for score, passage in found[:top_k]]


def _entry(score: float, passage: Passage) -> dict[str, Any]:
    """Convert to LangBot's shape: content as elements, distance beside the score."""
    return {
        "id": passage.id,
        "content": [{"type": "text", "text": passage.text}],
        "metadata": deepcopy(dict(passage.metadata)),  # an in-process runner may change the value
        "distance": round(1 - score, 4),
        "score": score,
    }


class InlineDocument(YamlModel):
    """A document that is one passage."""

    text: str
    id: ResourceName | None = None
    """Default: doc_1, doc_2 … by position."""
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])


class KnowledgeScript(ScriptedBehaviour):
    """The content of a knowledge base's script file."""

    documents: list[InlineDocument] = Field(default_factory=list[InlineDocument])
    files: list[PathText] = Field(default_factory=list[PathText])
    """Text and Markdown files, split into passages; paths are relative to this file."""

    @model_validator(mode="after")
    def _check_failure(self) -> Self:
        self.check_failure()
        return self


class KnowledgeBaseEntry(KnowledgeScript):
    """A knowledge base, with its script here or in a file of its own."""

    id: ResourceName
    kind: Literal["scripted"]
    name: str | None = None
    """Its name for the user. Default: its id."""
    script: PathText | None = None
    """A YAML file with the keys of a script, instead of them; relative to this file."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse_both(self, KnowledgeScript)
        return self
