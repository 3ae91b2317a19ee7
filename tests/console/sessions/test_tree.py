"""The tree of sessions, and what a search shows of a line."""

from random import Random
from typing import Any

import pytest

from console.model.sessions.rows import hit_row, session_row, snippet, state_of, title_of
from console.model.sessions.tree import SessionNode, SessionTree
from console.model.text.columns import cells
from engine.api import Hit, Session, SessionRow, TranscriptLine


def row(name: str, at: int, parent: str | None = None, children: int = 0, **more: Any) -> SessionRow:
    facts: dict[str, Any] = {
        "beginning": None, "runs": 0, "lines": 0, "live_run": None, "last_run": None, "last_status": None,
        "last_reason": None,
    }  # fmt: skip
    session = Session(
        session_id=name, root_session_id=name, parent_session_id=parent, created_at=0, last_active=at,
        title=more.pop("title", None),
    )  # fmt: skip
    return SessionRow(session=session, children=children, **facts | more)


def seen(tree: SessionTree, *hidden: str) -> list[tuple[str, int]]:
    return [(node.row.session.session_id, node.depth) for node in tree.arrange(hidden)]


# The tree


def test_family_is_ordered_by_its_newest_member():
    tree = SessionTree()
    tree.add([row("fork", 9, "old"), row("other", 5), row("old", 1, children=1)])
    assert seen(tree) == [("old", 0), ("fork", 1), ("other", 0)]


def test_missing_parents_are_reported_until_loaded_or_removed():
    tree = SessionTree()
    tree.add([row("fork", 9, "old"), row("orphan", 8, "dead")])
    assert tree.missing_parents() == ["dead", "old"]
    tree.add([row("old", 1, children=1)])
    tree.remove(["dead"])
    assert tree.missing_parents() == []
    assert seen(tree) == [("old", 0), ("fork", 1), ("orphan", 0)]


def test_folded_session_hides_its_descendants():
    tree = SessionTree()
    tree.add([row("a", 1, children=1), row("b", 2, "a", children=1), row("c", 3, "b")])
    tree.set_open("a", is_open=False)
    assert [(node.row.session.session_id, node.is_open) for node in tree.arrange()] == [("a", False)]
    tree.set_open("a", is_open=True)
    assert seen(tree) == [("a", 0), ("b", 1), ("c", 2)]


def test_session_with_unloaded_children_is_not_open():
    tree = SessionTree()
    tree.add([row("a", 1, children=2), row("b", 2, "a")])
    assert tree.arrange()[0].is_open is False


def test_children_of_a_hidden_session_become_roots():
    tree = SessionTree()
    tree.add([row("a", 1, children=1), row("b", 2, "a")])
    assert seen(tree, "a") == [("b", 0)]


def test_forks_may_be_nested_deeper_than_the_python_stack():
    tree = SessionTree()
    tree.add([row(f"s{depth:05}", depth, f"s{depth - 1:05}" if depth else None) for depth in range(3_000)])
    assert seen(tree)[-1] == ("s02999", 2_999)


def test_cycle_of_parents_ends():
    tree = SessionTree()
    tree.add([row("a", 1, "b"), row("b", 2, "a")])
    assert seen(tree) == [("a", 0), ("b", 1)], "each once, under the first one"


def test_hidden_child_counts_as_loaded():
    tree = SessionTree()
    tree.add([row("a", 1, children=1), row("b", 2, "a")])
    assert [node.is_open for node in tree.arrange(["b"])] == [True]


def test_child_of_a_removed_session_becomes_a_root():
    tree = SessionTree()
    tree.add([row("a", 1, children=1), row("b", 2, "a")])
    assert seen(tree) == [("a", 0), ("b", 1)]
    tree.remove(["a"])
    assert (seen(tree), len(tree), tree.missing_parents()) == ([("b", 0)], 1, [])


def test_nodes_change_only_in_arrange():
    tree = SessionTree()
    tree.add([row("a", 1)])
    shown = tree.arrange()
    tree.add([row("b", 2)])
    assert [node.row.session.session_id for node in shown] == ["a"]


