"""SPEC 8: the run-scoped API as a runner uses it."""

import inspect
import math
from collections.abc import AsyncGenerator, Callable
from enum import IntEnum, StrEnum
from typing import Any

import pytest

from engine.protocol import AgentAPIError, AgentAPIException, ErrorCode, Message, MessageChunk
from engine.protocol.api import RunnerAPI
from engine.protocol.pages import (
    ArtifactMetadata,
    ArtifactRead,
    ArtifactReference,
    EventRecord,
    HistoryPage,
    Page,
    RunEvent,
    RunRecord,
    SteeringItem,
    TranscriptItem,
)


class Host:
    """Returns given replies, and records the calls."""

    def __init__(self, *replies: Any) -> None:
        self.replies = replies
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.closed = False

    async def call(self, action: str, data: dict[str, Any]) -> Any:
        self.asked.append((action, data))
        return self.replies[0]

    async def stream(self, action: str, data: dict[str, Any]) -> AsyncGenerator[Any, None]:
        self.asked.append((action, data))
        try:
            for reply in self.replies:
                yield reply
        finally:
            self.closed = True


SIGNATURES = {
    "invoke_llm": "model_id, messages, funcs=None, extra_args=None",
    "invoke_llm_stream": "model_id, messages, funcs=None, extra_args=None",
    "invoke_rerank": "model_id, query, documents, top_k=None",
    "count_tokens": "model_id, messages, funcs=None",
    "get_tool_detail": "tool_name",
    "call_tool": "tool_name, parameters",
    "retrieve_knowledge": "kb_id, query_text, top_k=5, filters=None",
    "list_knowledge_bases": "",
    "history_page": "conversation_id=None, before_cursor=None, after_cursor=None, limit=50, direction='backward', "
    "include_artifacts=False",
    "history_search": "query, filters=None, top_k=10",
    "event_get": "event_id",
    "event_page": "before_cursor=None, limit=50",
    "steering_pull": "mode='all', limit=None",
    "artifact_metadata": "artifact_id",
    "artifact_read": "artifact_id, offset=0, limit=None",
    "artifact_read_range": "artifact_id, offset=0, length=65536",
    "state_get": "scope, key",
    "state_set": "scope, key, value",
    "state_delete": "scope, key",
    "state_list": "scope, prefix=None",
    "get_plugin_storage": "key",
    "set_plugin_storage": "key, value",
    "delete_plugin_storage": "key",
    "get_plugin_storage_keys": "",
    "get_workspace_storage": "key",
    "set_workspace_storage": "key, value",
    "delete_workspace_storage": "key",
    "get_workspace_storage_keys": "",
    "get_file": "file_key",
    "get_langbot_version": "",
    "get_prompt": "",
    "run_get": "",
    "run_events_page": "before_cursor=None, after_cursor=None, limit=50, direction='forward'",
    "run_list": "conversation_id=None, statuses=None, before_cursor=None, limit=50",
    "run_cancel": "run_id=None, reason=None",
}


def test_the_calls_are_those_of_the_contract_and_no_others():
    public = {name for name, _ in inspect.getmembers(RunnerAPI, inspect.isfunction) if not name.startswith("_")}

    assert public == set(SIGNATURES)


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_call_has_the_parameters_and_defaults_of_the_contract(name: str):
    call = getattr(RunnerAPI, name)
    said = [
        parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
        for parameter in list(inspect.signature(call).parameters.values())[1:]
    ]

    assert ", ".join(said) == SIGNATURES[name]
    assert inspect.isasyncgenfunction(call) if name == "invoke_llm_stream" else inspect.iscoroutinefunction(call)


async def test_every_call_carries_the_run_id_and_all_its_arguments():
    host = Host({"items": []})

    await RunnerAPI(host, "run_1").history_page(limit=7, before_cursor="c")

    assert host.asked == [
        (
            "history_page",
            {
                "run_id": "run_1",
                "conversation_id": None,
                "before_cursor": "c",
                "after_cursor": None,
                "limit": 7,
                "direction": "backward",
                "include_artifacts": False,
            },
        )
    ]


ITEM = {"transcript_id": "t", "role": "user", "content": "hi", "seq": 3, "cursor": "c3"}
EVENT = {"event_id": "e", "event_type": "message.received", "source": "console"}
ARTIFACT = {"artifact_id": "a", "artifact_type": "file"}
ENTRY = {"run_id": "r", "position": 1, "source": "host", "type": "run.started", "data": {}, "cursor": "j1"}
STEERED = {"claimed_run_id": "r", "runner_id": "plugin:a/b/c", "event": EVENT, "input": {"text": "wait"}}

