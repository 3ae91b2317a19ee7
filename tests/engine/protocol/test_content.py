"""SPEC 3 and 7: input, messages and chunks."""

import pytest
from pydantic import ValidationError

from engine.protocol import ContentElement, Message, MessageChunk
from engine.protocol.content import Attachment, RunnerInput, text_of

PARTS = [
    {"type": "text", "text": "a"},
    {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
    {"type": "image_base64", "image_base64": "AA=="},
    {"type": "file_url", "file_url": "https://x/y.pdf", "file_name": "y.pdf"},
    {"type": "file_base64", "file_base64": "AA==", "file_name": "z"},
    {"type": "text", "text": "b"},
]


@pytest.mark.parametrize("kind", [Message, MessageChunk])
@pytest.mark.parametrize("content", ["text", None, [], PARTS])
def test_content_is_text_or_elements_or_nothing(kind: type[Message] | type[MessageChunk], content: object):
    said = kind.model_validate({"role": "assistant", "content": content})

    assert said.model_dump(exclude_unset=True)["content"] == content


@pytest.mark.parametrize("kind", [Message, MessageChunk])
def test_unknown_keys_are_kept_inside_message_and_chunk(kind: type[Message] | type[MessageChunk]):
    said = {"role": "assistant", "content": [{"type": "text", "text": "a", "lang": "en"}], "mood": {"calm": True}}

    assert kind.model_validate(said).model_dump(exclude_unset=True) == said


@pytest.mark.parametrize("kind", [Message, MessageChunk])
def test_a_message_has_a_role(kind: type[Message] | type[MessageChunk]):
    with pytest.raises(ValidationError, match="role"):
        kind.model_validate({"content": "x"})


def test_a_chunk_may_carry_a_piece_of_a_tool_call():
    chunk = MessageChunk.model_validate({"role": "assistant", "tool_calls": [{"function": {"arguments": '{"a'}}]})

    assert chunk.tool_calls is not None
    assert chunk.tool_calls[0].id is None


def test_completed_message_has_complete_tool_calls():
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}

    assert Message.model_validate({"role": "assistant", "tool_calls": [call]}).model_dump(exclude_unset=True)[
        "tool_calls"
    ] == [call]
    with pytest.raises(ValidationError, match="id"):
        Message.model_validate({"role": "assistant", "tool_calls": [{"function": call["function"]}]})


def test_text_parts_are_joined_and_other_parts_are_skipped():
    parsed = [ContentElement.model_validate(part) for part in PARTS]

    assert (text_of(PARTS), text_of(parsed), text_of(parsed, joiner=" ")) == ("ab", "ab", "a b")


@pytest.mark.parametrize(
    ("content", "text"), [("x", "x"), (None, ""), ([], ""), (7, ""), ({"type": "text"}, ""), ([7, {"text": 1}], "")]
)
def test_value_that_is_not_content_has_no_text(content: object, text: str):
    assert text_of(content) == text


def test_the_plain_text_of_an_input_is_its_text():
    assert RunnerInput.model_validate({"text": "hello", "contents": PARTS}).to_text() == "hello"


def test_text_parts_of_user_input_are_joined_without_a_space():
    assert RunnerInput.model_validate({"contents": PARTS}).to_text() == "ab"


def test_an_empty_input_has_empty_text():
    assert RunnerInput().to_text() == ""


def test_an_attachment_has_the_fields_of_the_contract():
    assert set(Attachment.model_fields) == {
        "artifact_id",
        "artifact_type",
        "source",
        "mime_type",
        "name",
        "size",
        "url",
        "id",
        "content",
    }
    assert {name for name, field in Attachment.model_fields.items() if field.is_required()} == {
        "artifact_id",
        "artifact_type",
        "source",
    }
