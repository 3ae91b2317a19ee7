"""A scripted model."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from engine.protocol.content import text_of
from engine.resources.catalog import ModelFact
from engine.resources.interfaces import ModelFrame, ModelReply, ModelRequest, ResourceError
from engine.resources.scripted.behaviour import Rules, Sleep, wait
from engine.resources.scripted.model_script import ModelScript, Reply, ReplyRule, Score, ScriptedCall
from engine.resources.scripted.passages import CJK, matched_share, query_terms, terms

_WORD: Final = re.compile(rf"^\s+|[{CJK}]\s*|[^\s{CJK}]+\s*")
_ARGUMENT_CHARS: Final = 8
"""Characters of tool call arguments per chunk: few enough that a runner must join them."""


def words_of(text: str) -> list[str]:
    """Split a text into words with their trailing space, and CJK text into characters. Joined, they give the text."""
    return _WORD.findall(text)


def whole_calls(calls: Sequence[ScriptedCall], ids: Iterator[str]) -> list[dict[str, Any]]:
    """Return the tool calls as a complete message holds them."""
    return [
        {
            "id": call.id or next(ids),
            "type": "function",
            "function": {"name": call.name, "arguments": _as_written(call.arguments)},
        }
        for call in calls
    ]


def chunks_of(reply: Reply, calls: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the chunks of a reply: the text, then each tool call with id and name, then its arguments in parts."""
    pieces = reply.pieces if reply.pieces is not None else words_of(reply.text or "")
    chunks: list[dict[str, Any]] = [{"role": "assistant", "content": piece} for piece in pieces]
    for index, call in enumerate(calls):
        function = call["function"]
        opening = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        chunks.append({"role": "assistant", "tool_calls": [opening]})
        text = function["arguments"]
        chunks.extend(
            {
                "role": "assistant",
                "tool_calls": [{"index": index, "function": {"arguments": text[at : at + _ARGUMENT_CHARS]}}],
            }
            for at in range(0, len(text), _ARGUMENT_CHARS)
        )
    return chunks


def _as_written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


_CJK: Final = re.compile(f"[{CJK}]")
_CHARS_PER_TOKEN: Final = 4
"""Characters per token of Latin text, OpenAI's rule of thumb."""
_MESSAGE_TOKENS: Final = 4
"""Tokens added per message for its role and separators."""


def estimate_tokens(request: ModelRequest) -> int:
    """Estimate tokens: one per CJK character, one per four other characters, and four per message.

    Text, tool calls and funcs count; images do not. A tokenizer would be too slow: runners ask before each call.
    """
    text_tokens = sum(_MESSAGE_TOKENS + _of_text(text_of(message.get("content"))) for message in request.messages)
    calls = (message["tool_calls"] for message in request.messages if message.get("tool_calls"))
    return text_tokens + sum(_of_json(value) for value in calls) + _of_json(request.funcs)


def _of_text(text: str) -> int:
    cjk = len(_CJK.findall(text))
    return cjk + -(-(len(text) - cjk) // _CHARS_PER_TOKEN)


def _of_json(value: Sequence[Any] | Mapping[str, Any]) -> int:
    return _of_text(json.dumps(value, ensure_ascii=False)) if value else 0


_MAX_SHOWN_CHARS: Final = 80


class ScriptedModel:
    """A model that gives the replies of a script. All callers share one sequence of replies."""

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
        """Return the complete reply after the time that its stream would take."""
        reply = self._choose(request)
        calls = whole_calls(reply.tool_calls or (), self._ids)
        async for _ in self._play(reply, calls):
            pass
        message: dict[str, Any] = {"role": "assistant", "content": reply.whole_text() or (None if calls else "")}
        if calls:
            message["tool_calls"] = calls
        return ModelReply(message, reply.usage)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelFrame]:
        """Yield chunks as providers send them; the last frame is marked final and has the usage."""
        reply = self._choose(request)
        async for frame in self._play(reply, whole_calls(reply.tool_calls or (), self._ids)):
            yield frame

    async def rerank(self, query: str, documents: Sequence[str], top_k: int | None) -> list[dict[str, Any]]:
        """Score documents by the script, else by the share of query words; ties keep their order."""
        await wait(self._script.rerank, self._sleep)
        wanted = query_terms(query)
        scores = [_score(self._script.rerank.scores, wanted, document) for document in documents]
        best = sorted(range(len(documents)), key=lambda index: -scores[index])
        return [{"index": index, "relevance_score": scores[index]} for index in best[:top_k]]

    async def count_tokens(self, request: ModelRequest) -> int:
        return estimate_tokens(request)

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
                await self._sleep(pace)  # also if it is 0: the sleep lets other tasks run
            yield ModelFrame(chunk)
        if reply.cut_after is not None:
            raise reply.failure() or ResourceError(
                f"the stream broke after {len(chunks)} pieces", retryable=True, details={"pieces": len(chunks)}
            )
        yield ModelFrame({"role": "assistant", "content": "", "is_final": True}, reply.usage)

    def _choose(self, request: ModelRequest) -> Reply:
        position = _ConversationPosition(request)
        reply = self._rules.choose(position.fits) or self._script.otherwise or self._rules.last_in_order()
        if reply is None:
            raise ResourceError(
                f"the script of model {self._fact.model_id} has no reply for {position.describe()}. "
                f"Its replies: {self._rules.describe()}. Add one that fits, or `otherwise`."
            )
        return reply


class _ConversationPosition:
    """Turn, last user message and new tool results of a request."""

    def __init__(self, request: ModelRequest) -> None:
        self.turn = 1
        self.user_text: str | None = None
        self.results: list[str] = []
        for message in request.messages:
            match message.get("role"):
                case "assistant":
                    self.turn += 1
                    self.results = []
                case "user":
                    self.user_text = text_of(message.get("content"))
                case "tool":
                    self.results.append(text_of(message.get("content")))
                case _:
                    pass

    def fits(self, rule: ReplyRule) -> bool:
        if rule.turn is not None and rule.turn != self.turn:
            return False
        if rule.match is not None and (self.user_text is None or not rule.match.search(self.user_text)):
            return False
        return rule.tool_result is None or any(rule.tool_result.search(result) for result in self.results)

    def describe(self) -> str:
        user = "no user message" if self.user_text is None else f"the user message {_cut(self.user_text)}"
        results = f" and the tool result {_cut(self.results[-1])}" if self.results else ""
        return f"turn {self.turn} with {user}{results}"


def _cut(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + "…")


def _score(scores: Sequence[Score], wanted: frozenset[str], document: str) -> float:
    scripted = (score.score for score in scores if score.match.search(document))
    found = next(scripted, None)
    return matched_share(wanted, terms(document)) if found is None else found