ANSWERS: list[tuple[str, tuple[Any, ...], Any, Callable[[Any], Any], Any]] = [
    (
        "invoke_llm",
        ("m", [Message(role="user", content="hi")]),
        {"message": {"role": "assistant", "content": "ho"}},
        lambda it: it,
        Message(role="assistant", content="ho"),
    ),
    ("invoke_rerank", ("m", "q", ["d"]), {"results": [{"index": 0}]}, lambda it: it, [{"index": 0}]),
    ("count_tokens", ("m", []), {"tokens": 12}, lambda it: it, 12),
    ("get_tool_detail", ("t",), {"tool": {"name": "t"}}, lambda it: it, {"name": "t"}),
    ("call_tool", ("t", {}), {"result": [1]}, lambda it: it, [1]),
    ("retrieve_knowledge", ("k", "q"), {"results": [{"text": "x"}]}, lambda it: it, [{"text": "x"}]),
    ("list_knowledge_bases", (), {"knowledge_bases": [{"kb_id": "k"}]}, lambda it: it, [{"kb_id": "k"}]),
    ("history_page", (), {"items": [ITEM], "has_more": True, "next_cursor": "n"}, lambda it: it.items[0].seq, 3),
    (
        "history_search",
        ("hi",),
        {"items": [ITEM], "total_count": 1, "query": "hi"},
        lambda it: it.items[0].role,
        "user",
    ),
    ("event_get", ("e",), EVENT, lambda it: it.event_type, "message.received"),
    ("event_page", (), {"items": [EVENT]}, lambda it: it.items[0].event_id, "e"),
    ("steering_pull", (), {"items": [STEERED]}, lambda it: it.items[0].input.to_text(), "wait"),
    ("artifact_metadata", ("a",), ARTIFACT, lambda it: it.artifact_type, "file"),
    ("artifact_read", ("a",), {"artifact_id": "a", "content_base64": "aGk="}, lambda it: it.content_base64, "aGk="),
    ("artifact_read_range", ("a",), {"artifact_id": "a", "file_key": "k"}, lambda it: it.file_key, "k"),
    ("state_get", ("actor", "k"), {"value": None}, lambda it: it, None),
    ("state_set", ("actor", "k", 1), {}, lambda it: it, None),
    ("state_delete", ("actor", "k"), {"deleted": True}, lambda it: it, True),
    ("state_list", ("actor",), {"keys": ["a", "b"], "has_more": False}, lambda it: it.keys, ["a", "b"]),
    ("get_plugin_storage", ("k",), {"value_base64": "aGk="}, lambda it: it, b"hi"),
    ("set_plugin_storage", ("k", b"hi"), {}, lambda it: it, None),
    ("delete_plugin_storage", ("k",), {}, lambda it: it, None),
    ("get_plugin_storage_keys", (), {"keys": ["k"]}, lambda it: it, ["k"]),
    ("get_workspace_storage", ("k",), {"value_base64": "aGk="}, lambda it: it, b"hi"),
    ("set_workspace_storage", ("k", b"hi"), {}, lambda it: it, None),
    ("delete_workspace_storage", ("k",), {}, lambda it: it, None),
    ("get_workspace_storage_keys", (), {"keys": ["k"]}, lambda it: it, ["k"]),
    ("get_file", ("f",), {"file_base64": "aGk="}, lambda it: it, b"hi"),
    ("get_langbot_version", (), {"version": "4"}, lambda it: it, "4"),
    ("get_prompt", (), {"prompt": [{"role": "system"}]}, lambda it: it, [Message(role="system")]),
    (
        "run_get",
        (),
        {"run_id": "r", "status": "running"},
        lambda it: (it.status, it.cancel_requested_at),
        ("running", None),
    ),
    ("run_events_page", (), {"items": [ENTRY]}, lambda it: it.items[0].cursor, "j1"),
    (
        "run_list",
        (),
        {"items": [{"run_id": "r", "status": "failed", "cursor": "c"}]},
        lambda it: (it.items[0].status, it.items[0].cursor),
        ("failed", "c"),
    ),
    ("run_cancel", ("r2",), {"run_id": "r2", "status": "running"}, lambda it: it.run_id, "r2"),
]


