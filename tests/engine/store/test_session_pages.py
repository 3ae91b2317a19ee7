"""Sessions as rows of a list."""

from itertools import count

import pytest
from sqlalchemy import Connection

from engine.events import Status
from engine.store import runs, sessions, transcript
from engine.store import sessions as session_pages
from engine.store.deletion import delete_session
from engine.store.sessions import SessionRow
from tests.support.store_samples import numbered_line, run_row


def ids(rows: list[SessionRow]) -> list[str]:
    return [row.session.session_id for row in rows]


def test_pages_return_every_session_once_last_active_first(conn: Connection):
    for number in range(9):
        sessions.ensure(conn, f"s{number}", at=number // 3)

    met: list[SessionRow] = []
    for _ in range(6):
        met += session_pages.browse_page(conn, before=met[-1] if met else None, limit=2)

    assert ids(met) == [f"s{number}" for number in (8, 7, 6, 5, 4, 3, 2, 1, 0)]


def test_next_page_continues_if_its_last_session_was_active_or_deleted_meanwhile(conn: Connection):
    for number in range(4):
        sessions.ensure(conn, f"s{number}", at=number)
    first = session_pages.browse_page(conn, limit=2)
    sessions.touch(conn, "s2", at=99)

    assert ids(session_pages.browse_page(conn, before=first[-1])) == ["s1", "s0"]
    delete_session(conn, "s2", at=100, event_id="e")
    assert ids(session_pages.browse_page(conn, before=first[-1])) == ["s1", "s0"]


def test_a_row_has_the_status_and_the_size_of_its_session(conn: Connection):
    sessions.ensure(conn, "s", at=1, title="Trip", metadata={"a": 1})
    sessions.ensure(conn, "empty", at=0)
    for number in range(3):
        transcript.append(conn, numbered_line("s", number))
    runs.create(conn, run_row("run_b", conversation_id="s", at=1))
    runs.finish(conn, "run_b", Status.COMPLETED, at=2)
    # Its id sorts before the first one: the order is that of creation.
    runs.create(conn, run_row("run_a", conversation_id="s", at=3))

    full, empty = session_pages.browse_page(conn)

    assert full == SessionRow(sessions.get(conn, "s"), "0", 2, 3, 0, "run_a", "run_a", "created", None)
    assert empty == SessionRow(sessions.get(conn, "empty"), None, 0, 0, 0, None, None, None, None)
    runs.finish(conn, "run_a", Status.FAILED, at=4, reason="runner.error")
    ended = session_pages.browse_page(conn)[0]
    assert (ended.live_run, ended.last_status, ended.last_reason) == (None, "failed", "runner.error")


def test_counts_have_an_upper_limit(conn: Connection, monkeypatch: pytest.MonkeyPatch):
    sessions.ensure(conn, "s", at=1)
    for number in range(4):
        transcript.append(conn, numbered_line("s", number))
    monkeypatch.setattr(session_pages, "_PAGE", session_pages._PAGE.replace(str(session_pages.MAX_COUNTED), "3"))

    assert session_pages.browse_page(conn)[0].lines == 3


def test_children_are_counted_and_listed_as_forked_or_spawned(conn: Connection):
    numbers = count()
    sessions.ensure(conn, "root", at=1)
    transcript.append(conn, numbered_line("root", 1))
    sessions.spawn(conn, "root", "spawned", at=2)
    sessions.fork(conn, "root", "forked", until=None, at=3, new_id=lambda: f"copy_{next(numbers)}")

    rows = session_pages.browse_page(conn, parent_id="root")

    assert [(row.session.session_id, row.is_fork, row.lines) for row in rows] == [
        ("forked", True, 1),
        ("spawned", False, 0),
    ]
    assert {row.session.session_id: row.children for row in session_pages.browse_page(conn)}["root"] == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kyoto", ["a"]),
        ("kyoto day", ["a"]),
        (" yo  da ", ["a"]),
        ("kyoto école", []),
        ("sure d", ["d"]),
        ("ÉCOLE", ["b"]),
        ("京都", ["c"]),
        ("100%", ["d"]),
        ("%", ["d"]),
        ("_", []),
        ("untitled-1", ["untitled-1"]),
        ("", ["untitled-1", "d", "c", "b", "a"]),
    ],
)
def test_session_is_found_by_literal_parts_of_its_title_or_id_in_any_order(
    conn: Connection, text: str, found: list[str]
):
    titles = {"a": "A day in Kyoto", "b": "l'école", "c": "京都之旅", "d": "100% sure", "untitled-1": None}
    for at, (session_id, title) in enumerate(titles.items()):
        sessions.ensure(conn, session_id, at=at, title=title)

    assert ids(session_pages.browse_page(conn, text=text)) == found


def test_search_results_are_paged(conn: Connection):
    for number in range(6):
        sessions.ensure(conn, f"s{number}", at=number, title=f"trip {number}" if number % 2 else "other")
    (first,) = session_pages.browse_page(conn, text="trip", limit=1)

    assert ids(session_pages.browse_page(conn, text="trip", before=first)) == ["s3", "s1"]


def test_existing_sessions_are_returned_by_id(conn: Connection):
    for number in range(4):
        sessions.ensure(conn, f"s{number}", at=number)

    assert ids(session_pages.browse_page(conn, ids=["s1", "gone", "s3"])) == ["s3", "s1"]
    assert session_pages.browse_page(conn, ids=[]) == []
