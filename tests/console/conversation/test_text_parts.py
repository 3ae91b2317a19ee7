"""A long text is split into parts that never change, so that only the last part is drawn again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.model.conversation.text_parts import LONG_PART_CHARS, MAX_PART_CHARS, MIN_PART_CHARS, TextParts

PARAGRAPH = "A sentence that is neither long nor short. " * 8 + "\n\n"


def test_parts_end_at_blank_lines() -> None:
    text_parts = TextParts(PARAGRAPH * 20)

    assert text_parts.count > 5
    assert text_parts.text == PARAGRAPH * 20
    assert all(
        part.text.endswith("\n\n") and MIN_PART_CHARS < len(part.text) <= LONG_PART_CHARS for part in text_parts.sealed
    )


@pytest.mark.parametrize("text", ['{"a": "__none__"}', ' [1, "*x*"]\n', json.dumps({"a": ["__b__"] * 900}, indent=1)])
def test_complete_json_text_becomes_a_code_block(text: str) -> None:
    text_parts = TextParts(text)
    text_parts.finish()
    assert all(text_parts.part(index).markdown.startswith("```json\n") for index in range(text_parts.count))
    assert text_parts.text == text


def test_json_that_is_replaced_by_prose_is_markdown_again() -> None:
    text_parts = TextParts('{"a": "__none__"}')
    text_parts.finish()

    text_parts.replace('{"a": "__none__"} and more')
    text_parts.finish()

    assert text_parts.part(0).opener == ""
    assert text_parts.text == '{"a": "__none__"} and more'


@pytest.mark.parametrize("text", ['{"a": ', "12", "see {}", f"[{'1,' * 40_000}1]", ""])
def test_text_that_is_not_json_stays_markdown(text: str) -> None:
    text_parts = TextParts(text)
    text_parts.finish()
    assert all(not text_parts.part(index).opener for index in range(text_parts.count))


def test_finished_part_does_not_change() -> None:
    text_parts = TextParts(PARAGRAPH * 5)
    sealed = list(text_parts.sealed)

    text_parts.grow(PARAGRAPH * 5)
    text_parts.replace(PARAGRAPH * 12)

    assert text_parts.sealed[: len(sealed)] == sealed
    assert text_parts.text == PARAGRAPH * 12


def test_part_that_ends_inside_a_fence_is_reopened() -> None:
    code = "```python\n" + "\n\n".join(f"x = {number}" for number in range(500)) + "\n```\n\n" + PARAGRAPH * 3

    text_parts = TextParts(code)

    assert text_parts.text == code
    first, *rest = text_parts.sealed
    assert len(rest) > 2
    assert first.opener == ""
    inside = [part for part in rest if part.opener]
    assert inside
    assert all(part.opener == "```python" and part.markdown.startswith("```python\n") for part in inside)
    assert text_parts.tail.opener == ""


def test_list_items_keep_their_continuation_lines() -> None:
    items = ("- item " + "x" * 200 + "\n\n  goes on\n\n") * 10

    assert all(part.text.startswith("- item") for part in TextParts(items).sealed)


@pytest.mark.parametrize("text", ["x" * 50_000, "word " * 10_000, "| a | b |\n" * 5_000, "    indented\n" * 5_000])
def test_parts_have_a_maximum_length(text: str) -> None:
    text_parts = TextParts(text)

    assert text_parts.text == text
    assert (
        max(len(text_parts.part(index).text) for index in range(text_parts.count)) <= MAX_PART_CHARS + LONG_PART_CHARS
    )


def test_replaced_text_is_the_new_text() -> None:
    text_parts = TextParts(PARAGRAPH * 5)
    changed = PARAGRAPH + "Something else. " * 50 + "\n\n" + PARAGRAPH

    text_parts.replace(changed)
    assert text_parts.text == changed
    text_parts.replace("")
    assert text_parts.text == ""


WORDS = st.sampled_from(["a ", "\n", "\n\n", "```", "~~~~\n", "    ", "- b\n", "| c |", "x" * 700, PARAGRAPH])


@given(st.lists(st.lists(WORDS, max_size=8).map("".join), max_size=12))
def test_joined_parts_equal_the_text_however_it_grows(pieces: list[str]) -> None:
    text_parts, text = TextParts(), ""
    for piece in pieces:
        text_parts.grow(piece)
        text += piece
        assert text_parts.text == text


@given(st.lists(st.lists(WORDS, max_size=8).map("".join), max_size=6))
def test_joined_parts_equal_any_replaced_text(versions: list[str]) -> None:
    text_parts = TextParts()
    for version in versions:
        text_parts.replace(version)
        assert text_parts.text == version
