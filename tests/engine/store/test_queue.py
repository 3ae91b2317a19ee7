"""Queue rows and their fates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from engine.events import FINAL_FATES, Fate, Mode
from engine.store import queue
from engine.store.errors import AlreadyDecided, NotFound
from tests.support.store_samples import queue_item


def test_messages_wait_for_the_slot_in_their_order(conn: Connection):
    queue.add(conn, queue_item("z", text="first", host="h"))
    queue.add(conn, queue_item("a", text="second", host="h"))
    queue.add(conn, queue_item("s", mode=Mode.STEER, run_id="run_1", host="h"))
    queue.add(conn, queue_item("t", thread_id="t", host="h"))
    assert [each.place for each in queue.waiting(conn, conversation_id="talk")] == [1, 2, 3, 4]
    for expected in ("z", "a"):
        assert queue.in_line(conn, "talk", None, "h")[0].item_id == expected
        queue.decide(conn, expected, Fate.OWN_RUN, at=2, own_run_id=f"run_{expected}")
    assert queue.in_line(conn, "talk", None, "h") == []
    assert (queue.get(conn, "z").own_run_id, queue.get(conn, "z").decided_at) == ("run_z", 2)
    assert [each.item_id for each in queue.waiting(conn, run_id="run_1")] == ["s"]


def test_messages_that_wait_for_a_dead_host_are_found(conn: Connection):
    queue.add(conn, queue_item("a", host="h1"))
    queue.add(conn, queue_item("b", host="h2"))
    queue.decide(conn, "b", Fate.DROPPED, at=2, reason="host_restarted")
    assert [each.item_id for each in queue.waiting(conn, host="h1")] == ["a"]
    assert queue.waiting(conn, host="h2") == []
    assert queue.get(conn, "b").reason == "host_restarted"
    with pytest.raises(NotFound, match="no message x in the queue"):
        queue.get(conn, "x")


@given(st.lists(st.sampled_from(list(Fate)), max_size=8))
def test_fate_of_a_message_is_decided_once(steps: list[Fate]):
    stands = queue_item("a")
    decided: list[Fate] = []
    for to in steps:
        try:
            stands = queue.advance(stands, to)
        except AlreadyDecided:
            continue
        if to in FINAL_FATES:
            decided.append(to)
    assert len(decided) <= 1
    assert (stands.fate in FINAL_FATES) == bool(decided)


def test_four_fates_are_final():
    assert {Fate.INJECTED, Fate.DROPPED, Fate.WITHDRAWN, Fate.OWN_RUN} == FINAL_FATES
