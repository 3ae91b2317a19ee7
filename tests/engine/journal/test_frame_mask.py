"""Secrets that are split over frames are masked, and the text of one tool call never becomes that of another."""

from typing import Any

import pytest

from engine.journal.frame_mask import FrameMask
from engine.journal.secret_mask import SecretMask

SECRET = "sesame-77"


def frame(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"chunk": {"role": "assistant", "content": "", "tool_calls": list(calls)}}


def call(arguments: str, **identity: Any) -> dict[str, Any]:
    return {**identity, "type": "function", "function": {"name": "t", "arguments": arguments}}


def covered(*frames: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the tool calls of each frame as they are recorded, with those of the text that was held back."""
    mask = FrameMask(SecretMask({SECRET: "KEY"}))
    recorded = [*(mask.cover(each) for each in frames), *mask.take_held()]
    return [each["chunk"]["tool_calls"] for each in recorded]


def arguments_of(calls: list[list[dict[str, Any]]], **identity: Any) -> str:
    mine = (each for frame in calls for each in frame if identity.items() <= each.items())
    return "".join(each["function"]["arguments"] for each in mine)


@pytest.mark.parametrize(
    ("first", "second"),
    [({"index": 0}, {"index": 1}), ({"id": "a"}, {"id": "b"}), ({"index": 0, "id": "a"}, {"index": 0, "id": "b"})],
    ids=["by number", "by id", "by id, with the same number"],
)
def test_interleaved_calls_are_masked_apart(first: dict[str, Any], second: dict[str, Any]):
    calls = covered(
        frame(call('{"key": "sesa', **first)),
        frame(call('{"other": "ses', **second)),
        frame(call('me-77"}', **first)),
        frame(call('ame"}', **second)),
    )

    assert arguments_of(calls, **first) == '{"key": "‹secret KEY›"}'
    assert arguments_of(calls, **second) == '{"other": "sesame"}'


def test_fragment_without_an_id_continues_the_call_at_its_place():
    calls = covered(
        frame(call("sesa", id="a"), call("ses", id="b")),
        frame(call("me-77"), call("ame!")),
    )

    assert [each["function"]["arguments"] for each in calls[1]] == ["‹secret KEY›", "sesame!"]


def test_text_that_is_held_back_at_the_end_names_its_call():
    calls = covered(frame(call("x sesa", id="a")), frame(call("y sesa", index=3)))

    assert calls[2:] == [
        [{"id": "a", "function": {"arguments": "sesa"}}],
        [{"index": 3, "function": {"arguments": "sesa"}}],
    ]
