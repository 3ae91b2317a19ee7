"""A knowledge base of a few documents, searched by words."""

import asyncio
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from engine.resources.catalog import KnowledgeBaseFact
from engine.resources.scripted.failing import Failing, Sleep, wait
from engine.resources.scripted.json_values import holds
from engine.resources.scripted.passages import Passage
from engine.resources.scripted.words import asked, share


class ScriptedKnowledgeBase:
    """The same query always finds the same passages in the same order."""

    def __init__(
        self, fact: KnowledgeBaseFact, passages: Sequence[Passage], failing: Failing, *, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._fact = fact
        self._passages = passages
        self._failing = failing
        self._sleep = sleep

    @property
    def fact(self) -> KnowledgeBaseFact:
        return self._fact

    async def retrieve(self, query: str, top_k: int, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Passages that hold a word of the query, those with most of them first; equals as they were given."""
        await wait(self._failing, self._sleep)
        wanted = asked(query)
        scored = ((share(wanted, passage.terms), passage) for passage in self._passages)
        found = [(score, passage) for score, passage in scored if score and holds(passage.metadata, filters)]
        found.sort(key=lambda hit: -hit[0])
        return [_entry(score, passage) for score, passage in found[:top_k]]


def _entry(score: float, passage: Passage) -> dict[str, Any]:
    """As LangBot has it: content in elements, and the distance beside the score."""
    return {
        "id": passage.id,
        "content": [{"type": "text", "text": passage.text}],
        "metadata": deepcopy(dict(passage.metadata)),  # a runner in this process may change what it gets
        "distance": round(1 - score, 4),
        "score": score,
    }
