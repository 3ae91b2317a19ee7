"""A fork: a child that starts with the transcript up to a line, and with the state at that time."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from sqlalchemy import Connection, delete

from engine.store import runs, sessions, state, transcript
from engine.store.database import Database
from engine.store.deletion import delete_session
from engine.store.errors import NotFound
from engine.store.row_mapping import ConversationKey
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.sessions import Session
from engine.store.state import ChangeOrigin
from engine.store.tables import state_changes
from engine.store.writer import Writer
from tests.support.store_samples import numbered_line, run_row

OWNER = {"runner_id": "plugin:a/b/c", "binding_id": "agent_x"}
CONVERSATION = ScopeIdentity(scope=Scope.CONVERSATION, conversation_id="talk", **OWNER)
FORK = replace(CONVERSATION, conversation_id="fork")
NOW = 100


@pytest.fixture
def talk(conn: Connection) -> list[int]:
    """A conversation whose three lines were written at 10, 20 and 30. Returns their seqs."""
    sessions.ensure(conn, "talk", at=1, title="Holiday")
    return [transcript.append(conn, numbered_line("talk", number, at=number * 10)) for number in (1, 2, 3)]


def names(prefix: str) -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{prefix}_{next(numbers)}"


def fork(
    conn: Connection, until: int | str | None = None, *, parent: str = "talk", child: str = "fork", **more: Any
) -> Session:
    return sessions.fork(conn, parent, child, **{"until": until, "at": NOW, "new_id": names(child)} | more)


def put(conn: Connection, key: str, value: object, at: int, identity: ScopeIdentity = CONVERSATION) -> None:
    state.put(conn, identity, key, value, ChangeOrigin(editor="runner", at=at))


def drop(conn: Connection, key: str, at: int) -> None:
    state.delete(conn, CONVERSATION, key, ChangeOrigin(editor="runner", at=at))


def test_copied_lines_name_their_original_and_are_otherwise_equal(conn: Connection, talk: list[int]):
    rich = replace(
        numbered_line("talk", 4, at=40, run_id="run_a"),
        role="assistant",
        thread_id="t",
        bot_id="b",
        event_id="e",
        content_json={"role": "assistant"},
        artifact_refs=["art_1"],
        metadata={"assembled_from": "deltas"},
    )
    seq = transcript.append(conn, rich)

    fork(conn)

    (copied,) = transcript.page(conn, ConversationKey("fork", "t", "b"))
    assert copied == replace(
        rich,
        transcript_id="fork_4",
        conversation_id="fork",
        seq=copied.seq,
        metadata={"assembled_from": "deltas", "forked_from": "talk_4"},
    )
    assert copied.seq > seq
    assert [line.metadata for line in transcript.page(conn, ConversationKey("fork"), after=0)] == [
        {"forked_from": f"talk_{number}"} for number in (1, 2, 3)
    ]


@pytest.mark.parametrize(("until", "last"), [(0, 1), (1, 2), ("talk_1", 1), ("talk_2", 2), (None, 3)])
def test_fork_point_is_a_line_number_a_line_id_or_the_last_line(
    conn: Connection, talk: list[int], until: int | str | None, last: int
):
    child = fork(conn, talk[until] if isinstance(until, int) else until)

    assert [line.content for line in transcript.page(conn, ConversationKey("fork"))] == [
        str(n) for n in range(last, 0, -1)
    ]
    assert child.metadata == {"forked_from": "talk", "forked_at": f"talk_{last}"}
    assert sessions.get(conn, "fork") == child
    assert (child.parent_session_id, child.depth, child.created_at) == ("talk", 1, NOW)


def test_fork_gets_the_title_of_its_parent_by_default(conn: Connection, talk: list[int]):
    sessions.ensure(conn, "plain", at=1)
    transcript.append(conn, numbered_line("plain", 1))

    assert fork(conn).title == "Holiday (fork)"
    assert fork(conn, child="named", title="What if").title == "What if"
    assert fork(conn, child="other", parent="plain").title == "plain (fork)"


@pytest.mark.parametrize("until", [999, "nowhere", "other_1", "number of other_1"])
def test_a_line_of_another_conversation_is_not_found(conn: Connection, talk: list[int], until: int | str):
    foreign = transcript.append(conn, numbered_line("other", 1))
    until = foreign if until == "number of other_1" else until

    with pytest.raises(NotFound, match=rf"talk has no line {until}\. `trackside transcript talk` shows"):
        fork(conn, until)


def test_an_empty_session_and_a_missing_session_have_different_errors(conn: Connection):
    sessions.ensure(conn, "silent", at=1)

    with pytest.raises(
        NotFound, match=r"silent has no messages yet\. Send one: trackside run --session silent -m TEXT"
    ):
        fork(conn, parent="silent")
    with pytest.raises(NotFound, match="no session nowhere"):
        fork(conn, parent="nowhere")


def test_state_is_copied_as_it_was_at_the_line(conn: Connection, talk: list[int]):
    put(conn, "same", {"n": [1, None]}, 5)
    put(conn, "null", None, 20)
    put(conn, "changed later", "then", 20)
    put(conn, "changed later", "now", 21)
    put(conn, "deleted later", "then", 5)
    drop(conn, "deleted later", 25)
    put(conn, "deleted before", 1, 5)
    drop(conn, "deleted before", 15)
    put(conn, "later", 1, 21)
    before = state.all_of(conn, CONVERSATION.key)

    fork(conn, talk[1])

    assert state.all_of(conn, FORK.key) == {
        "same": {"n": [1, None]},
        "null": None,
        "changed later": "then",
        "deleted later": "then",
    }
    assert state.all_of(conn, CONVERSATION.key) == before


def test_fork_without_a_line_copies_the_current_state(conn: Connection, talk: list[int]):
    put(conn, "summary", "short", 29)
    put(conn, "summary", "after the last words", 31)

    fork(conn)
    fork(conn, talk[2], child="strict")

    assert state.all_of(conn, FORK.key) == {"summary": "after the last words"}
    assert state.all_of(conn, replace(CONVERSATION, conversation_id="strict").key) == {"summary": "short"}


def test_copied_value_is_recorded_as_written_by_the_fork(conn: Connection, talk: list[int]):
    put(conn, "a", 1, 5)
    row = conn.exec_driver_sql("SELECT coalesce(max(row), 0) + 1 FROM journal").scalar_one()

    fork(conn)

    assert state.at(conn, [FORK.key], row)[FORK.key] == {"a": state.Written(1, None, None, row, "fork", NOW)}
    assert state.browse(conn, conversation_id="fork") == [state.Kept(FORK, "a", 1, NOW, NOW, "fork")]


def test_only_scopes_of_the_conversation_are_copied(conn: Connection, talk: list[int]):
    alike = [
        CONVERSATION,
        replace(CONVERSATION, thread_id="t"),
        replace(CONVERSATION, binding_id="agent_y"),
        replace(CONVERSATION, bot_id="b", workspace_id="w"),
    ]
    for number, identity in enumerate(alike):
        put(conn, "a", number, 5, identity)
    put(conn, "a", "mine", 5, ScopeIdentity(scope=Scope.ACTOR, actor_type="user", actor_id="me", **OWNER))
    put(conn, "a", "the runner's", 5, ScopeIdentity(scope=Scope.RUNNER, **OWNER))
    put(conn, "a", "another's", 5, replace(CONVERSATION, conversation_id="other"))

    fork(conn)

    copied = {kept.identity: kept.value for kept in state.browse(conn) if kept.editor == "fork"}
    assert copied == {replace(identity, conversation_id="fork"): number for number, identity in enumerate(alike)}


def test_scope_that_is_empty_now_is_found_by_its_run(conn: Connection, talk: list[int]):
    threaded = replace(CONVERSATION, thread_id="t")
    runs.create(conn, run_row("run_a", conversation_id="talk", thread_id="t", binding_id="agent_x"))
    put(conn, "a", 1, 5, threaded)
    state.clear(conn, threaded, ChangeOrigin(editor="user", at=15))

    fork(conn, talk[0])

    assert state.all_of(conn, replace(threaded, conversation_id="fork").key) == {"a": 1}


@pytest.mark.parametrize(("written", "copied"), [(20, {"a": 1}), (21, {})])
def test_key_with_pruned_changes_is_copied_if_it_is_old_enough(
    conn: Connection, talk: list[int], written: int, copied: dict[str, int]
):
    put(conn, "a", 1, written)
    conn.execute(delete(state_changes))

    fork(conn, talk[1])

    assert state.all_of(conn, FORK.key) == copied


def test_a_fork_of_a_fork_at_a_copied_line_has_the_state_at_the_original_line(conn: Connection, talk: list[int]):
    put(conn, "a", "at the first", 5)
    put(conn, "a", "at the second", 15)
    fork(conn, talk[1])
    put(conn, "a", "since the fork", NOW + 1, FORK)

    second = fork(conn, "fork_1", parent="fork", child="second", at=NOW + 2)
    fork(conn, "second_1", parent="second", child="third", at=NOW + 3)

    (line,) = transcript.page(conn, ConversationKey("second"))
    assert (line.content, line.metadata) == ("1", {"forked_from": "fork_1"})
    assert (second.root_session_id, second.depth, second.title) == ("talk", 2, "Holiday (fork) (fork)")
    for child in ("second", "third"):
        assert state.all_of(conn, replace(CONVERSATION, conversation_id=child).key) == {"a": "at the first"}


def test_fork_of_a_fork_without_its_parent_has_the_initial_state_of_the_first_fork(conn: Connection, talk: list[int]):
    put(conn, "a", "at the second", 15)
    fork(conn, talk[1])
    put(conn, "a", "since the fork", NOW + 1, FORK)
    delete_session(conn, "talk", at=NOW + 2, event_id="audit")

    fork(conn, "fork_2", parent="fork", child="second", at=NOW + 3)

    assert state.all_of(conn, replace(CONVERSATION, conversation_id="second").key) == {"a": "at the second"}


def test_line_with_a_forged_origin_copies_no_foreign_state(conn: Connection, talk: list[int]):
    sessions.ensure(conn, "stranger", at=1)
    transcript.append(conn, numbered_line("stranger", 1, at=40))
    put(conn, "a", "secret", 5, replace(CONVERSATION, conversation_id="stranger"))
    seq = transcript.append(conn, replace(numbered_line("talk", 4, at=40), metadata={"forked_from": "stranger_1"}))
    put(conn, "a", "own", 35)

    fork(conn, seq)
    fork(conn, f"fork_{len(talk) + 1}", parent="fork", child="second", at=NOW + 1)

    for child in ("fork", "second"):
        assert state.all_of(conn, replace(CONVERSATION, conversation_id=child).key) == {"a": "own"}


async def test_failed_fork_changes_nothing(database: Database, writer: Writer):
    def furnish(conn: Connection) -> None:
        sessions.ensure(conn, "talk", at=1)
        for number in (1, 2):
            transcript.append(conn, numbered_line("talk", number))
        put(conn, "a", 1, 1)

    await writer.submit(lambda tx: furnish(tx.connection))
    taken = iter(["copy", "talk_1"])

    with pytest.raises(Exception, match="UNIQUE constraint failed"):
        await writer.submit(lambda tx: fork(tx.connection, new_id=taken.__next__))

    def left(conn: Connection) -> tuple[int, int, dict[str, Any]]:
        return len(sessions.page(conn)), transcript.length(conn, "fork"), state.all_of(conn, FORK.key)

    assert database.read_now(left) == (1, 0, {})
    with database.writing_connection() as conn:
        assert fork(conn).session_id == "fork"
