"""Sessions are a tree."""

from collections.abc import Iterator
from itertools import count

import pytest
from sqlalchemy import Connection

from engine.store import sessions, transcript
from engine.store.errors import NotFound, SessionRefused
from engine.store.row_mapping import ConversationKey
from tests.support.store_samples import numbered_line


@pytest.mark.parametrize("session_id", ["a", "A.b_c:d-9", "x" * 128])
def test_valid_session_ids_are_accepted(conn: Connection, session_id: str):
    assert sessions.ensure(conn, session_id, at=1).root_session_id == session_id


@pytest.mark.parametrize("session_id", ["", "x" * 129, "a b", "a/b", "é", "a\n", "../x"])
def test_invalid_session_ids_are_refused(conn: Connection, session_id: str):
    with pytest.raises(SessionRefused, match=r"is not a valid session id\. Use 1 to 128 letters"):
        sessions.ensure(conn, session_id, at=1)


def test_session_is_created_once(conn: Connection):
    made = sessions.ensure(conn, "s", at=1, user_id="me", title="first", metadata={"a": 1})
    assert sessions.ensure(conn, "s", at=9, user_id="you", title="second") == made


def test_root_depth_and_user_of_a_child_follow_from_its_parent(conn: Connection):
    sessions.ensure(conn, "root", at=1, user_id="me")
    child = sessions.spawn(conn, "root", "child", at=2, title="side")
    grandchild = sessions.spawn(conn, "child", "grandchild", at=3)
    assert (child.parent_session_id, child.root_session_id, child.depth, child.user_id) == ("root", "root", 1, "me")
    assert (grandchild.parent_session_id, grandchild.root_session_id, grandchild.depth) == ("child", "root", 2)
    assert [each.session_id for each in sessions.children(conn, "root")] == ["child"]
    with pytest.raises(NotFound, match="no session nowhere"):
        sessions.spawn(conn, "nowhere", "x", at=1)
    with pytest.raises(SessionRefused, match="session child exists already"):
        sessions.spawn(conn, "root", "child", at=1)


def test_a_fork_starts_with_the_transcript_up_to_a_line(conn: Connection):
    sessions.ensure(conn, "root", at=1)
    seqs = [transcript.append(conn, numbered_line("root", number)) for number in range(4)]
    numbers: Iterator[int] = count()
    sessions.fork(conn, "root", "fork", until=seqs[2], at=5, new_id=lambda: f"copy_{next(numbers)}")
    transcript.append(conn, numbered_line("fork", 9))
    assert [line.content for line in transcript.page(conn, ConversationKey("fork"))] == ["9", "2", "1", "0"]
    assert sessions.summary(conn, "root").history_length == 4


def test_sessions_are_listed_by_user_last_active_first(conn: Connection):
    for number in range(5):
        sessions.ensure(conn, f"s{number}", at=number, user_id="ab"[number % 2])
    sessions.touch(conn, "s0", at=9, exchanges=2)
    sessions.touch(conn, "s0", at=9)
    assert [each.session_id for each in sessions.page(conn)] == ["s0", "s4", "s3", "s2", "s1"]
    assert [each.session_id for each in sessions.page(conn, before="s4", limit=2)] == ["s3", "s2"]
    assert [each.session_id for each in sessions.page(conn, user_id="b")] == ["s3", "s1"]
    assert sessions.get(conn, "s0").message_count == 2


def test_titles_and_metadata_change_and_an_unknown_session_is_not_found(conn: Connection):
    sessions.ensure(conn, "s", at=1, metadata={"a": 1, "b": 1})
    sessions.rename(conn, "s", "a title")
    assert sessions.set_metadata(conn, "s", {"b": 2}).metadata == {"a": 1, "b": 2}
    assert sessions.get(conn, "s").title == "a title"
    for change in (lambda: sessions.rename(conn, "x", "y"), lambda: sessions.touch(conn, "x", at=1)):
        with pytest.raises(NotFound):
            change()
