"""State: scopes that do not collide, limits, and any scope as of any entry."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from engine.store import entries, state, state_pages
from engine.store.database import Database
from engine.store.errors import StateRefused
from engine.store.scope_identity import PARTS, Scope, ScopeIdentity, identify, scope_key
from engine.store.state import ChangeOrigin, Written
from engine.store.tables import metadata
from tests.support.store_samples import entry, write_entries

OWNER = {"runner_id": "plugin:a/b/c", "binding_id": "agent_x"}
CONVERSATION = ScopeIdentity(scope=Scope.CONVERSATION, conversation_id="talk", **OWNER)
ME = ScopeIdentity(scope=Scope.ACTOR, actor_type="user", actor_id="me", **OWNER)

# A careless key would collide at separators, quotes and look-alikes.
PART = st.none() | st.text(st.sampled_from('ab:,|/\\"\x00\ud800é'), max_size=4)
PLACES = st.sampled_from(list(Scope)).flatmap(
    lambda scope: st.tuples(st.just(scope), st.fixed_dictionaries(dict.fromkeys(PARTS[scope], PART)))
)


class Stored:
    """The functions of `state` on one connection."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *arguments, **more: getattr(state, name)(self._conn, *arguments, **more)


@pytest.fixture(params=["database", "memory"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[Any]:
    database = Database.open(path, write=True, state=request.param)
    with database.writing_connection() as conn:
        yield Stored(conn)
    database.close()


def by(row: int | None = None, **more: Any) -> ChangeOrigin:
    return ChangeOrigin(editor="runner", at=1, journal_row=row, **more)


@given(PLACES, PLACES)
def test_different_scopes_have_different_keys(one: Any, other: Any):
    assert (scope_key(*one) == scope_key(*other)) == (one == other)


def test_a_scope_key_is_a_digest_of_sorted_compact_json():
    assert scope_key(Scope.RUNNER, {"b": None, "a": "é"}) == scope_key(Scope.RUNNER, {"a": "é", "b": None})
    digest = "21bf6a1c6146bf64ed3f7365be9087c86aac9df656704c80cc01fd045d3495f7"
    assert scope_key(Scope.RUNNER, {"b": None, "a": "1"}) == f"runner:v2:{digest}"  # of {"a":"1","b":null}


def test_a_scope_whose_identity_the_event_lacks_has_no_key():
    assert identify(Scope.CONVERSATION, **OWNER) is None
    assert identify(Scope.ACTOR, actor_type="user", **OWNER) is None
    assert identify(Scope.SUBJECT, conversation_id="talk", **OWNER) is None
    assert identify(Scope.RUNNER, **OWNER) == ScopeIdentity(scope=Scope.RUNNER, **OWNER)


def test_identity_has_only_the_parts_of_its_key_and_default_types():
    everything = {"conversation_id": "talk", "thread_id": "t", "actor_id": "me", "subject_id": "it", **OWNER}
    talk = identify(Scope.CONVERSATION, **everything)
    actor = identify(Scope.ACTOR, **everything)
    subject = identify(Scope.SUBJECT, **everything)
    assert talk == ScopeIdentity(scope=Scope.CONVERSATION, conversation_id="talk", thread_id="t", **OWNER)
    assert actor == ScopeIdentity(scope=Scope.ACTOR, actor_type="user", actor_id="me", **OWNER)
    assert subject == ScopeIdentity(scope=Scope.SUBJECT, subject_type="unknown", subject_id="it", **OWNER)


def test_write_replaces_the_value_and_a_missing_key_reads_as_none(store: Any):
    assert store.get(CONVERSATION, "a") is None
    store.put(CONVERSATION, "a", {"n": [1, None]}, by())
    store.put(CONVERSATION, "a", "second", by())
    store.put(ME, "a", "mine", by())
    assert store.get(CONVERSATION, "a") == "second"
    assert store.all_of(CONVERSATION.key) == {"a": "second"}


def test_null_is_a_value(store: Any):
    store.put(CONVERSATION, "a", None, by(1))
    assert store.all_of(CONVERSATION.key) == {"a": None}
    assert store.at([CONVERSATION.key], 1)[CONVERSATION.key]["a"].value is None
    assert store.delete(CONVERSATION, "a", by(2))


def test_delete_returns_whether_the_key_existed(store: Any):
    store.put(CONVERSATION, "a", 1, by())
    assert store.delete(CONVERSATION, "a", by()) is True
    assert store.delete(CONVERSATION, "a", by()) is False
    assert store.all_of(CONVERSATION.key) == {}


def test_clearing_empties_one_scope(store: Any):
    for key in "abc":
        store.put(CONVERSATION, key, 1, by())
    store.put(ME, "a", 1, by())
    assert store.clear(CONVERSATION, by()) == 3
    assert store.all_of(CONVERSATION.key) == {}
    assert store.all_of(ME.key) == {"a": 1}


def test_a_cleared_scope_is_empty_from_that_entry_on_and_not_before(store: Any):
    store.put(CONVERSATION, "a", 1, by(1))
    store.clear(CONVERSATION, by(2, run_id="run_a", position=5))

    assert list(store.at([CONVERSATION.key], 1)[CONVERSATION.key]) == ["a"]
    assert store.at([CONVERSATION.key], 2)[CONVERSATION.key] == {}


def test_keys_are_sorted_and_a_prefix_is_taken_literally(store: Any):
    for key in ("b", "a%1", "a_2", "a3", "A4", "é"):
        store.put(CONVERSATION, key, 1, by())
    assert store.keys(CONVERSATION) == (["A4", "a%1", "a3", "a_2", "b", "é"], False)
    assert store.keys(CONVERSATION, prefix="a%") == (["a%1"], False)
    assert store.keys(CONVERSATION, prefix="a_") == (["a_2"], False)
    assert store.keys(CONVERSATION, prefix="a", limit=2) == (["a%1", "a3"], True)
    assert store.keys(CONVERSATION, prefix="a", limit=2, after="a3") == (["a_2"], False)


def test_alias_conversation_id_reads_as_the_conversation_until_it_is_set(store: Any):
    assert store.get(CONVERSATION, "conversation_id") == "talk"
    assert store.get(CONVERSATION, "external.conversation_id") == "talk"
    assert store.get(ME, "conversation_id") is None
    store.put(CONVERSATION, "conversation_id", "remote-7", by())
    assert store.get(CONVERSATION, "external.conversation_id") == "remote-7"
    assert store.keys(CONVERSATION) == (["external.conversation_id"], False)
    assert store.delete(CONVERSATION, "conversation_id", by())
    assert store.get(CONVERSATION, "conversation_id") == "talk"


def test_limits_of_keys_and_values_are_exact(store: Any):
    store.put(CONVERSATION, "k" * 255, "x" * (256 * 1024 - 2), by())
    with pytest.raises(StateRefused, match="1 to 255 characters; this one has 256"):
        store.put(CONVERSATION, "k" * 256, 1, by())
    with pytest.raises(StateRefused, match="this one has 0"):
        store.put(CONVERSATION, "", 1, by())
    with pytest.raises(StateRefused, match="has 262145 bytes; the limit is 262144"):
        store.put(CONVERSATION, "a", "x" * (256 * 1024 - 1), by())
    with pytest.raises(StateRefused, match="262145"):
        store.put(CONVERSATION, "a", "é" * (128 * 1024 - 1) + "x", by())
    with pytest.raises(StateRefused, match="is not JSON"):
        store.put(CONVERSATION, "a", {1, 2}, by())
    assert store.keys(CONVERSATION) == (["k" * 255], False)


def test_scope_can_be_read_as_of_any_entry_with_the_writer_of_each_value(store: Any):
    store.put(CONVERSATION, "a", 1, by(3, run_id="run_a", position=2))
    store.put(CONVERSATION, "b", 1, by(5, run_id="run_a", position=4))
    store.put(CONVERSATION, "a", 2, by(5, run_id="run_a", position=4))
    store.delete(CONVERSATION, "b", by(8, run_id="run_b", position=1))
    store.put(ME, "a", "mine", by(4))

    def values_at(row: int) -> dict[str, Any]:
        return {key: written.value for key, written in store.at([CONVERSATION.key], row)[CONVERSATION.key].items()}

    assert values_at(2) == {}
    assert values_at(3) == values_at(4) == {"a": 1}
    assert values_at(5) == values_at(7) == {"a": 2, "b": 1}
    assert values_at(8) == {"a": 2}
    assert store.at([CONVERSATION.key, ME.key], 4) == {
        CONVERSATION.key: {"a": Written(1, "run_a", 2, 3, "runner", 1)},
        ME.key: {"a": Written("mine", None, None, 4, "runner", 1)},
    }


def test_an_edit_by_the_user_comes_before_the_next_entry(conn: Connection):
    write_entries(conn, entry(1), entry(2))
    state.put(conn, CONVERSATION, "a", "edited", ChangeOrigin(editor="user", at=9))
    assert state.at(conn, [CONVERSATION.key], 2)[CONVERSATION.key] == {}
    assert state.at(conn, [CONVERSATION.key], 3)[CONVERSATION.key] == {"a": Written("edited", None, None, 3, "user", 9)}


def test_every_change_of_a_key_is_kept(conn: Connection):
    state.put(conn, CONVERSATION, "a", 1, by(1))
    state.delete(conn, CONVERSATION, "a", by(2))
    state.put(conn, CONVERSATION, "a", 3, by(3))
    assert [change.glimpse for change in state_pages.changes(conn, CONVERSATION, "a")] == ["3", None, "1"]


def test_rows_have_their_owner(conn: Connection):
    state.put(conn, CONVERSATION, "a", [1], ChangeOrigin(editor="runner", at=7))
    state.put(conn, ME, "b", 2, by())
    assert state.browse(conn, conversation_id="talk") == [state.Kept(CONVERSATION, "a", [1], 7, 7, "runner")]
    assert [kept.identity for kept in state.browse(conn, runner_id=CONVERSATION.runner_id)] == [ME, CONVERSATION]
    assert state.browse(conn, runner_id="plugin:x/y/z") == []


def test_key_keeps_the_time_of_its_creation_until_it_is_deleted(store: Any):
    for at, value in ((3, 1), (5, 2)):
        store.put(CONVERSATION, "a", value, ChangeOrigin(editor="runner", at=at))
    (kept,) = store.browse()
    assert (kept.created_at, kept.updated_at) == (3, 5)

    store.delete(CONVERSATION, "a", ChangeOrigin(editor="runner", at=6))
    store.put(CONVERSATION, "a", 3, ChangeOrigin(editor="user", at=8))
    (kept,) = store.browse()
    assert (kept.created_at, kept.updated_at) == (8, 8)


def test_state_in_memory_leaves_the_file_as_it_is(path: Path):
    stored = Database.open(path, write=True)
    with stored.writing_connection() as conn:
        state.put(conn, CONVERSATION, "a", "on disk", by())

    in_memory = Database.open(path, write=True, state="memory")
    with in_memory.writing_connection() as conn:
        assert state.browse(conn) == []
        conn.exec_driver_sql("BEGIN IMMEDIATE")
        state.put(conn, CONVERSATION, "a", "in memory", by())
        write_entries(conn, entry(1))
        conn.exec_driver_sql("COMMIT")
        conn.exec_driver_sql("BEGIN IMMEDIATE")
        state.put(conn, CONVERSATION, "b", "rolled back", by())
        conn.exec_driver_sql("ROLLBACK")
    assert in_memory.read_now(lambda conn: state.all_of(conn, CONVERSATION.key)) == {"a": "in memory"}
    assert stored.read_now(lambda conn: state.all_of(conn, CONVERSATION.key)) == {"a": "on disk"}
    assert stored.read_now(entries.last_row) == 1
    in_memory.close()
    assert Database.open(path, write=True, state="memory").read_now(state.browse) == []
    stored.close()


def test_a_key_is_unique_in_its_scope():
    table = metadata.tables["state"]
    assert [column.name for column in table.primary_key] == ["scope_key", "state_key"]