@pytest.mark.parametrize(("name", "arguments", "reply", "look", "seen"), ANSWERS, ids=[row[0] for row in ANSWERS])
async def test_a_reply_is_read_into_its_model(
    name: str, arguments: tuple[Any, ...], reply: Any, look: Callable[[Any], Any], seen: Any
):
    host = Host(reply)

    answer = await getattr(RunnerAPI(host, "r"), name)(*arguments)

    assert look(answer) == seen
    assert [action for action, _ in host.asked] == [name]


def test_every_unary_call_has_its_reply_tested():
    assert {row[0] for row in ANSWERS} == set(SIGNATURES) - {"invoke_llm_stream"}


@pytest.mark.parametrize("name", [row[0] for row in ANSWERS if not row[0].startswith(("state_set", "set_", "delete_"))])
@pytest.mark.parametrize("reply", [None, 7, ["x"]])
async def test_a_reply_that_cannot_be_read_is_a_runtime_error(name: str, reply: Any):
    arguments = next(row[1] for row in ANSWERS if row[0] == name)

    with pytest.raises(AgentAPIException, match=f"answer to {name} cannot be read") as caught:
        await getattr(RunnerAPI(Host(reply), "r"), name)(*arguments)

    assert caught.value.error.code == ErrorCode.RUNTIME_ERROR


async def test_unknown_fields_in_replies_of_a_newer_host_are_ignored():
    page = await RunnerAPI(Host({"items": [{**ITEM, "aura": 1}], "moon": "full"}), "r").history_page()

    assert page.items == [TranscriptItem.model_validate(ITEM)]


async def test_a_model_stream_is_an_async_iterator_of_chunks():
    host = Host(
        {"chunk": {"role": "assistant", "content": "a"}},
        {"chunk": {"role": "assistant", "content": "b"}, "usage": {"total_tokens": 1}},
        {"usage": {"total_tokens": 2}},
    )

    chunks = [chunk async for chunk in RunnerAPI(host, "r").invoke_llm_stream("m", [{"role": "user", "content": "x"}])]

    assert chunks == [MessageChunk(role="assistant", content="a"), MessageChunk(role="assistant", content="b")]
    assert host.asked == [
        (
            "invoke_llm_stream",
            {
                "run_id": "r",
                "model_id": "m",
                "messages": [{"role": "user", "content": "x"}],
                "funcs": None,
                "extra_args": None,
            },
        )
    ]


async def test_model_stream_left_early_is_closed_at_the_host():
    host = Host(*[{"chunk": {"role": "assistant", "content": "a"}}] * 3)
    stream = RunnerAPI(host, "r").invoke_llm_stream("m", [])

    await anext(stream)
    assert not host.closed
    await stream.aclose()

    assert host.closed


async def test_storage_carries_bytes_as_base64():
    host = Host({})

    await RunnerAPI(host, "r").set_plugin_storage("k", b"\x00\xff")

    assert host.asked == [("set_plugin_storage", {"run_id": "r", "key": "k", "value_base64": "AP8="})]


async def test_bad_base64_from_the_host_is_a_runtime_error():
    with pytest.raises(AgentAPIException, match="bad base64"):
        await RunnerAPI(Host({"value_base64": "?"}), "r").get_plugin_storage("k")


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


class Mood(StrEnum):
    CALM = "calm"


class Level(IntEnum):
    HIGH = 3


