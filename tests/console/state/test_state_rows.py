"""Values as JSON that a person reads and writes, and how state looks in a list."""

import json
from dataclasses import replace
from random import Random
from typing import Any

import orjson
import pytest

from console.model.state.json_text import NotJson, TooLarge, editable, read
from console.model.state.keys import Keys
from console.model.state.rows import change_row, key_row, scope_row, scope_words
from console.model.text.columns import cells
from engine.api import Scope, ScopeIdentity, StateChange, StateRow

HOSTILE = "\x1b[31m \x9b2J \u202eback\u202c \u200d \ud800 日本語 é 😀 \U000e0041"
TALK = ScopeIdentity(
    scope=Scope.CONVERSATION, runner_id="plugin:local/echo/default", binding_id="travel", conversation_id="kyoto"
)


@pytest.mark.parametrize("value", [None, 1, "x", HOSTILE, {"a": [1, 2, {HOSTILE: HOSTILE}]}, [], 1e300])
def test_what_is_edited_and_left_as_it_was_is_the_same_value(value: Any):
    assert read(editable(value)) == value


def test_no_terminal_obeys_what_is_edited():
    text = editable({HOSTILE: HOSTILE})
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "日本語" in text


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('{\n  "a": nope\n}', 2, 8), ("", 1, 1), ('"a" "b"', 1, 5)],
)
def test_what_is_no_json_says_where(text: str, line: int, column: int):
    with pytest.raises(NotJson) as wrong:
        read(text)
    assert (wrong.value.line, wrong.value.column) == (line, column)


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', "[" * 100_000])
def test_what_only_python_reads_is_no_json(text: str):
    with pytest.raises(NotJson):
        read(text)


@pytest.mark.parametrize(
    "text", ["1e999", '{"a": [-1e400]}', "18446744073709551616", "-9223372036854775809", "1" * 5_000]
)
def test_a_number_that_would_be_kept_as_another_is_refused(text: str):
    with pytest.raises(TooLarge, match="write it as a text"):
        read(text)


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63), 1.5e308])
def test_the_largest_numbers_are_kept_as_they_are(number: float):
    assert orjson.loads(orjson.dumps(read(json.dumps(number)))) == number


def test_a_scope_says_whose_it_is():
    assert scope_words(TALK) == "conversation kyoto · echo · agent travel"
    assert scope_words(TALK, "Two days") == "conversation kyoto “Two days” · echo · agent travel"
    assert scope_words(replace(TALK, conversation_id="ses_01"), "Two days").startswith("conversation “Two days” · ")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_of_a_long_title_so_much_is_seen_that_the_rest_is_too(width: int):
    shown = scope_row(replace(TALK, conversation_id="ses_01", binding_id=TALK.runner_id), "去京都旅行" * 40, width)
    text = "".join(piece.text for piece in shown.pieces)
    assert text.endswith("· echo")
    assert cells(text) < width


# Keys as far as they were read


def key(scope: int, number: int, value: str = "") -> StateRow:
    identity = replace(TALK, conversation_id=f"talk_{scope}")
    return StateRow(identity, f"key_{number}", value, 1, 0, "runner", None, None)


def stands(keys: Keys) -> list[tuple[str | None, str]]:
    return [(entry.scope.conversation_id, entry.row.key if entry.row else "") for entry in keys.entries]


@pytest.mark.parametrize("seed", range(30))
def test_what_is_read_again_anywhere_leaves_the_list_as_if_all_were_read_anew(seed: int):
    random, keys = Random(seed), Keys()
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
        before = [place for place, entry in enumerate(keys.entries) if entry.order <= (name[0], 1, name[1])]
        at = keys.before(before[-1] if before else 0)
        found = page(at, 5)
        keys.put(found, at, is_rest=len(found) < 5)
        whole = Keys()
        whole.put([kept[name] for name in sorted(kept)], None, is_rest=True)
        assert keys.entries == whole.entries
        assert keys.count == len(kept)
        assert all(keys.place_of(entry.name) == place for place, entry in enumerate(keys.entries))
    assert keys.place_of("nowhere") is keys.place_of("nowhere\nkey") is None


def test_a_scope_stands_above_its_keys_once():
    keys, rows = Keys(), sorted([key(0, 0), key(0, 1), key(1, 0)], key=lambda row: (row.identity.key, row.key))
    keys.put(rows[:1], None, is_rest=False)
    keys.put(rows[1:], rows[0], is_rest=True)
    assert [name for _, name in stands(keys)].count("") == 2
    assert keys.before(0) is None
    assert keys.before(len(keys.entries)) == keys.last == rows[-1]


@pytest.mark.parametrize("width", [40, 80, 160])
def test_rows_fit_and_say_who_wrote(width: int):
    kept = StateRow(TALK, HOSTILE * 9, json.dumps("去京都" * 90, ensure_ascii=False), 900, 0, "runner", "run_1", 3)
    change = StateChange(7, None, 0, "user", None, None, 0)
    for shown in (key_row(kept, width, 90_000_000), change_row(change, width, 90_000_000)):
        assert shown.right is not None
        assert 1 + shown.indent + sum(cells(each.text) for each in shown.pieces) + cells(shown.right.text) < width
        assert "\x1b" not in "".join(each.text for each in shown.pieces)
    assert "user  deleted" in "".join(each.text for each in change_row(change, width, 90_000_000).pieces)
