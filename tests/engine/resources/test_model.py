"""A scripted model: which reply is used, and how it is streamed, cut or refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol.content import Message, MessageChunk
from engine.protocol.errors import ErrorCode
from engine.resources.interfaces import ModelFrame, ModelRequest, ResourceError
from engine.resources.scripted.model import ScriptedModel, words_of

USER = {"role": "user", "content": "hello"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "function": {"name": "t"}}]}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def tool(text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "call_1", "content": text}


async def ask(model: ScriptedModel, *messages: dict[str, Any]) -> Any:
    return (await model.invoke(ModelRequest(messages or (USER,)))).message["content"]


async def played(model: ScriptedModel, *messages: dict[str, Any]) -> tuple[list[ModelFrame], ResourceError | None]:
    """The frames of a stream, and the error that ended it."""
    frames: list[ModelFrame] = []
    try:
        async for frame in model.stream(ModelRequest(messages or (USER,))):
            frames.append(frame)  # noqa: PERF401 - those before an error count
    except ResourceError as error:
        return frames, error
    return frames, None


def chunks(frames: list[ModelFrame]) -> list[dict[str, Any]]:
    return [dict(frame.chunk) for frame in frames if frame.chunk is not None]


# which reply


async def test_replies_without_conditions_are_used_in_order_and_the_last_one_repeats(model):
    scripted = model({"text": "one"}, {"text": "two"})

    assert [await ask(scripted) for _ in range(4)] == ["one", "two", "two", "two"]


async def test_otherwise_is_used_after_all_replies_in_order(model):
    scripted = model({"text": "one"}, otherwise={"text": "done"})

    assert [await ask(scripted) for _ in range(3)] == ["one", "done", "done"]


async def test_each_instance_has_its_own_reply_counter(model):
    first, second = (model({"text": "one"}, {"text": "two"}) for _ in range(2))

    assert (await ask(first), await ask(first), await ask(second)) == ("one", "two", "one")


async def test_stream_uses_up_a_reply_like_invoke(model):
    scripted = model({"text": "one"}, {"text": "two"})
    await played(scripted)

    assert await ask(scripted) == "two"


async def test_the_turn_is_one_more_than_the_assistant_messages_of_the_request(model):
    scripted = model({"turn": 2, "text": "second"}, {"turn": 1, "text": "first"}, {"turn": 3, "text": "third"})

    assert await ask(scripted, {"role": "system", "content": "s"}, USER) == "first"
    assert await ask(scripted, USER, CALLED, tool("a"), tool("b")) == "second"
    assert await ask(scripted, USER, CALLED, tool("a"), CALLED, tool("b"), USER) == "third"


async def test_match_applies_to_the_last_user_message_only(model):
    scripted = model({"match": "rain", "text": "rainy"}, otherwise={"text": "other"})

    assert await ask(scripted, user("will it rain?")) == "rainy"
    assert await ask(scripted, user("rain?"), CALLED, user("thanks")) == "other"
    assert await ask(scripted, user("rain?"), CALLED, tool("x")) == "rainy"


async def test_match_reads_the_text_parts_of_a_message(model):
    scripted = model({"match": "^rain$", "text": "rainy"})
    parts = [{"type": "text", "text": "rain"}, {"type": "image_url", "image_url": {"url": "u"}}]

    assert await ask(scripted, {"role": "user", "content": parts}) == "rainy"


async def test_without_a_user_message_no_pattern_matches(model):
    scripted = model({"match": ".*", "text": "any"}, otherwise={"text": "none"})

    assert await ask(scripted, {"role": "system", "content": "s"}) == "none"


async def test_tool_result_applies_to_all_results_since_the_last_model_message(model):
    scripted = model({"tool_result": "9 degrees", "text": "cold"}, otherwise={"text": "?"})

    assert await ask(scripted, USER, CALLED, tool("9 degrees"), tool("sunny")) == "cold"
    assert await ask(scripted, USER, CALLED, tool("9 degrees"), user("and in Paris?")) == "cold"
    assert await ask(scripted, USER, CALLED, tool("9 degrees"), CALLED, tool("sunny")) == "?"
    assert await ask(scripted, user("9 degrees")) == "?"


async def test_all_conditions_of_a_reply_must_match(model):
    scripted = model({"turn": 2, "match": "rain", "text": "both"}, otherwise={"text": "not"})

    assert await ask(scripted, user("rain")) == "not"
    assert await ask(scripted, user("sun"), CALLED) == "not"
    assert await ask(scripted, user("rain"), CALLED) == "both"


async def test_first_matching_reply_is_used_and_can_match_repeatedly(model):
    scripted = model({"match": "a", "text": "first"}, {"match": "a", "text": "never"}, {"text": "in order"})

    assert [await ask(scripted, user(text)) for text in ("a", "b", "a", "b", "a")] == [
        "first", "in order", "first", "in order", "first",
    ]  # fmt: skip


async def test_times_limits_how_often_a_reply_is_used(model):
    scripted = model(
        {"match": "a", "times": 1, "status": 429}, {"match": "a", "text": "now"}, {"times": 2, "text": "b"}
    )

    with pytest.raises(ResourceError):
        await ask(scripted, user("a"))
    assert await ask(scripted, user("a")) == "now"
    assert [await ask(scripted, user("b")) for _ in range(2)] == ["b", "b"]
    with pytest.raises(ResourceError, match="no reply"):
        await ask(scripted, user("b"))


async def test_error_without_a_matching_reply_lists_the_replies(model):
    scripted = model({"turn": 1, "match": "rain", "text": "x"}, {"tool_result": "C", "times": 2, "text": "y"})

    with pytest.raises(ResourceError) as caught:
        await ask(scripted, user("hello"), CALLED, tool("9 F"))

    assert str(caught.value) == (
        "the script of model m has no reply for turn 2 with the user message 'hello' and the tool result '9 F'. "
        "Its replies: #1 turn 1, match 'rain'; #2 tool_result 'C' (2 times). Add one that fits, or `otherwise`."
    )
    assert caught.value.code is ErrorCode.RUNTIME_ERROR
    assert not caught.value.retryable


async def test_an_empty_script_is_reported(model):
    with pytest.raises(ResourceError, match="Its replies: there are none"):
        await ask(model(), {"role": "system", "content": "s"})


async def test_a_long_message_and_many_replies_do_not_make_a_long_error(model):
    scripted = model(*({"turn": 100 + number, "text": "x"} for number in range(50)))

    with pytest.raises(ResourceError) as caught:
        await ask(scripted, user("x" * 10_000))

    assert "and 30 more" in str(caught.value)
    assert len(str(caught.value)) < 1_000


# streams


async def test_text_is_streamed_by_word_and_ends_with_final_flag_and_usage(model):
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    frames, broke = await played(model({"text": "Light rain,  today", "usage": usage}))

    assert broke is None
    assert chunks(frames) == [
        {"role": "assistant", "content": "Light "},
        {"role": "assistant", "content": "rain,  "},
        {"role": "assistant", "content": "today"},
        {"role": "assistant", "content": "", "is_final": True},
    ]
    assert [frame.usage for frame in frames] == [None, None, None, usage]


async def test_given_chunks_are_streamed_unchanged(model):
    scripted = model({"pieces": ["Li", "ght", " rain"]}, {"pieces": ["Li", "ght", " rain"]})
    frames, _ = await played(scripted)

    assert [chunk["content"] for chunk in chunks(frames)] == ["Li", "ght", " rain", ""]
    assert await ask(scripted) == "Light rain"


@given(st.text())
def test_the_words_of_any_text_join_to_the_text(text: str):
    assert "".join(words_of(text)) == text


def test_chinese_is_streamed_by_character():
    assert words_of("今天 Berlin 下雨") == ["今", "天 ", "Berlin ", "下", "雨"]


async def test_chunk_delay_is_that_of_the_reply_or_the_script(model, sleeps):
    scripted = model({"text": "a b c"}, {"text": "a b c", "pace": 0.5}, {"text": "a b", "pace": 0}, pace=0.1)
    for _ in range(3):
        await played(scripted)

    assert sleeps.all == [0.1, 0.1, 0.5, 0.5, 0]


async def test_the_first_token_may_be_slow_on_top_of_the_delay(model, sleeps):
    scripted = model({"text": "a b", "delay": 1, "first_token": 3, "pace": 0.1})
    stream = scripted.stream(ModelRequest((USER,)))
    await anext(stream)

    assert sleeps.all == [1, 3]


async def test_invoke_takes_as_long_as_the_stream(model, sleeps):
    scripted = model({"text": "a b c", "delay": 1, "first_token": 3, "pace": 0.1})
    await ask(scripted)

    assert sleeps.all == [1, 3, 0.1, 0.1]


async def test_empty_text_is_an_empty_reply(model):
    scripted = model({"text": ""})
    frames, _ = await played(scripted)

    assert chunks(frames) == [{"role": "assistant", "content": "", "is_final": True}]
    assert await ask(scripted) == ""


# tool calls


async def test_streamed_tool_call_has_id_and_name_first_and_then_pieces_of_its_arguments(model):
    calls = [{"name": "get_weather", "arguments": {"city": "Berlin"}}, {"name": "now", "id": "mine"}]
    frames, _ = await played(model({"text": "Hm.", "tool_calls": calls}))
    *streamed, final = chunks(frames)

    assert final == {"role": "assistant", "content": "", "is_final": True}
    assert streamed[0] == {"role": "assistant", "content": "Hm."}
    deltas = [chunk["tool_calls"][0] for chunk in streamed[1:]]
    assert deltas[0] == {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": ""},
    }
    assert [delta["index"] for delta in deltas] == [0, 0, 0, 0, 1, 1]
    assert deltas[4]["id"] == "mine"
    assert all(set(delta) == {"index", "function"} for delta in (*deltas[1:4], deltas[5]))
    joined = ["".join(d["function"]["arguments"] for d in deltas if d["index"] == index) for index in (0, 1)]
    assert [json.loads(text) for text in joined] == [{"city": "Berlin"}, {}]
    assert all(MessageChunk.model_validate(chunk) for chunk in streamed)


async def test_invoke_returns_all_parallel_calls_with_unique_ids(model):
    calls = [{"name": "get_weather", "arguments": {"city": "柏林"}}, {"name": "get_weather"}]
    scripted = model({"turn": 1, "tool_calls": calls})
    first, second = [(await scripted.invoke(ModelRequest((USER,)))).message for _ in range(2)]

    assert first == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "柏林"}'}},
            {"id": "call_2", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}},
        ],
    }
    assert [call["id"] for call in second["tool_calls"]] == ["call_3", "call_4"]
    assert Message.model_validate(first)


async def test_arguments_given_as_text_are_passed_on_even_if_they_are_invalid_json(model):
    reply = await model({"tool_calls": [{"name": "t", "arguments": '{"city": Ber'}]}).invoke(ModelRequest((USER,)))

    assert reply.message["tool_calls"][0]["function"]["arguments"] == '{"city": Ber'


# failures


async def test_an_error_is_raised_before_the_first_chunk(model, sleeps):
    scripted = model({"error": "overloaded", "delay": 2})

    with pytest.raises(ResourceError, match=r"^overloaded$") as caught:
        await ask(scripted)
    assert (caught.value.code, caught.value.retryable, caught.value.details) == (ErrorCode.RUNTIME_ERROR, False, {})
    assert sleeps.all == [2]
    frames, broke = await played(scripted)
    assert frames == []
    assert str(broke) == "overloaded"


@pytest.mark.parametrize(
    ("reply", "message", "code", "retryable", "details"),
    [
        ({"status": 429, "retry_after": 2}, "429 Too Many Requests", ErrorCode.RATE_LIMITED, True, {"retry_after": 2}),
        ({"status": 429, "error": "slow down"}, "slow down", ErrorCode.RATE_LIMITED, True, {}),
        ({"status": 500}, "500 Internal Server Error", ErrorCode.RUNTIME_ERROR, True, {}),
        ({"status": 529}, "529", ErrorCode.RUNTIME_ERROR, True, {}),
        ({"status": 408}, "408 Request Timeout", ErrorCode.RUNTIME_ERROR, True, {}),
        ({"status": 400}, "400 Bad Request", ErrorCode.RUNTIME_ERROR, False, {}),
        ({"status": 401}, "401 Unauthorized", ErrorCode.RUNTIME_ERROR, False, {}),
    ],
)
async def test_scripted_status_fails_like_a_provider_error(model, reply, message, code, retryable, details):
    with pytest.raises(ResourceError) as caught:
        await ask(model(reply))

    assert str(caught.value) == message
    assert (caught.value.code, caught.value.retryable) == (code, retryable)
    assert caught.value.details == {"status": reply["status"], **details}


@pytest.mark.parametrize(
    ("cut_after", "said"), [(0, []), (2, ["a ", "b "]), (3, ["a ", "b ", "c"]), (9, ["a ", "b ", "c"])]
)
async def test_cut_stream_fails_after_the_given_number_of_chunks_without_final_flag(model, cut_after, said):
    frames, broke = await played(model({"text": "a b c", "cut_after": cut_after, "usage": {"total_tokens": 3}}))

    assert [chunk["content"] for chunk in chunks(frames)] == said
    assert all(frame.usage is None for frame in frames)
    assert str(broke) == f"the stream broke after {len(said)} pieces"
    assert broke is not None
    assert broke.retryable


async def test_a_stream_may_be_cut_in_the_middle_of_a_tool_calls_arguments(model):
    call = {"name": "get_weather", "arguments": {"city": "Berlin"}}
    frames, broke = await played(model({"tool_calls": [call], "cut_after": 2}))

    assert broke is not None
    assert chunks(frames)[-1]["tool_calls"][0]["function"] == {"arguments": '{"city":'}


async def test_cut_reply_fails_with_its_own_error_streamed_or_invoked(model, sleeps):
    scripted = model({"text": "a b", "cut_after": 1, "status": 503, "delay": 1})

    frames, broke = await played(scripted)

    assert len(frames) == 1
    assert str(broke) == "503 Service Unavailable"
    assert sleeps.all == [1]
    with pytest.raises(ResourceError, match="503"):
        await ask(scripted)
