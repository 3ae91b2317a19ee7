"""Edits of state by the user: recorded, within the limits, and undone by another edit."""

from itertools import count

import pytest
from sqlalchemy import Connection, select

from engine.events import Expected
from engine.store import event_log, state, state_edits, state_pages, tables
from engine.store.errors import NotFound, StateConflict, StateRefused
from engine.store.event_log import EventRow
from engine.store.row_mapping import ConversationKey
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.state import ChangeOrigin
from engine.store.state_edits import EditOrigin

OWNER = {"runner_id": "plugin:a/b/c", "binding_id": "agent_x"}
CONVERSATION = ScopeIdentity(scope=Scope.CONVERSATION, conversation_id="talk", **OWNER)
ANN = ScopeIdentity(scope=Scope.ACTOR, actor_type="user", actor_id="ann", **OWNER)
_numbers = count(1)


def hand() -> EditOrigin:
    return EditOrigin(f"edit_{next(_numbers)}", 9)


def runner_puts(
    conn: Connection, key: str, value: object, identity: ScopeIdentity = CONVERSATION, *, at: int = 1
) -> None:
    state.put(conn, identity, key, value, ChangeOrigin(editor="runner", at=at, run_id="run_a", position=2))


def held(conn: Connection) -> dict[str, object]:
    return state.all_of(conn, CONVERSATION.key)


def noted(conn: Connection) -> list[str]:
    return list(conn.execute(select(tables.events.c.event_type).order_by(tables.events.c.seq)).scalars())


def test_edit_is_recorded_with_user_change_and_scope(conn: Connection):
    edit = state_edits.put(conn, CONVERSATION, "conversation_id", "remote", hand())

    row = event_log.get(conn, edit.edit_id)
    assert (row.event_type, row.source, row.actor_type, row.actor_id) == ("state.set", "user", "user", "local")
    assert row.metadata == {
        "scope": {"scope": "conversation", "conversation_id": "talk", **OWNER},
        "scope_key": CONVERSATION.key,
        "changes": [1, 1],
        "count": 1,
        "key": "external.conversation_id",
    }
    (change,) = state_pages.changes(conn, CONVERSATION, "conversation_id")
    assert (change.editor, change.at) == ("user", 9)


def test_no_runner_can_read_the_users_edits_of_state(conn: Connection):
    state_edits.put(conn, CONVERSATION, "a", 1, hand())

    assert event_log.page(conn, ConversationKey("talk")) == []


@pytest.mark.parametrize(
    ("identity", "key", "value", "words"),
    [
        (CONVERSATION, "k" * 256, 1, "1 to 255 characters; this one has 256"),
        (CONVERSATION, "", 1, "1 to 255 characters; this one has 0"),
        (CONVERSATION, "\ud800", 1, "contains half of a surrogate pair"),
        (CONVERSATION, "a", "x" * (256 << 10), "has 262146 bytes; the limit is 262144"),
        (CONVERSATION, "a", {1}, "is not JSON"),
        (ScopeIdentity(scope=Scope.ACTOR, **OWNER), "a", 1, "the actor scope needs its actor_id"),
    ],
    ids=["long key", "no key", "half a character", "large", "no JSON", "nobody's"],
)
def test_an_invalid_value_is_refused_and_no_edit_is_recorded(
    conn: Connection, identity: ScopeIdentity, key: str, value: object, words: str
):
    with pytest.raises(StateRefused, match=words):
        state_edits.put(conn, identity, key, value, hand())

    assert (held(conn), noted(conn)) == ({}, [])


def test_a_missing_key_or_scope_cannot_be_deleted_or_cleared(conn: Connection):
    with pytest.raises(NotFound, match="the scope has no key 'a'"):
        state_edits.delete(conn, CONVERSATION, "a", hand())
    with pytest.raises(NotFound, match="the conversation scope has no keys"):
        state_edits.clear(conn, CONVERSATION, hand())
    assert noted(conn) == []


@pytest.mark.parametrize(
    ("kept", "expected"),
    [(2, 1), (1, True), ({"a": [1.0]}, {"a": [1]}), (None, Expected.NOTHING), (Expected.NOTHING, None)],
    ids=["other", "true is not 1", "1.0 is not 1", "null is something", "gone"],
)
def test_an_unexpected_value_is_neither_overwritten_nor_deleted(conn: Connection, kept: object, expected: object):
    if kept is not Expected.NOTHING:
        runner_puts(conn, "a", kept)
    before = held(conn)

    with pytest.raises(StateConflict) as moved:
        state_edits.put(conn, CONVERSATION, "a", "mine", hand(), expected=expected)
    with pytest.raises(StateConflict):
        state_edits.delete(conn, CONVERSATION, "a", hand(), expected=expected)

    assert (moved.value.now, held(conn), noted(conn)) == (kept, before, [])
    state_edits.put(conn, CONVERSATION, "a", "mine", hand(), expected=moved.value.now)
    state_edits.delete(conn, CONVERSATION, "a", hand(), expected="mine")
    assert held(conn) == {}


