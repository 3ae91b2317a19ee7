"""A scripted tool: which answer is used, and which calls are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from engine.protocol.errors import ErrorCode
from engine.resources.interfaces import ResourceError
from engine.resources.scripted.tool import ScriptedTool, ToolBody

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "note": {"type": ["string", "null"]},
        "loose": {},
    },
    "required": ["city"],
}


@pytest.fixture
def tool(sleeps):
    def of(*answers: dict[str, Any], **body: Any) -> ScriptedTool:
        return ScriptedTool("t", ToolBody.model_validate({"answers": list(answers), **body}), sleep=sleeps)

    return of


def test_a_tool_describes_its_name_and_parameters(tool):
    scripted = tool(description="Tells.", parameters=SCHEMA)

    assert scripted.detail() == {"name": "t", "description": "Tells.", "parameters": SCHEMA}
    assert (scripted.fact.tool_name, scripted.fact.tool_type, scripted.fact.description) == ("t", "scripted", "Tells.")
    assert tool().detail()["parameters"] == {"type": "object", "properties": {}}


async def test_first_answer_whose_parameters_match_the_call_is_used(tool):
    scripted = tool(
        {"match": {"city": "Berlin", "unit": "F"}, "result": 48},
        {"match": {"city": "Berlin"}, "result": 9},
        otherwise={"result": None},
    )

    assert await scripted.call({"city": "Berlin", "unit": "F"}) == 48
    assert await scripted.call({"city": "Berlin", "unit": "C", "more": 1}) == 9
    assert await scripted.call({"unit": "F"}) is None


async def test_number_matches_an_equal_number_but_not_a_bool(tool):
    scripted = tool({"match": {"a": 1}, "result": "one"}, {"match": {"a": [True, {"b": 2}]}, "result": "deep"},
                    otherwise={"result": "other"})  # fmt: skip

    assert await scripted.call({"a": 1.0}) == "one"
    assert await scripted.call({"a": True}) == "other"
    assert await scripted.call({"a": [True, {"b": 2.0}]}) == "deep"
    assert await scripted.call({"a": [1, {"b": 2}]}) == "other"
    assert await scripted.call({"a": [True, {"b": 2, "c": 3}]}) == "other"


async def test_answers_without_match_are_used_in_order_and_the_last_one_repeats(tool):
    scripted = tool({"result": 12}, {"result": 5})

    assert [await scripted.call({}) for _ in range(3)] == [12, 5, 5]


async def test_error_without_a_matching_answer_lists_the_answers(tool):
    scripted = tool({"match": {"city": "Berlin"}, "result": 9})

    with pytest.raises(ResourceError) as caught:
        await scripted.call({"city": "Rome"})

    assert str(caught.value) == (
        "the script of tool t has no answer for {'city': 'Rome'}. Its answers: #1 city = 'Berlin'. "
        "Add one that fits, or `otherwise`."
    )


async def test_an_answer_can_be_slow_and_fail(tool, sleeps):
    scripted = tool({"delay": 2, "error": "no such city"}, {"delay": 1, "result": "late"}, {"status": 429})

    with pytest.raises(ResourceError, match=r"^no such city$"):
        await scripted.call({})
    assert await scripted.call({}) == "late"
    with pytest.raises(ResourceError) as caught:
        await scripted.call({})

    assert caught.value.code is ErrorCode.RATE_LIMITED
    assert sleeps.all == [2, 1]


async def test_changing_a_result_does_not_change_the_next_one(tool):
    scripted = tool(otherwise={"result": {"days": [1]}})
    (await scripted.call({}))["days"].append(2)
    scripted.detail()["parameters"]["properties"]["x"] = {}

    assert await scripted.call({}) == {"days": [1]}
    assert scripted.detail()["parameters"]["properties"] == {}


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, "t: parameters.city is missing"),
        ({"city": 5}, "t: parameters.city must be of type string"),
        ({"city": "B", "days": "2"}, "t: parameters.days must be of type integer"),
        ({"city": "B", "days": True}, "t: parameters.days must be of type integer"),
        ({"city": "B", "days": 1.5}, "t: parameters.days must be of type integer"),
        ({"city": "B", "note": 5}, "t: parameters.note must be of type string or null"),
    ],
)
async def test_call_that_violates_the_schema_is_refused_and_uses_up_no_answer(tool, parameters, said):
    scripted = tool({"result": "first"}, {"result": "second"}, parameters=SCHEMA)

    with pytest.raises(ResourceError) as caught:
        await scripted.call(parameters)

    assert str(caught.value) == said
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    assert await scripted.call({"city": "B", "days": 2.0, "note": None, "loose": [], "unknown": 1}) == "first"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"required": "city"},
        {"required": [1]},
        {"properties": []},
        {"properties": {"a": "string"}},
        {"properties": {"a": {"type": "text"}}},
        {"properties": {"a": {"type": [[]]}}},
    ],
)
def test_unusable_schema_is_refused(schema):
    with pytest.raises(ValidationError):
        ToolBody.model_validate({"parameters": schema})
