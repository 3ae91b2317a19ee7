"""Runs: their status as a state machine, one slot per conversation, and finding a run by name."""

import pytest
from sqlalchemy import Connection

from engine.events import FINAL_STATUSES, Status
from engine.store import runs
from engine.store.errors import AlreadyFinal, Ambiguous, NotFound, SlotTaken
from tests.support.store_samples import run_row


def test_a_run_is_created_started_and_finished(conn: Connection):
    runs.create(conn, run_row("run_1", authorization={"tools": ["a"]}, metadata={"k": 1}))
    runs.start(conn, "run_1", at=2, deadline_at=300)
    ended = runs.finish(conn, "run_1", Status.COMPLETED, at=3, reason="stop", usage={"tokens": 4})
    assert ended == runs.get(conn, "run_1")
    assert (ended.status, ended.status_reason) == ("completed", "stop")
    assert (ended.created_at, ended.started_at, ended.finished_at, ended.updated_at) == (1, 2, 3, 3)
    assert (ended.deadline_at, ended.usage, ended.authorization) == (300, {"tokens": 4}, {"tools": ["a"]})


@pytest.mark.parametrize("first", sorted(FINAL_STATUSES))
@pytest.mark.parametrize("second", sorted(Status))
def test_terminal_states_are_final(conn: Connection, first: Status, second: Status):
    runs.create(conn, run_row("run_1", metadata={"a": 1}))
    runs.finish(conn, "run_1", first, at=2, reason="why", usage={"in": 1}, metadata={"b": 1})
    if second == first:
        merged = runs.finish(conn, "run_1", second, at=9, reason="again", usage={"out": 2}, metadata={"b": 2})
        assert (merged.usage, merged.metadata) == ({"in": 1, "out": 2}, {"a": 1, "b": 2})
        assert (merged.status_reason, merged.finished_at) == ("why", 2)
    else:
        before = runs.get(conn, "run_1")
        with pytest.raises(AlreadyFinal, match=f"run run_1 is {first}; it cannot become {second}"):
            runs.finish(conn, "run_1", second, at=9)
        assert runs.get(conn, "run_1") == before


def test_a_run_starts_once(conn: Connection):
    runs.create(conn, run_row("run_1"))
    runs.start(conn, "run_1", at=2)
    with pytest.raises(AlreadyFinal):
        runs.start(conn, "run_1", at=3)


def test_a_slot_is_one_conversation_and_thread_and_free_after_the_end(conn: Connection):
    runs.create(conn, run_row("run_1", conversation_id="talk"))
    runs.create(conn, run_row("run_2", conversation_id="talk", thread_id="t"))
    runs.create(conn, run_row("run_3"))
    runs.create(conn, run_row("run_4"))
    for status in ("created", "running"):
        with pytest.raises(SlotTaken, match="session talk is busy with run run_1") as caught:
            runs.create(conn, run_row("run_5", conversation_id="talk"))
        assert caught.value.run_id == "run_1"
        if status == "created":
            runs.start(conn, "run_1", at=2)
    runs.finish(conn, "run_1", Status.FAILED, at=3)
    runs.create(conn, run_row("run_5", conversation_id="talk"))
    holder = runs.holder(conn, "talk", None)
    assert holder is not None
    assert holder.run_id == "run_5"


def test_cancel_request_is_stored_once_and_found_by_the_host(conn: Connection):
    runs.create(conn, run_row("run_1", host="h1"))
    runs.create(conn, run_row("run_2", host="h1"))
    runs.create(conn, run_row("run_3", host="h2"))
    runs.request_cancel(conn, "run_1", at=5)
    assert runs.request_cancel(conn, "run_1", at=6).cancel_requested_at == 5
    runs.request_cancel(conn, "run_3", at=5)
    assert runs.cancel_requested(conn, "h1") == ["run_1"]
    runs.finish(conn, "run_1", Status.CANCELLED, at=7)
    assert runs.cancel_requested(conn, "h1") == []
    assert [each.run_id for each in runs.live_of_host(conn, "h1")] == ["run_2"]
    with pytest.raises(AlreadyFinal, match="run run_1 is cancelled already; there is nothing to stop"):
        runs.request_cancel(conn, "run_1", at=8)


def test_a_run_is_found_by_a_unique_prefix_or_last(conn: Connection):
    with pytest.raises(NotFound, match="there is no run yet"):
        runs.find(conn, "last")
    for at, name in enumerate(("run_ab", "run_abc", "run_x_y", "run_xzy"), 1):
        runs.create(conn, run_row(name, at=at))
    assert runs.find(conn, "last").run_id == "run_xzy"
    assert runs.find(conn, "run_abc").run_id == "run_abc"
    assert runs.find(conn, "run_ab").run_id == "run_ab"
    assert runs.find(conn, "run_x_").run_id == "run_x_y"
    with pytest.raises(Ambiguous, match=r"'run_x' matches several runs: run_xzy, run_x_y\. Type more"):
        runs.find(conn, "run_x")
    for unknown in ("run_q", "%", ""):
        with pytest.raises(NotFound, match=r"no run .*`trackside runs` lists them"):
            runs.find(conn, unknown)


def test_pages_of_runs_are_newest_first_and_filtered(conn: Connection):
    for number in range(1, 7):
        runs.create(conn, run_row(f"run_{number}", at=10 - number // 2, conversation_id=f"c{number}"))
    runs.finish(conn, "run_3", Status.TIMEOUT, at=20)
    order = [each.run_id for each in runs.page(conn)]
    assert order == ["run_1", "run_3", "run_2", "run_5", "run_4", "run_6"]
    paged, before = [], None
    while page := runs.page(conn, limit=2, before=before):
        paged += [each.run_id for each in page]
        before = paged[-1]
    assert paged == order
    assert [each.run_id for each in runs.page(conn, status="timeout")] == ["run_3"]
    assert [each.run_id for each in runs.page(conn, conversation_id="c4")] == ["run_4"]
    assert runs.page(conn, runner_id="plugin:x/y/z") == []