def test_a_listed_row_can_be_the_expected_value(conn: Connection):
    runner_puts(conn, "a", "é" * 300)
    (row,) = state_pages.page(conn)
    runner_puts(conn, "a", "é" * 301)

    with pytest.raises(StateConflict):
        state_edits.delete(conn, CONVERSATION, "a", hand(), expected=row)

    (row,) = state_pages.page(conn)
    state_edits.delete(conn, CONVERSATION, "a", hand(), expected=row)
    assert held(conn) == {}


def test_a_conflict_names_the_other_writer_if_it_is_known(conn: Connection):
    runner_puts(conn, "a", 1)
    with pytest.raises(StateConflict, match="'a' was changed in the meantime") as moved:
        state_edits.put(conn, CONVERSATION, "a", 3, hand(), expected=2)
    assert moved.value.change is not None
    assert (moved.value.change.run_id, moved.value.change.glimpse) == ("run_a", "1")

    conn.exec_driver_sql("DELETE FROM state_changes")

    with pytest.raises(StateConflict) as moved:
        state_edits.put(conn, CONVERSATION, "a", 3, hand(), expected=2)
    assert moved.value.change is None


def test_undone_edit_restores_the_previous_value(conn: Connection):
    runner_puts(conn, "old", {"n": None})
    changed = state_edits.put(conn, CONVERSATION, "old", 2, hand())
    made = state_edits.put(conn, CONVERSATION, "new", 1, hand())
    deleted = state_edits.delete(conn, CONVERSATION, "old", hand())
    assert held(conn) == {"new": 1}

    assert state_edits.restore(conn, deleted.edit_id, hand()).count == 1
    assert held(conn) == {"new": 1, "old": 2}
    state_edits.restore(conn, made.edit_id, hand())
    assert held(conn) == {"old": 2}
    with pytest.raises(StateRefused, match="'old' was changed again since then, so it was not restored"):
        state_edits.restore(conn, changed.edit_id, hand())
    assert noted(conn) == ["state.set", "state.set", "state.deleted", "state.restored", "state.restored"]


def test_undoing_a_clear_restores_the_whole_scope_and_no_other(conn: Connection):
    for number in range(50):
        runner_puts(conn, f"k{number:02}", number)
    runner_puts(conn, "mine", 1, ANN)
    before = held(conn)

    cleared = state_edits.clear(conn, CONVERSATION, hand())
    assert (cleared.count, held(conn), state.all_of(conn, ANN.key)) == (50, {}, {"mine": 1})
    back = state_edits.restore(conn, cleared.edit_id, hand())

    assert (back.count, held(conn)) == (50, before)
    assert [change.editor for change in state_pages.changes(conn, CONVERSATION, "k07")] == ["user", "user", "runner"]


def test_undo_can_be_undone(conn: Connection):
    runner_puts(conn, "a", 1)
    edit = state_edits.put(conn, CONVERSATION, "a", 2, hand())
    back = state_edits.restore(conn, edit.edit_id, hand())

    state_edits.restore(conn, back.edit_id, hand())

    assert held(conn) == {"a": 2}


def test_undo_keeps_keys_that_a_runner_wrote_since(conn: Connection):
    for key in "ab":
        runner_puts(conn, key, 1)
    cleared = state_edits.clear(conn, CONVERSATION, hand())
    runner_puts(conn, "b", "fresh")

    back = state_edits.restore(conn, cleared.edit_id, hand())

    assert (back.count, back.left, held(conn)) == (1, ("b",), {"a": 1, "b": "fresh"})


def test_only_edits_of_the_user_can_be_undone(conn: Connection):
    edit = state_edits.put(conn, CONVERSATION, "a", 1, hand())
    event_log.append(conn, EventRow(event_id="other", event_type="message.received", source="x", created_at=1))
    for name in ("nothing", "other"):
        with pytest.raises(NotFound, match=f"no edit of state {name} by the user"):
            state_edits.restore(conn, name, hand())

    conn.exec_driver_sql("DELETE FROM state_changes")

    with pytest.raises(NotFound, match="cannot be undone: its session was deleted"):
        state_edits.restore(conn, edit.edit_id, hand())


def test_expected_long_value_is_compared_completely(conn: Connection):
    runner_puts(conn, "a", "x" * 300 + "old", at=1)
    (row,) = state_pages.page(conn)
    runner_puts(conn, "a", "x" * 300 + "new", at=2)

    with pytest.raises(StateConflict) as moved:
        state_edits.delete(conn, CONVERSATION, "a", hand(), expected=row)
    assert moved.value.now == "x" * 300 + "new"


def test_value_rewritten_unchanged_can_be_deleted(conn: Connection):
    runner_puts(conn, "a", "x", at=1)
    (row,) = state_pages.page(conn)
    runner_puts(conn, "a", "x", at=2)

    state_edits.delete(conn, CONVERSATION, "a", hand(), expected=row)
    assert held(conn) == {}
