"""Deleting a session drops its queued messages: each has a fate in the event log, and no sender waits for ever."""

import asyncio

import pytest

from engine.api import SessionDeleted, Ticket
from engine.queue import dispatch
from engine.store.errors import AlreadyDecided
from tests.support.engines import Engines, done
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.queue.steering import SteeringHarness, open_steering, queue_items, steering_log


async def assert_session_deleted(ticket: Ticket) -> None:
    with pytest.raises(SessionDeleted, match="Session s was deleted, so its queued message was dropped"):
        await asyncio.wait_for(asyncio.shield(ticket.started), MAX_WAIT_SECONDS)


async def wait_paused(steering: SteeringHarness, text: str) -> Ticket:
    """A message that is paused, and whose session has no run in progress."""
    run = await steering.start()
    ticket = await steering.send(text, after=True)
    await steering.engine.queue.pause(str(ticket.item_id))
    await run.end(done("bye"))
    return ticket


async def test_a_paused_message_of_a_deleted_session_is_dropped_with_the_reason(steering: SteeringHarness):
    ticket = await wait_paused(steering, "secret words")

    await steering.engine.sessions.delete("s")

    await assert_session_deleted(ticket)
    dropped = {"item_id": ticket.item_id, "source_event_id": ticket.event_id}
    assert steering_log(steering.engine, "steering.dropped") == [
        {"status": "dropped", "reason": "session_deleted"} | dropped
    ]
    assert queue_items(steering.engine) == []


async def test_a_message_of_a_hidden_session_is_dropped_and_stays_so(steering: SteeringHarness):
    ticket = await wait_paused(steering, "secret words")

    await steering.engine.sessions.hide("s")

    await assert_session_deleted(ticket)
    await steering.engine.sessions.restore("s")
    assert await steering.engine.queue.list("s") == []
    assert [note["reason"] for note in steering_log(steering.engine, "steering.dropped")] == ["session_deleted"]


async def test_a_message_of_a_session_that_another_process_deletes_is_dropped(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    # The waiting host does not look at the slot between the end of the run and the deletion.
    monkeypatch.setattr(dispatch, "SLOT_POLL_SECONDS", MAX_WAIT_SECONDS)
    here = await open_steering(open_engine)
    there = SteeringHarness(await open_engine(), here.runners)
    run = await here.start()
    queued, paused = await there.send("queued there"), await there.send("paused there")
    await there.engine.queue.pause(str(paused.item_id))
    assert queued.waits_for == run.run_id
    await run.end(done("bye"))

    await here.engine.sessions.delete("s")

    await assert_session_deleted(queued)
    await assert_session_deleted(paused)
    assert [note["reason"] for note in steering_log(here.engine, "steering.dropped")] == ["session_deleted"] * 2
    assert there.engine._core.host.dispatcher.pending == {}


async def test_a_message_that_another_process_drops_is_no_longer_waited_for(open_engine: Engines):
    here = await open_steering(open_engine)
    there = SteeringHarness(await open_engine(), here.runners)
    ticket = await wait_paused(here, "left behind")
    host = here.engine._core.host
    host._lock.path.unlink()  # to the other process this host is dead

    await there.engine.recover()

    with pytest.raises(AlreadyDecided, match=r"was dropped by another process \(host_restarted\)"):
        await asyncio.wait_for(asyncio.shield(ticket.started), MAX_WAIT_SECONDS)


async def test_a_message_of_another_session_keeps_waiting(steering: SteeringHarness):
    ticket = await wait_paused(steering, "kept")
    other = await steering.start(session="other")
    await other.end(done("bye"))

    await steering.engine.sessions.delete("other")

    assert not ticket.started.done()
    await steering.engine.queue.resume(str(ticket.item_id))
    assert await ticket.started
