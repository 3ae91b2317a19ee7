"""State for browsing: all scopes in pages, and the changes of each key."""

import pytest
from sqlalchemy import Connection

from engine.store import event_log, runs, state, state_pages
from engine.store.errors import Ambiguous, NotFound
from engine.store.event_log import EventRow
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.state import ChangeOrigin
from engine.store.state_pages import StateChange, StateRow
from tests.support.store_samples import run_row

OWNER = {"runner_id": "plugin:a/b/c", "binding_id": "agent_x"}
CONVERSATION = ScopeIdentity(scope=Scope.CONVERSATION, conversation_id="talk", **OWNER)
OTHER = ScopeIdentity(scope=Scope.CONVERSATION, conversation_id="other", runner_id="plugin:x/y/z", binding_id="agent_y")
ANN = ScopeIdentity(scope=Scope.ACTOR, actor_type="user", actor_id="Ann", **OWNER)


def put(conn: Connection, identity: ScopeIdentity, key: str, value: object = 1, **change: object) -> None:
    state.put(conn, identity, key, value, ChangeOrigin(**{"editor": "runner", "at": 1} | change))


def keys(rows: list[StateRow]) -> list[tuple[str, str]]:
    return [(row.identity.conversation_id or row.identity.actor_id or "", row.key) for row in rows]


def test_pages_return_every_key_once_grouped_by_scope(conn: Connection):
    for identity in (CONVERSATION, OTHER, ANN):
        for number in range(7):
            put(conn, identity, f"k{number}")

    met: list[StateRow] = []
    for _ in range(7):
        met += state_pages.page(conn, after=met[-1] if met else None, limit=4)

    assert len(met) == len(set(keys(met))) == 21
    assert [row.identity for row in met[:7]] == [ANN] * 7
    assert [row.key for row in met] == [f"k{number}" for number in range(7)] * 3


def test_next_page_continues_if_its_last_row_was_deleted(conn: Connection):
    for key in "abc":
        put(conn, CONVERSATION, key)
    (first,) = state_pages.page(conn, limit=1)
    state.delete(conn, CONVERSATION, "a", ChangeOrigin(editor="runner", at=2))

    assert [row.key for row in state_pages.page(conn, after=first)] == ["b", "c"]


def test_row_has_the_start_of_its_value_its_size_and_its_writer(conn: Connection):
    put(conn, CONVERSATION, "a", "é" * 1_000, at=5, run_id="run_a", position=7)

    (row,) = state_pages.page(conn)

    assert row == StateRow(CONVERSATION, "a", '"' + "é" * (state_pages.GLIMPSE - 1), 2_002, 5, 5, "runner", "run_a", 7)
    assert state_pages.value(conn, CONVERSATION, "a") == "é" * 1_000


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"scope": Scope.ACTOR}, [("Ann", "Mood")]),
        ({"scope": Scope.CONVERSATION}, [("other", "c%"), ("talk", "b_")]),
        ({"runner_id": "plugin:x/y/z"}, [("other", "c%")]),
        ({"conversation_id": "talk"}, [("talk", "b_")]),
        ({"text": "mood"}, [("Ann", "Mood")]),
        ({"text": "ANN"}, [("Ann", "Mood")]),
        ({"text": "x/y"}, [("other", "c%")]),
        ({"text": "%"}, [("other", "c%")]),
        ({"text": "nothing"}, []),
    ],
    ids=str,
)
def test_rows_are_found_by_scope_runner_conversation_and_text(
    conn: Connection, wanted: dict, found: list[tuple[str, str]]
):
    put(conn, ANN, "Mood")
    put(conn, CONVERSATION, "b_")
    put(conn, OTHER, "c%")

    assert sorted(keys(state_pages.page(conn, **wanted))) == found


def test_the_changes_of_a_key_come_in_pages_with_their_editors(conn: Connection):
    put(conn, CONVERSATION, "a", 1, run_id="run_a", position=3)
    put(conn, CONVERSATION, "b")
    state.delete(conn, CONVERSATION, "a", ChangeOrigin(editor="user", at=2))
    put(conn, CONVERSATION, "a", [3], editor="fork", at=3)

    newest = state_pages.changes(conn, CONVERSATION, "a", limit=2)
    oldest = state_pages.changes(conn, CONVERSATION, "a", before=newest[-1].number)

    assert newest == [
        StateChange(4, "[3]", 3, "fork", None, None, 3),
        StateChange(3, None, 0, "user", None, None, 2),
    ]
    assert oldest == [StateChange(1, "1", 1, "runner", "run_a", 3, 1)]
    assert state_pages.value(conn, CONVERSATION, "a", change=1) == 1
    with pytest.raises(NotFound, match="has no value for 'a'"):
        state_pages.value(conn, CONVERSATION, "a", change=3)
    with pytest.raises(NotFound, match="change 2 has no value"):
        state_pages.value(conn, CONVERSATION, "a", change=2)


def test_scopes_of_a_run_are_listed_before_anything_is_stored_in_them(conn: Connection):
    granted = {"state_scopes": {"conversation": CONVERSATION.key, "actor": ANN.key}}
    runs.create(
        conn, run_row("run_a", event_id="e", binding_id="agent_x", conversation_id="talk", authorization=granted)
    )
    event_log.append(conn, EventRow(event_id="e", event_type="x", source="x", created_at=1, actor_id="Ann"))

    assert state_pages.scopes_of_run(conn, "run_a") == {Scope.CONVERSATION: CONVERSATION, Scope.ACTOR: ANN}


def test_scope_with_a_deleted_event_is_found_by_its_stored_keys(conn: Connection):
    granted = {"state_scopes": {"conversation": CONVERSATION.key, "actor": ANN.key}}
    runs.create(conn, run_row("run_a", binding_id="agent_x", conversation_id="talk", authorization=granted))
    assert state_pages.scopes_of_run(conn, "run_a") == {Scope.CONVERSATION: CONVERSATION}

    put(conn, ANN, "a")

    assert state_pages.scopes_of_run(conn, "run_a")[Scope.ACTOR] == ANN


def test_scope_that_was_not_granted_to_the_run_is_not_listed(conn: Connection):
    granted = {"state_scopes": {"actor": ANN.key}}
    runs.create(conn, run_row("run_a", event_id="e", binding_id="agent_x", authorization=granted))
    event_log.append(conn, EventRow(event_id="e", event_type="x", source="x", created_at=1, actor_id="Bob"))

    assert state_pages.scopes_of_run(conn, "run_a") == {}


def test_scope_is_found_by_the_start_of_its_key(conn: Connection):
    put(conn, CONVERSATION, "a")
    put(conn, CONVERSATION, "b")
    put(conn, OTHER, "a")

    assert state_pages.find_scope(conn, CONVERSATION.key[:30]) == CONVERSATION
    with pytest.raises(Ambiguous, match="matches several scopes"):
        state_pages.find_scope(conn, "conversation:v2:")
    with pytest.raises(NotFound, match="no scope 'actor:'"):
        state_pages.find_scope(conn, "actor:")
