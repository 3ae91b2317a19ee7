"""Sessions are a tree."""

from collections.abc import Iterator
from itertools import count

import pytest
from sqlalchemy import Connection

from engine.events import Status
from engine.store import deletion, runs, sessions, transcript
from engine.store.errors import Ambiguous, NotFound, SessionRefused, SlotTaken
from engine.store.row_mapping import ConversationKey
from tests.support.store_samples import numbered_line, run_row

PLATFORM_IDS = ("19960@chatroom", "!abc:matrix.org", "C012/1699.22", "-100123", "two words", "../../etc/passwd", "群聊")


@pytest.mark.parametrize("session_id", [*PLATFORM_IDS, "x" * 255, "群" * 255])
def test_ids_of_real_platforms_are_accepted(conn: Connection, session_id: str):
    assert sessions.ensure(conn, session_id, at=1).root_session_id == session_id
    assert sessions.find(conn, session_id).session_id == session_id


@pytest.mark.parametrize("session_id", ["", "x" * 256, "a\n", "\x1b[2J", "a\x00", "\x7f", "\x85", "\ud800"])
def test_invalid_session_ids_are_refused(conn: Connection, session_id: str):
    with pytest.raises(SessionRefused, match=r"is not a valid session id\. Use 1 to 255 characters, without"):
        sessions.ensure(conn, session_id, at=1)


def test_session_is_created_once(conn: Connection):
    made = sessions.ensure(conn, "s", at=1, user_id="me", title="first", metadata={"a": 1})
    assert sessions.ensure(conn, "s", at=9, user_id="you", title="second") == made


def test_root_session_is_created_before_its_first_message(conn: Connection):
    made = sessions.create(conn, "s", at=1, user_id="me", title="first", metadata={"a": [1]})
    assert sessions.get(conn, "s") == made
    assert (made.root_session_id, made.depth, made.user_id, made.title, made.metadata) == (
        "s", 0, "me", "first", {"a": [1]},
    )  # fmt: skip
    with pytest.raises(SessionRefused, match="session s exists already; choose another id"):
        sessions.create(conn, "s", at=2)
    with pytest.raises(SessionRefused, match="is not a valid session id"):
        sessions.create(conn, "\x07", at=2)


def test_child_has_its_own_user_if_one_is_given(conn: Connection):
    sessions.create(conn, "root", at=1, user_id="me")
    child = sessions.spawn(conn, "root", "child", at=2, user_id="you", metadata={"a": 1})
    assert (child.user_id, child.root_session_id, child.metadata) == ("you", "root", {"a": 1})
    assert sessions.spawn(conn, "child", "grandchild", at=3).user_id == "you"


def test_deleted_session_cannot_come_back_below_its_own_child(conn: Connection):
    sessions.create(conn, "a", at=1)
    sessions.spawn(conn, "a", "b", at=2)
    sessions.spawn(conn, "b", "c", at=3)
    deletion.delete_session(conn, "a", at=4, event_id="e")

    with pytest.raises(SessionRefused, match="a was a session above c and cannot be its child; choose another id"):
        sessions.spawn(conn, "c", "a", at=5)
    assert sessions.create(conn, "a", at=5).depth == 0


def test_family_of_a_session_are_its_descendants_the_nearest_first(conn: Connection):
    sessions.create(conn, "other", at=1)
    sessions.create(conn, "root", at=1)
    for parent, child in (("root", "a"), ("root", "b"), ("a", "aa"), ("aa", "aaa")):
        sessions.spawn(conn, parent, child, at=2)
    assert sessions.family(conn, "root", limit=9) == ["root", "a", "b", "aa", "aaa"]
    assert sessions.family(conn, "a", limit=2) == ["a", "aa"]
    with pytest.raises(NotFound):
        sessions.family(conn, "nowhere", limit=9)


