"""State changes between two entries, and who wrote each key."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.model.inspector.state_diff import Change, InnerChange, differences, inner_changes, is_same, written_by
from engine.api import Written

RUN = "run_01k5zzzzzzzzzzzzzzzzzzzzzz"
OTHER = "run_01k4aaaaaaaaaaaaaaaaaaaaaa"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=4),
    max_leaves=12,
)


def wrote(value: Any, *, run: str | None = RUN, position: int | None = 1, row: int = 1, by: str = "runner") -> Written:
    return Written(value, run, position, row, by, 0)


def test_added_changed_and_removed_keys_are_listed_by_scope_and_key():
    before = {"conversation": {"a": wrote(1), "b": wrote(2), "c": wrote(3)}, "actor": {}}
    after = {
        "conversation": {"a": wrote(1), "b": wrote(20, position=2080, row=2), "d": wrote(4, position=2080, row=2)},
        "actor": {"z": wrote("hi", run=OTHER, position=12, row=3)},
    }

    assert differences(before, after, RUN) == (
        Change("conversation", "b", "changed", 2, 20, "by this run at #2080"),
        Change("conversation", "c", "removed", 3, None, ""),
        Change("conversation", "d", "added", None, 4, "by this run at #2080"),
        Change("actor", "z", "added", None, "hi", "by run_01k4aaaaaaaaa… at #12"),
    )


def test_same_value_written_again_is_listed_as_again():
    before, after = {"s": {"k": wrote([1, 2])}}, {"s": {"k": wrote([1, 2], position=9, row=2)}}
    assert differences(before, after, RUN) == (Change("s", "k", "again", [1, 2], [1, 2], "by this run at #9"),)


def test_two_writes_between_entries_share_a_row():
    before, after = {"s": {"k": wrote(1)}}, {"s": {"k": wrote(2)}}
    assert [change.kind for change in differences(before, after, RUN)] == ["changed"]


def test_unwritten_keys_are_not_changes():
    state = {"s": {"k": wrote({"a": [1]})}}
    assert differences(state, state, RUN) == ()


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (wrote(1, position=2080), "by this run at #2080"),
        (wrote(1, position=None), "by this run"),
        (wrote(1, run=OTHER, position=12), "by run_01k4aaaaaaaaa… at #12"),
        (wrote(1, run=None, position=None, by="local"), "by you"),
        (wrote(1, run=None, position=None, by="ann"), "by ann"),
        (wrote(1, run=None, position=None, by="fork"), "by a fork of ses_parent"),
        (wrote(1, run=None, position=None), "by a deleted run"),
    ],
)
def test_writer_is_described(written: Written, words: str):
    assert written_by(written, RUN, "ses_parent") == words


def test_value_of_an_unknown_fork_is_described():
    assert written_by(wrote(1, run=None, position=None, by="fork"), RUN) == "by a fork"


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (1, 1.0), ("1", 1), (None, False), ([1], [True]), ({"a": 1}, {"a": 1.0})]
)
def test_json_values_of_different_types_differ(one: Any, other: Any):
    assert not is_same(one, other)


def test_order_of_keys_does_not_matter():
    assert is_same({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    assert is_same(2**70, 2**70)


def test_inner_differences_name_their_paths():
    before = {"city": "Kyoto", "hotels": [{"id": 3, "price": 40}], "note": "x"}
    after = {"city": "Kyoto", "hotels": [{"id": 3, "price": 45}, {"id": 9}]}

    assert inner_changes(before, after) == (
        InnerChange(("hotels", 0, "price"), "changed", 40, 45),
        InnerChange(("hotels", 1), "added", None, {"id": 9}),
        InnerChange(("note",), "removed", "x", None),
    )
    assert inner_changes(1, 2) == inner_changes([1], {"a": 1}) == ()


@given(JSON, JSON)
def test_inner_differences_are_complete(before: Any, after: Any):
    if not (type(before) is type(after) and isinstance(before, dict | list)):
        return
    assert (inner_changes(before, after) == ()) == is_same(before, after)
    for part in inner_changes(before, after):
        assert _at(before, part.path) == (part.before if part.kind != "added" else MISSING)
        assert _at(after, part.path) == (part.after if part.kind != "removed" else MISSING)


MISSING = object()


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        is_there = key in value if isinstance(value, dict) else isinstance(key, int) and key < len(value)
        if not is_there:
            return MISSING
        value = value[key]
    return value
