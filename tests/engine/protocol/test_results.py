"""SPEC 5 and 7: the result stream."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.protocol import AgentRunResult, Message, MessageChunk, ResultType
from engine.protocol.payloads import PAYLOADS, validate_payload
from engine.protocol.results import FailureCode

CHUNK = MessageChunk(role="assistant", content="he")
MESSAGE = Message(role="assistant", content="hello")

MADE: list[tuple[AgentRunResult, str, dict[str, Any]]] = [
    (AgentRunResult.message_delta("r", CHUNK), "message.delta", {"chunk": {"role": "assistant", "content": "he"}}),
    (
        AgentRunResult.message_completed("r", MESSAGE),
        "message.completed",
        {"message": {"role": "assistant", "content": "hello"}},
    ),
    (
        AgentRunResult.tool_call_started("r", "t1", "clock", {"zone": "UTC"}),
        "tool.call.started",
        {"tool_call_id": "t1", "tool_name": "clock", "parameters": {"zone": "UTC"}},
    ),
    (
        AgentRunResult.tool_call_completed("r", "t1", "clock", result={"time": 1}),
        "tool.call.completed",
        {"tool_call_id": "t1", "tool_name": "clock", "result": {"time": 1}, "error": None},
    ),
    (
        AgentRunResult.tool_call_completed("r", "t1", "clock", error="stopped"),
        "tool.call.completed",
        {"tool_call_id": "t1", "tool_name": "clock", "result": None, "error": "stopped"},
    ),
    (AgentRunResult.artifact_created("r", "file"), "artifact.created", {"artifact_type": "file"}),
    (
        AgentRunResult.artifact_created("r", "file", "a1", "text/plain", "n", 2, "00", {"k": 1}, "aGk="),
        "artifact.created",
        {
            "artifact_type": "file",
            "artifact_id": "a1",
            "mime_type": "text/plain",
            "name": "n",
            "size_bytes": 2,
            "sha256": "00",
            "metadata": {"k": 1},
            "content_base64": "aGk=",
        },
    ),
    (
        AgentRunResult.state_updated("r", "k", None, "actor"),
        "state.updated",
        {"scope": "actor", "key": "k", "value": None},
    ),
    (AgentRunResult.action_requested("r", "wave"), "action.requested", {"action": "wave"}),
    (
        AgentRunResult.action_requested("r", "wave", {"to": "x"}, {"n": 1}),
        "action.requested",
        {"action": "wave", "target": {"to": "x"}, "payload": {"n": 1}},
    ),
    (AgentRunResult.run_completed("r"), "run.completed", {"finish_reason": "stop"}),
    (
        AgentRunResult.run_completed("r", MESSAGE, "length"),
        "run.completed",
        {"finish_reason": "length", "message": {"role": "assistant", "content": "hello"}},
    ),
    (
        AgentRunResult.run_failed("r", "no"),
        "run.failed",
        {"code": "runner.error", "error": "no", "retryable": False},
    ),
    (
        AgentRunResult.run_failed("r", "late", "runner.timeout", True),
        "run.failed",
        {"code": "runner.timeout", "error": "late", "retryable": True},
    ),
]


@pytest.mark.parametrize(("result", "kind", "data"), MADE)
def test_a_constructor_makes_the_envelope_of_the_contract(result: AgentRunResult, kind: str, data: dict[str, Any]):
    assert result.model_dump() == {
        "run_id": "r",
        "type": kind,
        "data": data,
        "sequence": None,
        "timestamp": None,
        "usage": None,
    }


@pytest.mark.parametrize(("result", "kind", "data"), MADE)
def test_results_of_the_constructors_are_accepted(result: AgentRunResult, kind: str, data: dict[str, Any]):
    assert validate_payload(kind, result.data) is None


def test_there_is_a_constructor_for_every_type():
    assert {kind for _, kind, _ in MADE} == set(ResultType)


def test_a_message_may_be_given_as_a_plain_dict():
    assert AgentRunResult.message_delta("r", {"role": "assistant", "content": "he"}) == MADE[0][0]


def test_unknown_keys_of_a_message_are_kept():
    result = AgentRunResult.message_completed("r", Message.model_validate({"role": "assistant", "mood": "calm"}))

    assert result.data == {"message": {"role": "assistant", "mood": "calm"}}


def test_a_run_id_may_be_left_out_and_a_type_may_not():
    assert AgentRunResult(type="message.delta").run_id is None
    with pytest.raises(ValidationError, match="type"):
        AgentRunResult.model_validate({"run_id": "r"})


def test_unknown_result_types_are_accepted():
    assert AgentRunResult(type="weather.changed", data={"rain": True}).type == "weather.changed"


def test_the_terminal_result_may_carry_usage():
    assert AgentRunResult.run_completed("r", usage={"total_tokens": 3}).usage == {"total_tokens": 3}
    assert AgentRunResult.run_failed("r", "no", usage={"total_tokens": 3}).usage == {"total_tokens": 3}


def test_the_types_with_an_effect_have_a_payload():
    assert set(PAYLOADS) == set(ResultType) - {"tool.call.started", "tool.call.completed"}


def test_failure_codes_are_those_of_the_contract():
    assert set(FailureCode) == {
        "runner.timeout",
        "cancelled",
        "runner.error",
        "runner.exception",
        "runner.lost",
        "host_restarted",
    }


BAD: list[tuple[str, object, str]] = [
    ("message.delta", None, "data: should be an object"),
    ("message.delta", ["x"], "data: should be an object"),
    ("message.delta", {}, "data.chunk: field required"),
    ("message.delta", {"chunk": "x"}, "data.chunk: should be an object"),
    ("message.delta", {"chunk": {"content": "x"}}, "data.chunk.role: field required"),
    ("message.delta", {"chunk": {"role": None}}, "data.chunk.role: should be text"),
    (
        "message.delta",
        {"chunk": {"role": "a", "content": 5}},
        "data.chunk.content: should be text or should be a list",
    ),
    (
        "message.delta",
        {"chunk": {"role": "a", "content": [{"text": "x"}]}},
        "data.chunk.content[0].type: field required",
    ),
    ("message.delta", {"chunk": {"role": "a", "all_content": 1}}, "data.chunk.all_content: should be text"),
    ("message.delta", {"chunk": {"role": "a", "is_final": 1}}, "data.chunk.is_final: should be true or false"),
    ("message.delta", {"chunk": {"role": "a"}, "extra": 1}, "data.extra: unknown key"),
    ("message.delta", {"chunk": {"role": "a"}, "str": 1}, "data.str: unknown key"),
    ("message.completed", {"message": {"role": "a"}, "chunk": {}}, "data.chunk: unknown key"),
    ("message.completed", {}, "data.message: field required"),
    ("artifact.created", {}, "data.artifact_type: field required"),
    ("artifact.created", {"artifact_type": "f", "path": "/etc"}, "data.path: unknown key"),
    ("artifact.created", {"artifact_type": "f", "artifact_id": ""}, "data.artifact_id: should not be empty"),
    ("artifact.created", {"artifact_type": "f", "size_bytes": "2"}, "data.size_bytes: should be an integer"),
    (
        "artifact.created",
        {"artifact_type": "f", "size_bytes": -1},
        "data.size_bytes: should be greater than or equal to 0",
    ),
    ("artifact.created", {"artifact_type": "f", "content_base64": 1}, "data.content_base64: should be text"),
    ("state.updated", {"key": "k", "value": 1}, "data.scope: field required"),
    ("state.updated", {"scope": "actor", "value": 1}, "data.key: field required"),
    ("state.updated", {"scope": "actor", "key": "k"}, "data.value: field required"),
    ("state.updated", {"scope": "actor", "key": "", "value": 1}, "data.key: should not be empty"),
    (
        "state.updated",
        {"scope": "actor", "key": "k" * 256, "value": 1},
        "data.key: should have at most 255 characters",
    ),
    (
        "state.updated",
        {"scope": "world", "key": "k", "value": 1},
        "data.scope: should be 'conversation', 'actor', 'subject' or 'runner'",
    ),
    ("state.updated", {"scope": "actor", "key": "k", "value": 1, "ttl": 1}, "data.ttl: unknown key"),
    ("action.requested", {}, "data.action: field required"),
    ("action.requested", {"action": "wave", "target": "x"}, "data.target: should be an object"),
    ("action.requested", {"action": "wave", "when": 1}, "data.when: unknown key"),
    ("run.completed", {"message": {}}, "data.message.role: field required"),
    ("run.completed", {"finish_reason": None}, "data.finish_reason: should be text"),
    ("run.completed", {"status": "ok"}, "data.status: unknown key"),
    ("run.failed", {}, "data.error: field required"),
    ("run.failed", {"error": "no", "retryable": "yes"}, "data.retryable: should be true or false"),
    ("run.failed", {"error": "no", "trace": ""}, "data.trace: unknown key"),
]


@pytest.mark.parametrize(("kind", "data", "why"), BAD)
def test_an_invalid_payload_gives_a_sentence_that_names_the_field(kind: str, data: object, why: str):
    assert validate_payload(kind, data) == why


GOOD: list[tuple[str, object]] = [
    ("message.delta", {"chunk": {"role": "a", "content": None}}),
    ("message.delta", {"chunk": {"role": "a", "mood": 1, "content": [{"type": "text", "text": "x", "lang": "en"}]}}),
    ("message.completed", {"message": {"role": "a", "artifact_refs": ["a1", {"artifact_id": "a2"}]}}),
    ("message.completed", {"message": {"role": "a", "content": "x", "mood": {"calm": True}}}),
    ("artifact.created", {"artifact_type": "f", "artifact_id": None, "metadata": None}),
    ("state.updated", {"scope": "runner", "key": "k" * 255, "value": None}),
    ("run.completed", {}),
    ("run.completed", {"finish_reason": "stop", "message": None}),
    ("run.failed", {"error": "no"}),
]


@pytest.mark.parametrize(("kind", "data"), GOOD)
def test_payload_accepts_what_the_contract_allows(kind: str, data: object):
    assert validate_payload(kind, data) is None


@pytest.mark.parametrize("data", [None, "x", [1], {}, {"any": "thing"}])
@pytest.mark.parametrize("kind", ["tool.call.started", "tool.call.completed", "weather.changed"])
def test_payloads_of_tool_calls_and_unknown_types_are_not_checked(kind: str, data: object):
    assert validate_payload(kind, data) is None


def test_checking_a_payload_does_not_change_it():
    data = {"chunk": {"role": "assistant", "content": [{"type": "text", "text": "x", "more": 1}], "other": None}}
    before = repr(data)

    assert validate_payload("message.delta", data) is None
    assert repr(data) == before


def test_many_faults_of_a_payload_are_counted_and_not_listed():
    assert validate_payload("run.completed", {f"k{i}": i for i in range(5000)}) == "data: 5000 faults"


def test_error_message_stays_short_for_long_keys():
    assert validate_payload("run.completed", {"k" * 100_000: 1}) == f"data.{'k' * 60}…: unknown key"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["chunk", "message", "role", "content", "scope", "key", "value", "error", "str", "type", "text"]
)
NESTED = st.dictionaries(NAMES, JSON | st.dictionaries(NAMES, JSON | st.lists(st.dictionaries(NAMES, JSON))))


@given(kind=st.sampled_from(list(ResultType)), data=JSON | NESTED)
def test_checking_any_data_never_raises(kind: str, data: object):
    why = validate_payload(kind, data)

    assert why is None or (why.startswith("data") and ": " in why)