def test_exact_id_wins_over_last_and_over_a_beginning(conn: Connection):
    for at, session_id in enumerate(("demo", "demo-7", "demo_8", "50%off", "群聊一")):
        sessions.create(conn, session_id, at=at)

    def found(name: str) -> str:
        return sessions.find(conn, name, by_beginning=True).session_id

    assert [found(name) for name in ("demo", "demo-", "demo_", "50%", "群", "last")] == [
        "demo", "demo-7", "demo_8", "50%off", "群聊一", "群聊一",
    ]  # fmt: skip
    with pytest.raises(Ambiguous, match=r"'dem' matches several sessions: demo, demo-7, demo_8\. Type more of the id"):
        found("dem")
    for unknown in ("", "e", "demo-77", "\ud800"):
        with pytest.raises(NotFound):
            found(unknown)
    with pytest.raises(NotFound):
        sessions.find(conn, "demo-")
    sessions.create(conn, "last", at=0)
    assert found("last") == "last"


def test_session_remembers_its_last_run_and_counts_events(conn: Connection):
    sessions.create(conn, "s", at=1)
    runs.create(conn, run_row("run_1", conversation_id="s", agent_id="guide"), project="/work")
    runs.finish(conn, "run_1", Status.FAILED, at=2)
    sessions.add_message(conn, "s")
    runs.create(conn, run_row("run_2", conversation_id="s"))
    with pytest.raises(SlotTaken):
        runs.create(conn, run_row("run_3", conversation_id="s"))
    runs.create(conn, run_row("run_4", conversation_id="not stored"))

    session = sessions.get(conn, "s")
    assert (session.message_count, session.runner_id) == (3, "plugin:a/b/c")
    assert (session.agent_id, session.project) == (None, None)


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
    sessions.touch(conn, "s0", at=9)
    assert [each.session_id for each in sessions.page(conn)] == ["s0", "s4", "s3", "s2", "s1"]
    assert [each.session_id for each in sessions.page(conn, before="s4", limit=2)] == ["s3", "s2"]
    assert [each.session_id for each in sessions.page(conn, user_id="b")] == ["s3", "s1"]
    assert sessions.get(conn, "s0").message_count == 0


def test_titles_and_metadata_change_and_an_unknown_session_is_not_found(conn: Connection):
    sessions.ensure(conn, "s", at=1, metadata={"a": 1, "b": 1})
    sessions.rename(conn, "s", "a title")
    assert sessions.set_metadata(conn, "s", {"b": 2}).metadata == {"a": 1, "b": 2}
    assert sessions.set_metadata(conn, "s", {"c": None}, remove=["a", "absent"]).metadata == {"b": 2, "c": None}
    assert sessions.get(conn, "s").title == "a title"
    for change in (lambda: sessions.rename(conn, "x", "y"), lambda: sessions.touch(conn, "x", at=1)):
        with pytest.raises(NotFound):
            change()


def test_metadata_that_cannot_be_stored_is_refused(conn: Connection):
    sessions.create(conn, "s", at=1, metadata={"a": 1})
    transcript.append(conn, numbered_line("s", 0))
    fork = sessions.fork(conn, "s", "fork", until=None, at=2, new_id=lambda: "copy")
    for change, words in (
        (lambda: sessions.set_metadata(conn, "fork", {"forked_from": "x"}), "forked_from is set by a fork"),
        (lambda: sessions.set_metadata(conn, "fork", {}, remove=["forked_at"]), "forked_at is set by a fork"),
        (lambda: sessions.spawn(conn, "s", "c", at=3, metadata={"forked_from": "x"}), "forked_from is set by a fork"),
        (lambda: sessions.create(conn, "n", at=3, metadata={"a": object()}), "the metadata is not JSON"),
        (lambda: sessions.set_metadata(conn, "s", {"b": "x" * 65_536}), "at most 65,536 are allowed"),
    ):
        with pytest.raises(SessionRefused, match=words):
            change()
    assert sessions.get(conn, "s").metadata == {"a": 1}
    assert sessions.set_metadata(conn, "fork", {"b": 2}).metadata == {**fork.metadata, "b": 2}
