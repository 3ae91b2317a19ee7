"""The tree of sessions, and what a search shows of a line."""

from random import Random
from typing import Any

import pytest

from console.model.sessions.rows import hit_row, session_row, snippet, state_of, title_of
from console.model.sessions.tree import Branch, Tree
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


def seen(tree: Tree, *hidden: str) -> list[tuple[str, int]]:
    return [(branch.row.session.session_id, branch.depth) for branch in tree.arrange(hidden)]


# The tree


def test_a_family_stands_where_its_newest_member_belongs():
    tree = Tree()
    tree.add([row("fork", 9, "old"), row("other", 5), row("old", 1, children=1)])
    assert seen(tree) == [("old", 0), ("fork", 1), ("other", 0)]


def test_a_parent_that_was_not_read_is_asked_for_and_one_that_is_gone_is_not_waited_for():
    tree = Tree()
    tree.add([row("fork", 9, "old"), row("orphan", 8, "dead")])
    assert tree.missing() == ["dead", "old"]
    tree.add([row("old", 1, children=1)])
    tree.lose(["dead"])
    assert tree.missing() == []
    assert seen(tree) == [("old", 0), ("fork", 1), ("orphan", 0)]


def test_what_is_folded_hides_all_that_came_of_it_and_says_so():
    tree = Tree()
    tree.add([row("a", 1, children=1), row("b", 2, "a", children=1), row("c", 3, "b")])
    tree.fold("a", is_open=False)
    assert [(branch.row.session.session_id, branch.is_open) for branch in tree.arrange()] == [("a", False)]
    tree.fold("a", is_open=True)
    assert seen(tree) == [("a", 0), ("b", 1), ("c", 2)]


def test_children_that_were_not_read_yet_are_to_be_opened():
    tree = Tree()
    tree.add([row("a", 1, children=2), row("b", 2, "a")])
    assert tree.arrange()[0].is_open is False


def test_the_children_of_one_that_is_hidden_stand_for_themselves():
    tree = Tree()
    tree.add([row("a", 1, children=1), row("b", 2, "a")])
    assert seen(tree, "a") == [("b", 0)]


def test_a_line_of_forks_that_is_deeper_than_python_is_drawn():
    tree = Tree()
    tree.add([row(f"s{depth:05}", depth, f"s{depth - 1:05}" if depth else None) for depth in range(3_000)])
    assert seen(tree)[-1] == ("s02999", 2_999)


def test_sessions_that_name_each_other_as_parent_do_not_hang_it():
    tree = Tree()
    tree.add([row("a", 1, "b"), row("b", 2, "a")])
    assert seen(tree) == [("a", 0), ("b", 1)], "each once, under whichever is met first"


def test_a_child_that_is_hidden_was_read_all_the_same():
    tree = Tree()
    tree.add([row("a", 1, children=1), row("b", 2, "a")])
    assert [branch.is_open for branch in tree.arrange(["b"])] == [True]


def test_one_that_lost_its_parent_stands_for_itself():
    tree = Tree()
    tree.add([row("a", 1, children=1), row("b", 2, "a")])
    assert seen(tree) == [("a", 0), ("b", 1)]
    tree.lose(["a"])
    assert (seen(tree), len(tree), tree.missing()) == ([("b", 0)], 1, [])


def test_what_was_read_is_not_seen_before_it_is_arranged():
    tree = Tree()
    tree.add([row("a", 1)])
    shown = tree.arrange()
    tree.add([row("b", 2)])
    assert [branch.row.session.session_id for branch in shown] == ["a"]


