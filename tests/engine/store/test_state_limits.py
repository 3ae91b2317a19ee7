"""The limits of a state scope: bytes and keys, whoever writes, without reading the whole scope for each write."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from engine.store import deletion, sessions, state, state_edits
from engine.store.database import Database
from engine.store.errors import StateFull, StateRefused
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.state import MAX_VALUE_DEPTH, ChangeOrigin, StateLimits
from engine.store.state_edits import EditOrigin

OWNER = {"runner_id": "plugin:a/b/c", "binding_id": "agent_x"}
TALK = ScopeIdentity(scope=Scope.CONVERSATION, conversation_id="talk", **OWNER)
ME = ScopeIdentity(scope=Scope.ACTOR, actor_type="user", actor_id="me", **OWNER)
BY = ChangeOrigin(editor="runner", at=1)


class Stored:
    """The functions of `state` on one connection."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **more: getattr(state, name)(self._conn, *arguments, **more)


@pytest.fixture(params=["database", "memory"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[Any]:
    database = Database.open(path, write=True, state=request.param)
    with database.writing_connection() as conn:
        yield Stored(conn)
    database.close()


def totals(conn: Connection) -> list[tuple[str, int, int]]:
    rows = conn.exec_driver_sql("SELECT scope_key, bytes, keys FROM state_totals ORDER BY scope_key")
    return [tuple(row) for row in rows]


def counted(conn: Connection) -> list[tuple[str, int, int]]:
    rows = conn.exec_driver_sql(
        "SELECT scope_key, sum(length(CAST(state_key AS BLOB)) + length(CAST(value AS BLOB))), count(*)"
        " FROM state GROUP BY scope_key ORDER BY scope_key"
    )
    return [tuple(row) for row in rows]


def test_a_scope_is_limited_to_the_byte_and_refuses_what_exceeds_it(store: Any):
    limits = StateLimits(max_bytes=20)
    store.put(TALK, "ab", "é23456", BY, limits)  # 2 bytes of key, 9 of value
    store.put(TALK, "cd", "12345", BY, limits)

    with pytest.raises(StateFull, match="the conversation scope would hold 21 bytes, and the limit is 20"):
        store.put(TALK, "cd", "123456", BY, limits)
    with pytest.raises(StateFull):
        store.put(TALK, "e", 1, BY, limits)
    store.put(ME, "e", 1, BY, limits)
    store.put(TALK, "cd", "1234", BY, limits)
    assert store.all_of(TALK.key) == {"ab": "é23456", "cd": "1234"}


def test_a_scope_is_limited_to_a_number_of_keys(store: Any):
    limits = StateLimits(max_keys=2)
    store.put(TALK, "a", 1, BY, limits)
    store.put(TALK, "b", 1, BY, limits)

    with pytest.raises(StateFull, match="the conversation scope has 2 keys, and the limit is 2"):
        store.put(TALK, "c", 1, BY, limits)
    store.put(TALK, "b", "a longer value", BY, limits)
    store.delete(TALK, "a", BY)
    store.put(TALK, "c", 1, BY, limits)
    assert sorted(store.all_of(TALK.key)) == ["b", "c"]


def test_a_scope_over_its_limit_can_shrink(store: Any):
    store.put(TALK, "a", "x" * 100, BY)
    store.put(TALK, "b", "x" * 100, BY)
    limits = StateLimits(max_bytes=50, max_keys=1)

    store.put(TALK, "a", "x" * 99, BY, limits)

    with pytest.raises(StateFull):
        store.put(TALK, "a", "x" * 100, BY, limits)
    assert store.delete(TALK, "b", BY)


def test_the_limits_are_16_mebibytes_and_10_000_keys():
    assert StateLimits() == StateLimits(16 * 1024 * 1024, 10_000)


def test_totals_follow_every_way_to_change_state(conn: Connection):
    sessions.ensure(conn, "talk", at=1)
    for number in range(5):
        state.put(conn, TALK, f"k{number}é", "x" * number, BY)
        state.put(conn, ME, f"k{number}", [number], BY)
    state.put(conn, TALK, "k1é", {"a": "longer"}, BY)
    state.delete(conn, TALK, "k2é", BY)
    state.delete(conn, TALK, "nothing", BY)
    state.copy(conn, "talk", "copy", until=1, change=BY)
    assert len(totals(conn)) == 3
    assert totals(conn) == counted(conn)

    edit = state_edits.clear(conn, ME, EditOrigin("e1", 2))
    assert totals(conn) == counted(conn)
    state_edits.restore(conn, edit.edit_id, EditOrigin("e2", 3))
    deletion.delete_session(conn, "talk", at=4, event_id="e3")

    assert totals(conn) == counted(conn)
    assert len(totals(conn)) == 2


def test_an_edit_of_the_user_is_limited_too_and_leaves_no_trace(conn: Connection):
    limits = StateLimits(max_bytes=20)
    state.put(conn, TALK, "a", "x" * 15, BY)
    cleared = state_edits.clear(conn, TALK, EditOrigin("e1", 2))
    state.put(conn, TALK, "b", "x" * 10, BY)

    with pytest.raises(StateRefused, match="the limit is 20"):
        state_edits.put(conn, TALK, "c", "x" * 10, EditOrigin("e2", 3), limits=limits)
    with pytest.raises(StateRefused, match="the limit is 20"):
        state_edits.restore(conn, cleared.edit_id, EditOrigin("e3", 3), limits=limits)
    assert state.all_of(conn, TALK.key) == {"b": "x" * 10}


def test_what_other_connections_wrote_counts(database: Database):
    limits = StateLimits(max_keys=2)
    with database.writing_connection() as one, database.writing_connection() as other:
        state.put(one, TALK, "a", 1, BY, limits)
        state.put(other, TALK, "b", 1, BY, limits)
        with pytest.raises(StateFull):
            state.put(one, TALK, "c", 1, BY, limits)
        state.delete(other, TALK, "a", BY)
        state.put(one, TALK, "c", 1, BY, limits)


def test_the_check_of_a_write_reads_no_other_row_of_the_scope(conn: Connection):
    plan = conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {state._TOTAL}", ("s", "k")).fetchall()
    accesses = [row[3] for row in plan if row[3].startswith(("SCAN", "SEARCH"))]

    assert len(accesses) == 2
    assert all(access.startswith("SEARCH") for access in accesses)


def test_a_value_is_not_nested_deeper_than_a_context_can_carry(store: Any):
    deep: Any = 0
    for _ in range(MAX_VALUE_DEPTH):
        deep = [deep]
    store.put(TALK, "k", deep, BY)

    with pytest.raises(StateRefused, match=f"nested deeper than {MAX_VALUE_DEPTH} levels"):
        store.put(TALK, "k", {"one more": deep}, BY)
    store.put(TALK, "wide", [[]] * 1_000, BY)
