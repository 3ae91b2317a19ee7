"""A journal entry and the pages of the journal."""

import json

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from engine.store import entries as journal
from engine.store.entries import Entry
from tests.support.store_samples import entry, write_entries

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_line_has_its_keys_in_order_without_missing_values():
    bare = Entry("run_a", 1, 1_700_000_000_000_001, "host", "run.started", '{"a":[1,2]}', turn=7)
    assert bare.line() == (
        '{"run_id":"run_a","position":1,"at":"2023-11-14T22:13:20.000001Z","source":"host","type":"run.started",'
        '"data":{"a":[1,2]}}'
    )
    whole = bare._replace(outcome="dropped", reason='bad "payload"', sequence=0)
    assert whole.line().endswith('"data":{"a":[1,2]},"outcome":"dropped","reason":"bad \\"payload\\"","sequence":0}')


@given(TEXT, TEXT, TEXT, st.none() | TEXT, st.none() | TEXT)
def test_every_line_is_one_line_of_json(run_id: str, type_: str, data: str, outcome: str | None, reason: str | None):
    line = Entry(run_id, 3, 0, "runner", type_, json.dumps(data), outcome, reason, 4).line()
    assert "\n" not in line
    found = json.loads(line)
    assert (found["run_id"], found["type"], found["data"]) == (run_id, type_, data)
    assert (found.get("outcome"), found.get("reason"), found["sequence"]) == (outcome, reason, 4)


@given(st.integers(0, 700))
def test_inserts_cover_every_entry_once_and_in_order(count: int):
    entries = [entry(position) for position in range(1, count + 1)]
    pieces = [piece for _, _, piece in journal.inserts(entries)]
    assert [each for piece in pieces for each in piece] == entries


def test_journal_is_paged_by_position_in_both_directions(conn: Connection):
    write_entries(
        conn, *(entry(position) for position in range(1, 11)), *(entry(position, "run_b") for position in range(1, 4))
    )

    def positions(**edge: int) -> list[int]:
        return [each.position for each in journal.page(conn, "run_a", **edge)]

    assert positions(limit=3) == [1, 2, 3]
    assert positions(after=3, limit=3) == [4, 5, 6]
    assert positions(before=4) == [3, 2, 1]
    assert positions(before=11, limit=2) == [10, 9]
    assert positions(after=10) == []
    assert journal.page(conn, "run_b", after=2) == [entry(3, "run_b")]


def test_a_global_row_orders_entries_of_all_runs(conn: Connection):
    write_entries(conn, entry(1), entry(1, "run_b"), entry(2))
    assert journal.since(conn, 1, 10) == [(2, entry(1, "run_b")), (3, entry(2))]
    assert journal.row_of(conn, "run_a", 2) == 3
    assert journal.row_of(conn, "run_a", 9) is None
    assert journal.last_position(conn, "run_a") == 2
    assert journal.last_position(conn, "run_x") == 0


def test_row_numbers_are_never_reused(conn: Connection):
    assert journal.last_row(conn) == 0
    write_entries(conn, entry(1), entry(2))
    conn.exec_driver_sql("DELETE FROM journal")
    assert journal.last_row(conn) == 2
    write_entries(conn, entry(3))
    assert journal.row_of(conn, "run_a", 3) == 3


def test_texts_are_the_data_of_one_type_after_a_position(conn: Connection):
    write_entries(conn, *(entry(position, data=str(position), kind="ab"[position % 2]) for position in range(1, 8)))
    assert list(journal.texts(conn, "run_a", "b", 2)) == ["3", "5", "7"]


def test_deltas_are_those_between_two_positions_from_the_first(conn: Connection):
    kinds = ["run.started", *["message.delta"] * 3, "output", "message.delta", "message.completed"]
    write_entries(conn, *(entry(position, kind=kind) for position, kind in enumerate(kinds, start=1)))

    def found(after: int, before: int, limit: int = 9) -> list[int]:
        return [each.position for each in journal.deltas(conn, "run_a", after=after, before=before, limit=limit)]

    assert found(1, 7) == [2, 3, 4, 6]
    assert found(2, 6) == [3, 4]
    assert found(1, 7, limit=2) == [2, 3]
    assert found(4, 6) == []