@pytest.mark.parametrize("seed", range(30))
def test_what_comes_bit_by_bit_stands_where_it_would_stand_had_it_come_at_once(seed: int):
    random, tree = Random(seed), Tree()
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
                tree.fold(name, is_open=name not in folded)
            case 4:
                hidden ^= {name}
            case _:
                rows.pop(name, None)
                gone.add(name)
                tree.lose([name])
        tree.arrange(hidden)
    whole = Tree()
    whole.lose(gone)
    whole.add(rows.values())
    for name in folded:
        whole.fold(name, is_open=False)
    assert tree.arrange(hidden) == whole.arrange(hidden)
    places = {branch.row.session.session_id: place for place, branch in enumerate(tree.branches)}
    assert {name: tree.place_of(name) for name in names} == {name: places.get(name) for name in names}
    assert tree.missing() == whole.missing()


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
def test_a_glyph_says_where_a_session_stands(facts: dict[str, Any], state: str):
    assert state_of(row("s", 1, **facts)) == state


def test_a_session_without_a_title_is_known_by_what_was_said_first():
    assert title_of(row("ses_01", 1, beginning=" plan a day \n")) == "plan a day"
    assert title_of(row("kyoto", 1, beginning="plan")) == "kyoto"
    assert title_of(row("ses_01", 1, title="Trip", beginning="plan")) == "Trip"


@pytest.mark.parametrize("width", [30, 60, 90, 160])
@pytest.mark.parametrize(
    "title", ["short", "a title that is longer than any row " * 9, "去京都旅行" * 40, "\x1b[31m[/x]"]
)
def test_a_row_fits_and_its_right_side_is_always_seen(width: int, title: str):
    shown = session_row(Branch(row("s", 1, title=title), 3, None), width, 120_000_000, "s")
    assert shown.right is not None
    used = 1 + shown.indent + sum(cells(piece.text) for piece in shown.pieces) + cells(shown.right.text)
    assert used < width
    assert "\x1b" not in "".join(piece.text for piece in shown.pieces)


@pytest.mark.parametrize("width", [50, 60, 90, 160])
def test_a_long_title_leaves_its_marks_their_room(width: int):
    session = row("s", 1, title="a title that is longer than any row " * 9, live_run="run_1")
    shown = session_row(Branch(session, 1, None), width, 120_000_000, "s")
    text = "".join(piece.text for piece in shown.pieces)
    assert text.startswith("● a ti")
    assert text.endswith("…  ◉ you are here  at work")


def test_a_hit_says_where_it_is_from():
    line = TranscriptLine(
        transcript_id="l", conversation_id="kyoto", role="user", created_at=0, content="use metric", seq=7
    )
    text = "".join(piece.text for piece in hit_row(Hit(line, "Trip", 1), "metric", 80, 60_000_000).pieces)
    assert text == "Trip  you: use metric"


@pytest.mark.parametrize("width", [60, 80, 96])
@pytest.mark.parametrize("before", ["some words that stand before it ", "我想去京都旅行请帮我安排两天的行程"])
def test_the_word_that_was_looked_for_is_never_cut_off(width: int, before: str):
    said = f"{before * 3}needle{before * 3}"
    line = TranscriptLine(
        transcript_id="l", conversation_id="ses_1", role="assistant", created_at=0, content=said, seq=7
    )
    shown = hit_row(Hit(line, before * 3, 1), "needle", width, 60_000_000)
    assert "needle" in [piece.text for piece in shown.pieces]
    assert "…" in shown.pieces[-1].text
    assert shown.indent + 1 + sum(cells(piece.text) for piece in shown.pieces) + cells(shown.right.text) < width


# What was looked for


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("use metric", "metric", "metric"),
        ("Use METRIC units", "metric", "METRIC"),
        ("我想去京都旅行", "京都", "京都"),
        ("word " * 200 + "needle in it", "needle", "needle"),
        ("one two three", "three two", "two"),
    ],
)
def test_the_word_stands_out_and_is_in_sight(text: str, query: str, found: str):
    pieces = snippet(text, query)
    assert [piece.text for piece in pieces if piece.tone == "warn"] == [found]
    before = pieces[0].text if pieces[0].tone == "" else ""
    assert cells(before) <= 60


def test_where_search_found_more_than_letters_tell_it_begins_at_the_beginning():
    assert snippet("ﬁne weather", "fine")[0].text == "ﬁne weather"
    assert snippet("İstanbul", "istanbul")[0].text == "İstanbul"
