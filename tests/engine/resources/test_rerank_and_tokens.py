"""A scripted model as a reranker and as a counter of tokens."""

from typing import Any

import pytest

from engine.protocol.errors import ErrorCode
from engine.resources.interfaces import ModelRequest, ResourceError


async def test_documents_are_ranked_by_words_in_the_query_and_ties_keep_their_order(model):
    documents = ["nothing", "light rain", "rain in Berlin", "light rain again"]

    assert await model().rerank("Light rain", documents, None) == [
        {"index": 1, "relevance_score": 1.0},
        {"index": 3, "relevance_score": 1.0},
        {"index": 2, "relevance_score": 0.5},
        {"index": 0, "relevance_score": 0.0},
    ]
    assert [hit["index"] for hit in await model().rerank("Light rain", documents, 2)] == [1, 3]


async def test_scripted_scores_override_matching_words(model):
    scripted = model(rerank={"scores": [{"match": "Berlin", "score": 0.1}, {"match": "sun", "score": 0.8}]})

    assert await scripted.rerank("rain Berlin", ["rain Berlin", "sun", "rain"], 10) == [
        {"index": 1, "relevance_score": 0.8},
        {"index": 2, "relevance_score": 0.5},
        {"index": 0, "relevance_score": 0.1},
    ]


async def test_reranking_can_be_slow_and_fail(model, sleeps):
    with pytest.raises(ResourceError) as caught:
        await model(rerank={"status": 429, "delay": 1}).rerank("q", ["d"], None)

    assert caught.value.code is ErrorCode.RATE_LIMITED
    assert sleeps.all == [1]


async def test_tokens_are_estimated_from_text_tool_calls_and_funcs(model):
    def said(text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    async def count(*messages: dict[str, Any], funcs: tuple[dict[str, Any], ...] = ()) -> int:
        return await model().count_tokens(ModelRequest(messages, funcs))

    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "function": {"name": "t"}}]}

    assert await count() == 0
    assert await count(said("")) == 4
    assert await count(said("12345")) == 4 + 2
    assert await count(said("今天下雨")) == 4 + 4
    assert await count(said("今天 rain")) == 4 + 2 + 2
    assert await count({"role": "user", "content": [{"type": "text", "text": "12345678"}]}) == 4 + 2
    assert await count(called) > await count({"role": "assistant", "content": None})
    assert await count(said("a"), funcs=({"name": "get_weather"},)) > await count(said("a"))
