"""JSON text, loaded keys, and rows of the state browser."""

import json
from dataclasses import replace
from random import Random
from typing import Any

import orjson
import pytest

from console.model.state.json_text import (
    MAX_EDITED_BYTES,
    InvalidJson,
    NumberTooLarge,
    is_too_large,
    parse_json,
    to_json_text,
)
from console.model.state.keys import LoadedKeys
from console.model.state.rows import change_row, key_details, key_row, scope_label, scope_row
from console.model.text.columns import cells
from console.model.text.lists import Stack
from engine.api import Scope, ScopeIdentity, StateChange, StateRow

HOSTILE = "\x1b[31m \x9b2J \u202eback\u202c \u200d \ud800 日本語 é 😀 \U000e0041"
TALK = ScopeIdentity(
    scope=Scope.CONVERSATION, runner_id="plugin:local/echo/default", binding_id="travel", conversation_id="kyoto"
)


@pytest.mark.parametrize("value", [None, 1, "x", HOSTILE, {"a": [1, 2, {HOSTILE: HOSTILE}]}, [], 1e300])
def test_unedited_text_gives_the_same_value(value: Any):
    assert parse_json(to_json_text(value)) == value


def test_json_text_escapes_control_characters():
    text = to_json_text({HOSTILE: HOSTILE})
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "日本語" in text


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('{\n  "a": nope\n}', 2, 8), ("", 1, 1), ('"a" "b"', 1, 5)],
)
def test_invalid_json_reports_its_place(text: str, line: int, column: int):
    with pytest.raises(InvalidJson) as wrong:
        parse_json(text)
    assert (wrong.value.line, wrong.value.column) == (line, column)


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', "[" * 100_000])
def test_constants_and_deep_nesting_are_invalid_json(text: str):
    with pytest.raises(InvalidJson):
        parse_json(text)


@pytest.mark.parametrize(
    "text", ["1e999", '{"a": [-1e400]}', "18446744073709551616", "-9223372036854775809", "1" * 5_000]
)
def test_number_that_would_be_rounded_is_refused(text: str):
    with pytest.raises(NumberTooLarge, match="write it as text"):
        parse_json(text)


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63), 1.5e308])
def test_largest_numbers_are_stored_exactly(number: float):
    assert orjson.loads(orjson.dumps(parse_json(json.dumps(number)))) == number


def test_scope_label_names_the_owner():
    assert scope_label(TALK) == "conversation kyoto · echo · agent travel"
    assert scope_label(TALK, "Two days") == "conversation kyoto “Two days” · echo · agent travel"
    assert scope_label(replace(TALK, conversation_id="ses_01"), "Two days").startswith("conversation “Two days” · ")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_long_title_leaves_room_for_the_rest_of_a_scope(width: int):
    shown = scope_row(replace(TALK, conversation_id="ses_01", binding_id=TALK.runner_id), "去京都旅行" * 40, width)
    text = "".join(piece.text for piece in shown.pieces)
    assert text.endswith("· echo")
    assert cells(text) < width


# Loaded keys


def key(scope: int, number: int, value: str = "") -> StateRow:
    identity = replace(TALK, conversation_id=f"talk_{scope}")
    return StateRow(identity, f"key_{number}", value, 1, 0, 0, "runner", None, None)


def names_of(keys: LoadedKeys) -> list[tuple[str | None, str]]:
    return [(entry.scope.conversation_id, entry.row.key if entry.row else "") for entry in keys.rows]


@pytest.mark.parametrize("seed", range(30))
def test_rereading_any_page_gives_the_same_rows_as_one_load(seed: int):
    random, keys = Random(seed), LoadedKeys()
    kept: dict[tuple[str, str], StateRow] = {}

    def page(after: StateRow | None, limit: int) -> list[StateRow]:
        least = ("", "") if after is None else (after.identity.key, after.key)
        return [kept[name] for name in sorted(kept) if name > least][:limit]

    for step in range(60):
        row = key(random.randrange(4), random.randrange(6), f"{step}")
        name = (row.identity.key, row.key)
        if random.random() < 0.6:
            kept[name] = row
        else:
            kept.pop(name, None)
        # A page that holds all that can have changed: from the key before it to the one after.
        before = [place for place, entry in enumerate(keys.rows) if entry.order <= (name[0], 1, name[1])]
        at = keys.key_before(before[-1] if before else 0)
        found = page(at, 5)
        keys.replace_after(at, found, is_rest=len(found) < 5)
        whole = LoadedKeys()
        whole.replace_after(None, [kept[name] for name in sorted(kept)], is_rest=True)
        assert keys.rows == whole.rows
        assert keys.count == len(kept)
        assert all(keys.index_of(entry.id) == place for place, entry in enumerate(keys.rows))
    assert keys.index_of("nowhere") is keys.index_of("nowhere\nkey") is None


def test_scope_is_listed_once_above_its_keys():
    keys, rows = LoadedKeys(), sorted([key(0, 0), key(0, 1), key(1, 0)], key=lambda row: (row.identity.key, row.key))
    keys.replace_after(None, rows[:1], is_rest=False)
    keys.replace_after(rows[0], rows[1:], is_rest=True)
    assert [name for _, name in names_of(keys)].count("") == 2
    assert keys.key_before(0) is None
    assert keys.key_before(len(keys.rows)) == keys.last == rows[-1]


@pytest.mark.parametrize("width", [40, 80, 160])
def test_rows_fit_and_show_the_writer(width: int):
    kept = StateRow(TALK, HOSTILE * 9, json.dumps("去京都" * 90, ensure_ascii=False), 900, 0, 0, "runner", "run_1", 3)
    change = StateChange(7, None, 0, "user", None, None, 0)
    for shown in (key_row(kept, width, 90_000_000), change_row(change, width, 90_000_000)):
        assert shown.right is not None
        assert 1 + shown.indent + sum(cells(each.text) for each in shown.pieces) + cells(shown.right.text) < width
        assert "\x1b" not in "".join(each.text for each in shown.pieces)
    assert "user  deleted" in "".join(each.text for each in change_row(change, width, 90_000_000).pieces)


def test_details_of_a_key_show_its_creation_if_it_was_changed_since():
    new = StateRow(TALK, "city", '"Oslo"', 6, 0, 0, "user", None, None)
    changed = new._replace(updated_at=60_000_000)
    for key, is_shown in ((new, False), (changed, True)):
        details = key_details(key, "talk", None, 180_000_000, Stack([]))
        details.fit(80)
        third = "".join(piece.text for piece in details.row(2).pieces)
        assert third == "6 B · user · " + ("2 min ago · created 3 min ago" if is_shown else "3 min ago")


@pytest.mark.parametrize(
    ("value", "is_large"),
    [
        ("x" * (MAX_EDITED_BYTES + 1), True),
        ("x" * (MAX_EDITED_BYTES - 1), False),
        ("漢" * (MAX_EDITED_BYTES // 3 + 1), True),
        ({"a": ["x" * 1_000] * 300, "b": {"c" * 300_000: 1}}, True),
        ([0] * MAX_EDITED_BYTES, True),
        ({"half": "\ud800"}, False),
        (None, False),
    ],
    ids=["long", "just fits", "wide", "parts and names", "many", "surrogate", "nothing"],
)
def test_value_that_is_too_large_for_the_editor_is_found(value: object, is_large: bool):
    assert is_too_large(value) is is_large