@pytest.mark.parametrize("seed", range(30))
def test_incremental_changes_give_the_same_tree_as_one_load(seed: int):
    random, tree = Random(seed), SessionTree()
    rows: dict[str, SessionRow] = {}
    folded, hidden, gone = set[str](), set[str](), set[str]()
    names = [f"s{number:02}" for number in range(25)]
    for _ in range(60):
        name = random.choice(names)
        match random.randrange(6):
            case 0 | 1 | 2:
                parent = random.choice([None, *names[: names.index(name)]])
                rows[name] = row(name, random.randrange(30), parent, children=random.randrange(2))
                tree.add([rows[name]])
            case 3:
                (folded.discard if name in folded else folded.add)(name)
                tree.set_open(name, is_open=name not in folded)
            case 4:
                hidden ^= {name}
            case _:
                rows.pop(name, None)
                gone.add(name)
                tree.remove([name])
        tree.arrange(hidden)
    whole = SessionTree()
    whole.remove(gone)
    whole.add(rows.values())
    for name in folded:
        whole.set_open(name, is_open=False)
    assert tree.arrange(hidden) == whole.arrange(hidden)
    places = {node.row.session.session_id: place for place, node in enumerate(tree.nodes)}
    assert {name: tree.index_of(name) for name in names} == {name: places.get(name) for name in names}
    assert tree.missing_parents() == whole.missing_parents()


# Rows


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({"live_run": "run_1", "last_status": "running"}, "running"),
        ({"last_status": "completed"}, "completed"),
        ({"last_status": "failed", "last_reason": "runner.lost"}, "lost"),
        ({"last_status": "timeout"}, "timeout"),
        ({}, "idle"),
    ],
)
def test_state_of_a_session_follows_its_last_run(facts: dict[str, Any], state: str):
    assert state_of(row("s", 1, **facts)) == state


def test_untitled_session_is_named_by_its_first_message():
    assert title_of(row("ses_01", 1, beginning=" plan a day \n")) == "plan a day"
    assert title_of(row("kyoto", 1, beginning="plan")) == "kyoto"
    assert title_of(row("ses_01", 1, title="Trip", beginning="plan")) == "Trip"


@pytest.mark.parametrize("width", [30, 60, 90, 160])
@pytest.mark.parametrize(
    "title", ["short", "a title that is longer than any row " * 9, "去京都旅行" * 40, "\x1b[31m[/x]"]
)
def test_session_row_fits_with_its_right_side(width: int, title: str):
    shown = session_row(SessionNode(row("s", 1, title=title), 3, None), width, 120_000_000, "s")
    assert shown.right is not None
    used = 1 + shown.indent + sum(cells(piece.text) for piece in shown.pieces) + cells(shown.right.text)
    assert used < width
    assert "\x1b" not in "".join(piece.text for piece in shown.pieces)


@pytest.mark.parametrize("width", [50, 60, 90, 160])
def test_long_title_leaves_room_for_the_marks(width: int):
    session = row("s", 1, title="a title that is longer than any row " * 9, live_run="run_1")
    shown = session_row(SessionNode(session, 1, None), width, 120_000_000, "s")
    text = "".join(piece.text for piece in shown.pieces)
    assert text.startswith("● a ti")
    assert text.endswith("…  ◉ you are here  running")


def test_hit_row_shows_session_and_speaker():
    line = TranscriptLine(
        transcript_id="l", conversation_id="kyoto", role="user", created_at=0, content="use metric", seq=7
    )
    text = "".join(piece.text for piece in hit_row(Hit(line, "Trip", 1), "metric", 80, 60_000_000).pieces)
    assert text == "Trip  you: use metric"


@pytest.mark.parametrize("width", [60, 80, 96])
@pytest.mark.parametrize("before", ["some words that stand before it ", "我想去京都旅行请帮我安排两天的行程"])
def test_found_word_is_never_cut_off(width: int, before: str):
    said = f"{before * 3}needle{before * 3}"
    line = TranscriptLine(
        transcript_id="l", conversation_id="ses_1", role="assistant", created_at=0, content=said, seq=7
    )
    shown = hit_row(Hit(line, before * 3, 1), "needle", width, 60_000_000)
    assert "needle" in [piece.text for piece in shown.pieces]
    assert "…" in shown.pieces[-1].text
    assert shown.indent + 1 + sum(cells(piece.text) for piece in shown.pieces) + cells(shown.right.text) < width


# Snippets


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("use metric", "metric", "metric"),
        ("Use METRIC units", "metric", "METRIC"),
        ("我想去京都旅行", "京都", "京都"),
        ("word " * 200 + "needle in it", "needle", "needle"),
        ("one two three", "three two", "two"),
        ("un café crème", "creme", "crème"),
    ],
)
def test_snippet_highlights_the_found_word_near_its_start(text: str, query: str, found: str):
    pieces = snippet(text, query)
    assert [piece.text for piece in pieces if piece.tone == "warn"] == [found]
    before = pieces[0].text if pieces[0].tone == "" else ""
    assert cells(before) <= 60


def test_snippet_starts_at_the_beginning_without_a_literal_match():
    assert snippet("ﬁne weather", "fine")[0].text == "ﬁne weather"
    assert snippet("İstanbul", "istanbul")[0].text == "İstanbul"
