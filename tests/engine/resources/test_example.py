"""The example in fixtures/scripts plays a weather agent's conversation from beginning to end."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.project.config import load_project
from engine.project.resource_loader import load_resources
from engine.protocol.errors import ErrorCode
from engine.resources.interfaces import ModelRequest, ResourceError
from engine.resources.resource_set import ResourceSet

EXAMPLE = Path(__file__).parents[3] / "fixtures/scripts/trackside.yaml"


@pytest.fixture
def example(sleeps) -> ResourceSet:
    return load_resources(load_project(EXAMPLE), sleep=sleeps)


async def converse(resources: ResourceSet, text: str) -> list[dict[str, Any]]:
    """Run the tool loop of a runner."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": text}]
    while True:
        answer = dict((await resources.models["weather-model"].invoke(ModelRequest(messages))).message)
        messages.append(answer)
        if not answer.get("tool_calls"):
            return messages
        for call in answer["tool_calls"]:
            tool = resources.tools[call["function"]["name"]]
            result = await tool.call(json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)})


async def test_two_cities_are_two_parallel_calls_and_one_answer(example: ResourceSet, sleeps):
    messages = await converse(example, "How is the weather in Berlin and in Paris?")

    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["call_1", "call_2"]
    assert json.loads(messages[3]["content"]) == {"city": "Paris", "temperature": 17, "sky": "sunny"}
    assert messages[-1]["content"] == "Berlin has light rain, Paris is sunny. Take an umbrella to Berlin."
    assert 0.2 in sleeps.all


async def test_the_same_question_is_answered_again_and_in_chinese(example: ResourceSet):
    for text in ("What is the weather?", "What is the weather?", "今天天气怎么样"):
        assert (await converse(example, text))[-1]["content"] == "It is 9 degrees with light rain. Take an umbrella."


async def test_replies_without_conditions_are_used_in_order(example: ResourceSet):
    said = [(await converse(example, "hi"))[-1]["content"] for _ in range(3)]

    assert said == [
        "Hello! Ask me about the weather.",
        "Still here. Ask me about the weather in Berlin or Paris.",
        "I only know about the weather.",
    ]


async def test_scripted_failures_occur_on_request(example: ResourceSet, sleeps):
    with pytest.raises(ResourceError) as caught:
        await converse(example, "are you busy? weather please")
    assert caught.value.code is ErrorCode.RATE_LIMITED
    assert caught.value.details == {"status": 429, "retry_after": 2}
    assert (await converse(example, "are you busy? weather please"))[-1]["content"].startswith("It is 9 degrees")

    with pytest.raises(ResourceError, match="not available"):
        await converse(example, "be broken")
    with pytest.raises(ResourceError, match="broke after 4 pieces"):
        await converse(example, "get cut off")
    await converse(example, "be slow")
    assert 3 in sleeps.all


async def test_tools_answer_by_parameters_and_in_order(example: ResourceSet):
    weather, train = example.tools["get_weather"], example.tools["next_train"]

    assert (await weather.call({"city": "Berlin", "unit": "fahrenheit"}))["temperature"] == 48
    with pytest.raises(ResourceError, match="unknown city"):
        await weather.call({"city": "Atlantis"})
    assert [await train.call({}) for _ in range(4)] == [12, 5, 0, 0]


async def test_the_knowledge_base_finds_documents_and_passages_of_files(example: ResourceSet):
    base = example.knowledge_bases["travel-notes"]

    async def found(query: str, **filters: Any) -> list[str]:
        return [hit["id"] for hit in await base.retrieve(query, 5, filters)]

    assert (await found("rainy autumn weather"))[0] == "kb/berlin.md#2"
    assert await found("雨伞") == ["umbrella"]
    assert await found("metro morning", source="kb/paris.txt") == ["kb/paris.txt#1"]
    assert await found("airport zones") == ["kb/berlin.md#3"]
    assert await found("visa", country="France") == []


async def test_the_reranker_scores_by_pattern_and_else_by_words(example: ResourceSet):
    ranked = await example.models["weather-rerank"].rerank("rain", ["no", "an umbrella", "rain"], 2)

    assert ranked == [{"index": 2, "relevance_score": 1.0}, {"index": 1, "relevance_score": 0.9}]
