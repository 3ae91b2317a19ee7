"""A JSON value as lines: unfolding loses nothing, folds are kept by path, and only visible lines are built."""

import json
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.model.inspector.json_tree import MAX_UNFOLDED_LINES, Line, Tree
from console.model.inspector.json_values import path_text
from console.model.text.folds import Folds, Path
from console.model.text.safe import safe

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=90)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(TEXT, inner, max_size=6), max_leaves=30
)
WIDTHS = st.integers(40, 90)


def tree_of(value: Any, width: int = 60, folds: Folds | None = None) -> Tree:
    tree = Tree(value, folds)
    tree.fit(width)
    return tree


def lines_of(tree: Tree) -> list[Line]:
    return [tree.line(index) for index in range(tree.height)]


def unfold_all(tree: Tree) -> None:
    index = 0
    while index < tree.height:
        line = tree.line(index)
        if line.is_container and not line.is_open:
            tree.toggle(index)
        index += 1


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path, value


def paths(value: Any, is_open: Any, path: Path = ()) -> Iterator[Path]:
    """Return every line of containers, in order, computed the slow way."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, dict | list) and item and is_open((*path, key)):
            yield from paths(item, is_open, (*path, key))


@given(VALUES, WIDTHS)
def test_unfolded_lines_contain_every_leaf(value: Any, width: int):
    tree = tree_of(value, width)
    unfold_all(tree)
    shown = [line for line in lines_of(tree) if line.kind not in ("text", "object", "array") or not line.size]
    found = [(line.path, tree.value_of(line.path)) for line in shown if line.kind != "text"]

    expected = list(leaves(value))
    assert [path for path, _ in found] == [path for path, _ in expected]
    assert all(mine is theirs for (_, mine), (_, theirs) in zip(found, expected, strict=True))


@given(TEXT, WIDTHS)
def test_rows_of_an_unfolded_text_are_its_text(text: str, width: int):
    tree = tree_of({"text": text}, width)
    unfold_all(tree)
    rows = [line.text for line in lines_of(tree) if line.kind == "text"]

    if rows:
        assert "".join("".join(rows).split()) == "".join(safe(text).split())
        assert tree.copied(tree.height - 1) == text


@given(VALUES, st.lists(st.integers(0, 10_000), max_size=12), WIDTHS)
def test_lines_after_any_folds_equal_the_reference(value: Any, folds: list[int], width: int):
    if not isinstance(value, dict | list) or not value:
        return
    tree = tree_of(value, width)
    for fold in folds:
        tree.toggle(fold % tree.height)
        lines = lines_of(tree)
        opened = {line.path for line in lines if line.is_open}
        shown = [line.path for line in lines if line.kind != "text"]

        assert shown == list(paths(value, opened.__contains__))
        assert [len(line.path) - 1 for line in lines if line.kind != "text"] == [
            line.depth for line in lines if line.kind != "text"
        ]


@given(VALUES, st.lists(st.integers(0, 10_000), max_size=12))
def test_folds_are_kept_by_path_for_the_next_value(value: Any, toggles: list[int]):
    folds = Folds()
    first = tree_of(value, folds=folds)
    for toggle in toggles:
        first.toggle(toggle % first.height)
    again = tree_of(orjson.loads(orjson.dumps(value)), folds=folds)

    for line in lines_of(first):
        if line.is_container and folds.has(line.path or ("",)):
            match = [other for other in lines_of(again) if other.path == line.path and other.kind == line.kind]
            assert [other.is_open for other in match] == [line.is_open]


@given(VALUES, WIDTHS)
def test_rows_are_safe_and_fit_the_width(value: Any, width: int):
    tree = tree_of(value, width)
    unfold_all(tree)
    for index in range(tree.height):
        row = tree.row(index)
        text = "".join(piece.text for piece in row.pieces)
        assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in text)
        deep = row.indent + 40 > width
        glyph = 0 if row.is_open is None else 2
        assert deep or 1 + row.indent + glyph + len(text) <= width + 3, "quotes and an ellipsis are cut"


@given(VALUES)
@settings(max_examples=50)
def test_copied_value_is_json_and_its_path_leads_to_it(value: Any):
    tree = tree_of(value)
    unfold_all(tree)
    for index, line in enumerate(lines_of(tree)):
        if line.kind != "text":
            assert orjson.loads(tree.copied(index)) == tree.value_of(line.path)
            assert tree.path_at(index) == path_text(line.path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "$"),
        (("arguments", "ids", 0), "$.arguments.ids[0]"),
        (("odd key",), '$["odd key"]'),
        (("", "ä", "0"), '$[""]["ä"]["0"]'),
        (('a"b',), '$["a\\"b"]'),
    ],
)
def test_paths_use_jsonpath_notation(path: Path, text: str):
    assert path_text(path) == text


# Unfolded at first


def test_two_levels_are_unfolded_and_short_containers_stay_on_one_line():
    tree = tree_of({"arguments": {"ids": [3, 9], "deep": {"a": {"b": ["c" * 40, "d" * 40]}}}, "ok": True})

    assert [(line.key, line.text, line.is_open) for line in lines_of(tree)] == [
        ("arguments", "{2 keys}", True),
        ("ids", "[3, 9]", False),
        ("deep", "{1 key}", True),
        ("a", "{1 key}", False),
        ("ok", "true", False),
    ]


@given(st.integers(1, 40), st.integers(1, 400))
def test_nothing_is_unfolded_at_first_beyond_two_hundred_lines(wide: int, many: int):
    value = {f"key {place}": [{"name": "n" * 70} for _ in range(many)] for place in range(wide)}
    assert tree_of(value).height <= max(MAX_UNFOLDED_LINES, wide)


def test_huge_text_is_cut_and_shows_its_length():
    tree = tree_of({"blob": "x" * 1_234_567}, 60)
    assert tree.line(0).text.endswith("… 1,234,567 characters")
    tree.toggle(0)

    assert tree.height < 1_000
    assert tree.line(tree.height - 1).text == "… 1,201,799 more characters; y copies all of them"
    assert len(json.loads(tree.copied(0))) == 1_234_567


def test_long_text_is_unfolded_and_an_id_is_not():
    words = "A day in Kyoto, then. Before I promise you anything, let me look at the weather."
    tree = tree_of({"content": words, "id": "run_01m7hbpvmpt6c82d3ncscbsz48"}, 40)
    lines = lines_of(tree)

    assert lines[0].is_open
    assert " ".join(line.text for line in lines if line.kind == "text") == words
    assert (lines[-1].key, lines[-1].is_open, lines[-1].is_container) == ("id", False, True)
    assert lines[-1].text.startswith('"run_01m7')


@pytest.mark.parametrize("value", [None, True, 1.5, "word", [], {}])
def test_scalar_value_is_one_line(value: Any):
    tree = tree_of(value)
    assert tree.height == 1
    assert tree.path_at(0) == "$"
    assert json.loads(tree.copied(0)) == value


# Finding


@given(VALUES, st.text('abcxyz0 ,:[]{}"\\', min_size=1, max_size=2))
@settings(max_examples=200)
def test_find_next_visits_every_match_in_order(value: Any, wanted: str):
    tree = tree_of(value)
    expected = [path for path in all_paths(value) if holds(value, path, wanted)]
    found: list[Path] = []
    row = tree.find(wanted)
    while row is not None and len(found) <= len(expected):
        found.append(tree.line(row).path)
        row = tree.find(wanted, row)

    assert found == expected


def all_paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            if isinstance(item, dict | list):
                yield from all_paths(item, (*path, key))
    elif not path:
        yield path


def holds(value: Any, path: Path, wanted: str) -> bool:
    for key in path:
        value = value[key]
    if path and isinstance(path[-1], str) and wanted in path[-1].lower():
        return True
    if isinstance(value, dict | list):
        return not value and wanted in json.dumps(value)
    return wanted in (value.lower() if isinstance(value, str) else orjson.dumps(value).decode())


def test_find_unfolds_only_the_path_to_the_match():
    value = {"rows": [{"id": place, "inner": {"name": f"name {place}", "text": "t" * 70}} for place in range(300)]}
    tree = tree_of(value)
    row = tree.find("NAME 299")

    assert row is not None
    assert tree.path_at(row) == "$.rows[299].inner.name"
    assert tree.height == 1 + 300 + 2 + 2


def test_find_goes_to_the_row_of_a_long_text():
    tree = tree_of({"text": "\n".join(f"line {place}" for place in range(500))}, 60)
    row = tree.find("line 432")

    assert row is not None
    assert tree.line(row).text == "line 432"


# Cost


class Watched(list[Any]):
    """A list that counts its reads."""

    taken = 0

    def __getitem__(self, index: Any) -> Any:
        self.taken += 1
        return super().__getitem__(index)


def test_only_visible_items_of_a_huge_value_are_read():
    items = Watched([{"id": place, "name": f"name {place}"} for place in range(100_000)])
    tree = tree_of({"items": items})
    tree.toggle(0)
    for first in (0, 50_000, 100_001 - 40):
        for row in range(first, first + 40):
            tree.row(row)

    assert tree.height == 100_001
    assert items.taken < 2_000
