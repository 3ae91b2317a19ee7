"""A sample of `make text-budget`: hostile texts are drawn safely on every surface, with a bounded amount of work.

How long a draw takes depends on the machine, so that only the work is counted here.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pygments.lexer import Lexer
from rich.cells import cell_len

from console.model.conversation.text_parts import TextParts
from console.model.inspector import json_values, state_diff
from console.model.inspector.data import OutputData, OutputLine, ScopeData, StateData, StateKey
from console.model.inspector.json_tree import Tree
from console.model.inspector.state_diff import inner_changes
from console.model.stream.filter import OfKind, Part
from console.model.stream.index import Chunk, Kinds
from console.ui.conversation import markdown
from console.ui.conversation.code_highlight import MAX_HIGHLIGHTED_CHARS
from console.ui.inspector.tabs import MAX_SCOPE_KEYS, OutputTab, StateTab
from tests.console.text.test_safe import hostile_in
from tests.support.console.stream_data import entry
from tests.support.hostile_surfaces import ROWS, SURFACES, WIDTH
from tests.support.hostile_texts import HostileTexts, known_attacks

LONG = 5_000
"""Longer texts are left to `make text-budget`."""
SAMPLE = [text for text in known_attacks() if len(text) <= LONG] + [
    text for text in HostileTexts(7).texts(1_100) if len(text) <= LONG
][-60:]
MAX_PARSED_CHARS = 60_000
"""Characters that one screen may parse as Markdown. Without a limit it would be all of the text, and more than once."""


def counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> Counter[str]:
    """Count the calls of a function, and the characters of its first text."""
    count: Counter[str] = Counter()
    original: Callable[..., Any] = getattr(owner, name)

    def call(*arguments: Any, **named: Any) -> Any:
        count["calls"] += 1
        count["characters"] += sum(len(one) for one in arguments if isinstance(one, str))
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, call)
    return count


@pytest.mark.parametrize("surface", SURFACES)
def test_hostile_text_is_drawn_safely(surface: str):
    for text in SAMPLE[::2] if surface in ("output", "state") else SAMPLE:
        for strip in SURFACES[surface](text)():
            assert hostile_in(strip.text) == set()
            assert cell_len(strip.text) == strip.cell_length == WIDTH


@pytest.mark.parametrize("unit", ["\n", ">\n\n", "[a]: b\n", "\u200d", "- a\n", "```python\n", "x", "![", "a\n"])
def test_one_screen_of_a_large_message_parses_a_bounded_part_of_it(unit: str, monkeypatch: pytest.MonkeyPatch):
    parsed = counted(monkeypatch, markdown._parser(), "parse")
    lexed = counted(monkeypatch, Lexer, "get_tokens")
    draw = SURFACES["conversation"]((unit * 300_000)[:300_000])
    assert len(draw()) == ROWS
    assert parsed["characters"] <= MAX_PARSED_CHARS
    assert lexed["characters"] <= lexed["calls"] * MAX_HIGHLIGHTED_CHARS


@pytest.mark.parametrize("unit", ["\n", "a\n", "```\n"])
def test_lines_of_a_large_text_with_short_lines_are_not_looked_at(unit: str, monkeypatch: pytest.MonkeyPatch):
    looked = counted(monkeypatch, TextParts, "_note_fence")
    text = unit * 100_000
    parts = TextParts("before\n")
    parts.grow(text)
    assert parts.text == "before\n" + text
    assert max(len(part.text) for part in parts.sealed) <= 4_000
    assert looked["calls"] <= 1


def test_fence_that_a_part_repeats_is_short():
    parts = TextParts("```" + "x" * 3_000 + "\n" + "a line of code\n" * 500)
    assert parts.count > 3
    assert {len(part.opener) for part in parts.sealed[1:]} == {103}


def test_values_are_compared_up_to_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(state_diff, "MAX_COMPARED_VALUES", 1_000)
    compared = counted(monkeypatch, state_diff, "is_same")
    before = list(range(5_000))
    assert [change.path for change in inner_changes(before, [0, 9, *before[2:]])] == [(1,)]
    assert compared["calls"] == 1_000


def test_search_reads_only_children_that_contain_the_text(monkeypatch: pytest.MonkeyPatch):
    read = counted(monkeypatch, json_values, "_leaf_text")
    for value in (["a"] * 90_000, {f"k{number}": "a" for number in range(90_000)}):
        if isinstance(value, list):
            value[80_000] = "needle"
        else:
            value["k80000"] = "needle"
        tree = Tree(value)
        tree.fit(80)
        assert tree.find("needle") == 80_000
        assert tree.find("needle", 80_000) is None
    assert read["calls"] < 5_000


def test_filter_matches_only_the_kinds_of_the_entries_it_looks_at(monkeypatch: pytest.MonkeyPatch):
    kinds, chunk = Kinds(), Chunk(0)
    for number in range(60_000):
        kinds.id_of(f"x.{number}")
    chunk.add([entry(position, "tool.call.started") for position in range(1, 11)], kinds)
    matched = counted(monkeypatch, OfKind, "matches")
    assert OfKind(("tool.*",)).mask(Part(chunk, 0, 10, kinds, {})) == bytes([1] * 10)
    assert matched["calls"] == 1


def test_output_and_state_show_a_bounded_number_of_rows():
    lines = [OutputLine(number, 1, "traceback", "\n".join(["x"] * 100)) for number in range(100)]
    output = OutputTab().rows(OutputData(run_id="run", lines=lines, has_earlier=False))
    output.fit(WIDTH)
    assert output.height == 1 + 2_000
    assert "Earlier lines may be missing" in output.row(0).pieces[0].text
    lines = [OutputLine(number, 1, "stdout", f"{number} {'x' * 80}") for number in range(1_000)]
    output = OutputTab().rows(OutputData(run_id="run", lines=lines, has_earlier=False))
    output.fit(WIDTH)
    assert output.height == 1_000
    assert output.copied(0).startswith("0 x")

    keys = [StateKey(f"k{number}", number, "by you", 1) for number in range(10_000)]
    state = StateTab().rows(StateData(run_id="run", scopes=[ScopeData("conversation", keys)], changes=[]))
    state.fit(WIDTH)
    assert state.height == 1 + MAX_SCOPE_KEYS + 1
    assert "9,500 more keys" in state.row(state.height - 1).pieces[0].text
