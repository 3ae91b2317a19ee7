"""The settings form's draft, and values as text and back."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.model.settings_form.fields import FieldKind, FormField, form_fields
from console.model.settings_form.form_draft import FormDraft
from console.model.settings_form.options import matching_options
from console.model.settings_form.values import (
    MASK,
    ROLES,
    display_text,
    edit_text,
    mask_secret,
    messages_to_text,
    parse_messages,
    parse_text,
    selected_values,
    toggle_option,
    unmask_secret,
)
from engine.api import Option
from tests.support.engines import Engines, declares, done


def field(kind: FieldKind, section: str = "config", **given: Any) -> FormField:
    return FormField(section, "x", kind, "X", **given)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (FieldKind.LINE, "5", "5"),
        (FieldKind.INTEGER, " 5 ", 5),
        (FieldKind.INTEGER, "5.5", 5.5),
        (FieldKind.INTEGER, "", None),
        (FieldKind.NUMBER, "5.5", 5.5),
        (FieldKind.NUMBER, "much", "much"),
        (FieldKind.LINES, "a\n\n b \n", ["a", "b"]),
        (FieldKind.PROMPT, '[{"role": "system", "content": "x"}]', [{"role": "system", "content": "x"}]),
        (FieldKind.PROMPT, "[not a list", "[not a list"),
    ],
)
def test_text_is_parsed_by_the_kind_of_field(kind: FieldKind, text: str, value: Any):
    assert parse_text(field(kind), text) == value


MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(ROLES), "content": st.text(max_size=40)}), min_size=1, max_size=5
)


@given(MESSAGES)
def test_messages_survive_the_conversion_to_text(messages: list[Any]):
    text = messages_to_text(messages)
    assert text is not None
    assert parse_messages(text) == messages
    assert parse_text(field(FieldKind.PROMPT), edit_text(field(FieldKind.PROMPT), messages)) == messages


@pytest.mark.parametrize("messages", [[{"role": "user"}], [{"role": "user", "content": [1]}], ["x"], [{"role": "x"}]])
def test_messages_with_other_parts_are_edited_as_json(messages: list[Any]):
    assert messages_to_text(messages) is None
    assert parse_text(field(FieldKind.PROMPT), edit_text(field(FieldKind.PROMPT), messages)) == messages


@pytest.mark.parametrize("text", ["Be brief.", "Rules:\n  be brief", "system: be brief", "", "You are\nuser:\n  x"])
def test_prompt_without_a_role_at_the_start_is_text(text: str):
    assert parse_text(field(FieldKind.PROMPT), text) == text


@pytest.mark.parametrize("secret", ["hush", ["a", "b"], {"id": "a", "more": ["b", 7]}, "", 5, 0.5, True, None])
def test_unmasking_restores_the_secret(secret: Any):
    assert unmask_secret(mask_secret(secret), secret) == secret


@pytest.mark.parametrize("secret", ["hush", 987654, ["hush", 987654], {"id": ["hush"], "pin": 987654}, 987654.5])
def test_mask_contains_no_text_or_number_of_the_secret(secret: Any):
    assert not {"hush", "987654"} & set(re.findall(r"\w+", str(mask_secret(secret))))


def test_numbered_masks_can_be_moved_and_removed():
    secrets = ["a", "b", "c"]
    first, second, third = mask_secret(secrets)

    for left, kept in (([second, third], ["b", "c"]), ([first, third], ["a", "c"]), ([third, first], ["c", "a"])):
        assert unmask_secret(left, secrets) == kept
    assert unmask_secret([{"pin": second}], secrets) == [{"pin": "b"}]
    assert unmask_secret(MASK, secrets) == secrets


def test_mask_without_a_secret_becomes_empty():
    first, fourth = mask_secret(["a"])[0], mask_secret([*"abcd"])[3]
    assert unmask_secret([first, "new", fourth, MASK], ["a"]) == ["a", "new", "", ""]
    assert unmask_secret("new", "hush") == "new"


def test_matching_options_include_the_typed_text_if_allowed():
    options = (Option("small", "Small"), Option("large", "Large"))
    one = field(FieldKind.ONE, options=options, allows_others=True)
    assert matching_options(one, "", "") == ["", "small", "large"]
    assert matching_options(one, "gone", "") == ["", "small", "large", "gone"], "the selected value is listed"
    assert matching_options(one, "", "LAR") == ["large", "LAR"]
    assert matching_options(field(FieldKind.ONE, options=options, required=True), "", "x") == []


def test_unset_switch_is_not_shown_as_off():
    assert [display_text(field(FieldKind.SWITCH), value) for value in (None, True, False)] == ["not set", "yes", "no"]


@pytest.mark.parametrize("value", [["a", "b"], []])
def test_list_of_lines_survives_the_conversion_to_text(value: list[str]):
    assert parse_text(field(FieldKind.LINES), edit_text(field(FieldKind.LINES), value)) == value


def test_first_ranked_option_is_the_primary():
    ranked = field(FieldKind.RANKED)
    value = toggle_option(ranked, toggle_option(ranked, "a", "b"), "c")
    assert value == {"primary": "a", "fallbacks": ["b", "c"]}
    assert toggle_option(ranked, value, "a") == {"primary": "b", "fallbacks": ["c"]}
    assert selected_values(ranked, value) == ["a", "b", "c"]


def test_selected_file_keeps_its_metadata():
    known = {"file_key": "a", "mime_type": "text/plain"}
    assert toggle_option(field(FieldKind.MANY), [known], "b") == [known, "b"]


def test_empty_selection_may_differ_from_no_value():
    same, other = (
        field(FieldKind.MANY, "resources"),
        field(FieldKind.MANY, "resources", none_text="all", empty_text="none at all"),
    )
    assert toggle_option(same, ("a",), "a") is None
    assert toggle_option(other, ("a",), "a") == ()
    assert [display_text(other, value) for value in (None, (), ("a",))] == ["all", "none at all", "a"]


def test_display_text_hides_secrets_and_control_characters():
    assert "hush" not in display_text(field(FieldKind.LINE, is_secret=True), "hush")
    assert "\x1b" not in display_text(field(FieldKind.TEXT), "\x1b[31m\nx")


@declares(config=[{"name": "count", "type": "integer", "default": 3}])
async def asks(ctx: Any):
    yield done("x")


async def test_base_value_is_no_change_and_every_change_can_be_undone(open_engine: Engines):
    engine = await open_engine(asks)
    form = await engine.settings.form()
    draft = FormDraft.of(form, form_fields(form))
    count = next(each for each in draft.fields if each.name == "count")
    state = next(each for each in draft.fields if each.name == "enable_state")

    changed = draft.set(count, 7).set(state, False)

    assert (changed.value(count), changed.value(state), changed.change_count) == (7, False, 2)
    assert changed.set(count, 3).set(state, True).changes == draft.changes == {}
    assert changed.reset_all().undo() is not None
    assert (undone := changed.undo()) is not None
    assert (undone.value(count), undone.value(state)) == (7, True)
    assert draft.undo() is None
    assert changed.set(count, "no").changed_settings() == {"state": changed.changed_settings()["state"]}, (
        "an invalid value is not saved"
    )
