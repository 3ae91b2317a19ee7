"""A model that says what a script says."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from engine.protocol.content import text_of
from engine.resources.catalog import ModelFact
from engine.resources.interfaces import ModelFrame, ModelReply, ModelRequest, ResourceError
from engine.resources.scripted.failing import Sleep, wait
from engine.resources.scripted.model_script import ModelScript, Reply, ReplyRule, Score
from engine.resources.scripted.pieces import chunks_of, whole_calls
from engine.resources.scripted.rules import Rules
from engine.resources.scripted.tokens import estimate
from engine.resources.scripted.words import asked, share, terms

_SHOWN: Final = 80


class ScriptedModel:
    """Replies are used up over the life of one instance, whoever asks."""

    def __init__(self, fact: ModelFact, script: ModelScript, *, sleep: Sleep = asyncio.sleep) -> None:
        self._fact = fact
        self._script = script
        self._rules = Rules(script.replies)
        self._sleep = sleep
        self._ids = (f"call_{number}" for number in count(1))

    @property
    def fact(self) -> ModelFact:
        return self._fact

    async def invoke(self, request: ModelRequest) -> ModelReply:
        """The whole answer; it takes as long as its stream would."""
        reply = self._choose(request)
        calls = whole_calls(reply.tool_calls or (), self._ids)
        async for _ in self._play(reply, calls):
            pass
        message: dict[str, Any] = {"role": "assistant", "content": reply.whole_text() or (None if calls else "")}
        if calls:
            message["tool_calls"] = calls
        return ModelReply(message, reply.usage)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelFrame]:
        """Fragments as providers send them; the last frame says that it is final and brings the usage."""
        reply = self._choose(request)
        async for frame in self._play(reply, whole_calls(reply.tool_calls or (), self._ids)):
            yield frame

    async def rerank(self, query: str, documents: Sequence[str], top_k: int | None) -> list[dict[str, Any]]:
        """The script's scores, else the share of the query's words; the first of two equals comes first."""
        await wait(self._script.rerank, self._sleep)
        wanted = asked(query)
        scores = [_score(self._script.rerank.scores, wanted, document) for document in documents]
        best = sorted(range(len(documents)), key=lambda index: -scores[index])
        return [{"index": index, "relevance_score": scores[index]} for index in best[:top_k]]

    async def count_tokens(self, request: ModelRequest) -> int:
        """An estimate: see `estimate`."""
        return estimate(request)

    async def _play(self, reply: Reply, calls: Sequence[Mapping[str, Any]]) -> AsyncIterator[ModelFrame]:
        if reply.cut_after is None:
            await wait(reply, self._sleep)
        elif reply.delay:
            await self._sleep(reply.delay)
        if reply.first_token:
            await self._sleep(reply.first_token)
        pace = self._script.pace if reply.pace is None else reply.pace
        chunks = chunks_of(reply, calls)[: reply.cut_after]
        for place, chunk in enumerate(chunks):
            if place:
                await self._sleep(pace)  # also no pace at all: it lets others have their turn
            yield ModelFrame(chunk)
        if reply.cut_after is not None:
            raise reply.failure() or ResourceError(
                f"the stream broke after {len(chunks)} pieces", retryable=True, details={"pieces": len(chunks)}
            )
        yield ModelFrame({"role": "assistant", "content": "", "is_final": True}, reply.usage)

    def _choose(self, request: ModelRequest) -> Reply:
        moment = _Moment(request)
        reply = self._rules.choose(moment.fits) or self._script.otherwise or self._rules.last_in_order()
        if reply is None:
            raise ResourceError(
                f"the script of model {self._fact.model_id} has no reply for {moment.in_words()}. "
                f"Its replies: {self._rules.in_words()}. Add one that fits, or `otherwise`."
            )
        return reply


class _Moment:
    """Where a conversation stands when the model is asked."""

    def __init__(self, request: ModelRequest) -> None:
        self.turn = 1
        self.said: str | None = None
        self.results: list[str] = []
        for message in request.messages:
            match message.get("role"):
                case "assistant":
                    self.turn += 1
                    self.results = []
                case "user":
                    self.said = text_of(message.get("content"))
                case "tool":
                    self.results.append(text_of(message.get("content")))
                case _:
                    pass

    def fits(self, rule: ReplyRule) -> bool:
        if rule.turn is not None and rule.turn != self.turn:
            return False
        if rule.match is not None and (self.said is None or not rule.match.search(self.said)):
            return False
        return rule.tool_result is None or any(rule.tool_result.search(result) for result in self.results)

    def in_words(self) -> str:
        said = "no user message" if self.said is None else f"the user message {_cut(self.said)}"
        results = f" and the tool result {_cut(self.results[-1])}" if self.results else ""
        return f"turn {self.turn} with {said}{results}"


def _cut(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def _score(scores: Sequence[Score], wanted: frozenset[str], document: str) -> float:
    scripted = (score.score for score in scores if score.match.search(document))
    found = next(scripted, None)
    return share(wanted, terms(document)) if found is None else found