async def sent(value: Any) -> Any:
    host = Host({})
    await RunnerAPI(host, "r").state_set("actor", "k", value)
    return host.asked[0][1]["value"]


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        ({"a": (1, 2.5, None, True)}, {"a": [1, 2.5, None, True]}),
        ([Mood.CALM, Level.HIGH], ["calm", 3]),
        (Message(role="user", content="x"), {"role": "user", "content": "x"}),
        ("grüße 👋", "grüße 👋"),
        ("\ud83d lone", "\ufffd lone"),
        ({"\udc00": 1}, {"\ufffd": 1}),
        (nested(98), nested(98)),
        (2**64 - 1, 2**64 - 1),
    ],
)
async def test_an_argument_arrives_as_plain_json(value: Any, arrives: Any):
    received = await sent(value)

    assert received == arrives
    assert type(received) is type(arrives)


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (math.nan, "state_set: value: nan is not JSON"),
        ({"a": [1, -math.inf]}, "state_set: value['a'][1]: -inf is not JSON"),
        (b"x", "state_set: value: a bytes is not JSON"),
        ({"x": object()}, "state_set: value['x']: a object is not JSON"),
        ({1, 2}, "state_set: value: a set is not JSON"),
        ({1: 2}, "state_set: value: the key 1 is not text"),
        (2**64, "state_set: value: an integer beyond 64 bits"),
        (nested(99), "state_set: value: deeper than 100 levels"),
        (nested(20_000), "state_set: value: deeper than 100 levels"),
        (LOOP, "state_set: value: deeper than 100 levels"),
    ],
    ids=["nan", "infinity", "bytes", "object", "set", "key", "integer", "deep", "very deep", "circle"],
)
async def test_argument_that_cannot_be_encoded_is_invalid_and_not_sent(value: Any, why: str):
    host = Host({})

    with pytest.raises(AgentAPIException) as caught:
        await RunnerAPI(host, "r").state_set("actor", "k", value)

    assert (caught.value.error.code, caught.value.error.message) == ("invalid_argument", why)
    assert host.asked == []


async def test_a_model_that_cannot_be_encoded_is_an_invalid_argument():
    odd = Message.model_validate({"role": "user", "thing": object()})

    with pytest.raises(AgentAPIException, match=r"invoke_llm: messages\[0\]: Message cannot be encoded") as caught:
        await RunnerAPI(Host({}), "r").invoke_llm("m", [odd])

    assert caught.value.error.code == ErrorCode.INVALID_ARGUMENT


async def test_a_stream_with_an_invalid_argument_is_refused_before_it_reaches_the_host():
    host = Host()

    with pytest.raises(AgentAPIException, match="nan is not JSON"):
        await anext(RunnerAPI(host, "r").invoke_llm_stream("m", [], extra_args={"temperature": math.nan}))

    assert host.asked == []


async def test_only_bytes_are_stored():
    with pytest.raises(AgentAPIException, match="bytes are stored, not str") as caught:
        await RunnerAPI(Host({}), "r").set_workspace_storage("k", "text")  # pyright: ignore[reportArgumentType]

    assert caught.value.error.code == ErrorCode.INVALID_ARGUMENT


def test_there_are_eight_error_codes():
    assert set(ErrorCode) == {
        "unauthorized",
        "not_found",
        "deadline_exceeded",
        "payload_too_large",
        "rate_limited",
        "invalid_argument",
        "runtime_error",
        "cancelled",
    }


def test_api_exception_carries_the_whole_error():
    error = AgentAPIError.model_validate({"code": "rate_limited", "message": "slower", "retryable": True, "new": 1})

    caught = AgentAPIException(error)

    assert str(caught) == "slower"
    assert caught.error.model_dump() == {
        "code": "rate_limited",
        "message": "slower",
        "retryable": True,
        "details": {},
    }
    assert AgentAPIException.of(ErrorCode.RATE_LIMITED, "slower", retryable=True).error == error


PAGES = {
    HistoryPage: "items next_cursor prev_cursor has_more total_count",
    Page: "next_cursor prev_cursor has_more total_count",
    TranscriptItem: "transcript_id event_id conversation_id thread_id role item_type content content_json "
    "artifact_refs seq cursor created_at metadata",
    ArtifactReference: "artifact_id artifact_type mime_type name size_bytes",
    RunEvent: "run_id position at source type data outcome reason sequence cursor",
    EventRecord: "event_id event_type event_time source bot_id workspace_id conversation_id thread_id actor_type "
    "actor_id actor_name subject_type subject_id input_summary input_ref raw_ref seq cursor created_at metadata",
    SteeringItem: "claimed_run_id runner_id claimed_at event input conversation actor subject metadata",
    ArtifactMetadata: "artifact_id artifact_type mime_type name size_bytes sha256 source conversation_id run_id "
    "runner_id created_at expires_at metadata",
    ArtifactRead: "artifact_id mime_type size_bytes offset length content_base64 file_key has_more",
    RunRecord: "run_id event_id agent_id binding_id runner_id conversation_id thread_id bot_id workspace_id status "
    "status_reason created_at started_at finished_at updated_at deadline_at cancel_requested_at usage metadata",
}


@pytest.mark.parametrize("model", PAGES, ids=lambda model: model.__name__)
def test_an_answer_has_exactly_the_fields_of_the_contract(model: type[Page]):
    assert set(model.model_fields) == set(PAGES[model].split())
