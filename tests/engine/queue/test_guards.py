"""Races at the end of a run, with a cancel, with another process, and with a reply that is not written."""

import asyncio

import pytest

from engine.api import Fate
from engine.events import Status
from engine.host import recover
from engine.queue.leftovers import drop_reason
from engine.runtimes.answers import Answers
from engine.runtimes.runtime import ConfirmedReply
from engine.store import runs
from engine.store.errors import AlreadyDecided
from tests.support.engines import Engines, done, events_of, journal_of, lines_of, wait_for_run
from tests.support.fake_call import FakeCall
from tests.support.queue.steering import ControlledRun, SteeringHarness, open_steering, wait_until, writer_blocked


@pytest.fixture
async def closed_elsewhere(open_engine: Engines) -> tuple[SteeringHarness, ControlledRun, str]:
    """A run in progress here that another process has closed, as can happen without locks; and its message."""
    steering, other = await open_steering(open_engine), await open_engine()
    run = await steering.start()
    (item_id,) = await steering.send_claimed("early")
    host_id, now = steering.engine._core.host.host_id, steering.engine.now()
    await other._core.host.writer.submit(lambda tx: recover(tx, host_id, now=now))
    return steering, run, item_id


async def test_message_to_a_run_closed_by_another_process_gets_its_own_run(
    closed_elsewhere: tuple[SteeringHarness, ControlledRun, str],
):
    steering, run, _ = closed_elsewhere
    ticket = await steering.send("late")

    assert (ticket.claimed_by, ticket.item_id) == (None, None)
    assert (await wait_for_run(steering.engine, await ticket.started)).row.run_id != run.run_id


async def test_no_entry_follows_the_end_of_a_run_closed_by_another_process(
    closed_elsewhere: tuple[SteeringHarness, ControlledRun, str],
):
    steering, run, item_id = closed_elsewhere
    with pytest.raises(AlreadyDecided, match=r"is dropped \(host_restarted\)"):
        await steering.engine.queue.edit(item_id, "later")

    assert [entry.type for entry in await journal_of(steering.engine, run.run_id)][-1] == "run.finished"


async def test_nothing_is_claimed_after_a_cancel_is_written(steering: SteeringHarness):
    run, host = await steering.start(), steering.engine._core.host
    with writer_blocked(steering.engine):
        host.writer.submit(lambda tx: runs.request_cancel(tx.connection, run.run_id, at=0))
        saying = asyncio.ensure_future(steering.send("too late"))
        await wait_until(lambda: host.dispatcher.pending)
        assert host.orchestrator.live[run.run_id].stop_reason is None
    ticket = await saying

    assert (ticket.claimed_by, ticket.not_claimed_reason) == (None, "the run is ending")


async def test_new_message_does_not_overtake_queued_ones_when_the_slot_becomes_free(steering: SteeringHarness):
    run, host = await steering.start(), steering.engine._core.host
    first = await steering.send("first", after=True)
    with writer_blocked(steering.engine):
        # The end of the run and the new message are decided in one batch, before queued messages are considered.
        ending = asyncio.ensure_future(run.end(done()))
        await wait_until(lambda: run.run_id not in host.orchestrator.live)
        saying = asyncio.ensure_future(steering.send("second"))
        await wait_until(lambda: len(host.dispatcher.pending) == 2)
    second = await saying
    await ending
    await steering.engine.runs.wait_until_idle()

    assert [text for role, text in await lines_of(steering.engine) if role == "user"] == ["go", "first", "second"]
    assert await first.started != await second.started


async def test_end_of_a_run_drops_only_its_own_queued_messages(steering: SteeringHarness):
    run, other = await steering.start(), await steering.start(thread_id="t")
    (mine,) = await steering.send_claimed("mine")
    (theirs,) = await steering.send_claimed("theirs", thread_id="t")
    await run.end(done())

    assert (steering.item(mine).fate, steering.item(theirs).fate) == (Fate.DROPPED, Fate.QUEUED)
    assert await other.pull() == ["theirs"]
    await other.end(done())


async def test_event_of_a_delivered_message_belongs_to_the_run_that_claimed_it(steering: SteeringHarness):
    run = await steering.start()
    delivered, undelivered = await steering.send("heard"), await steering.send("unheard")
    await run.pull("one")
    await run.end(done())

    of_event = {row.event_id: row.run_id for row in events_of(steering.engine, "message.received")}
    assert (of_event[delivered.event_id], of_event[undelivered.event_id]) == (run.run_id, None)


@pytest.mark.parametrize(
    ("status", "reason", "word"),
    [
        (Status.COMPLETED, "ended", "completed"),
        (Status.FAILED, "runner.error", "failed"),
        (Status.FAILED, "runner.lost", "runner_lost"),
        (Status.FAILED, "host_restarted", "host_restarted"),
        (Status.CANCELLED, "runner.lost", "cancelled"),
        (Status.TIMEOUT, "timeout", "timeout"),
    ],
)
def test_each_end_of_a_run_has_its_own_drop_reason(status: Status, reason: str, word: str):
    assert drop_reason(status, reason) == word


@pytest.mark.parametrize(("is_written", "expected"), [(True, ["written"]), (False, ["lost"])])
async def test_reply_that_cannot_be_written_counts_as_lost(is_written: bool, expected: list[str]):
    outcomes: list[str] = []

    class Sink:
        def request(self, action: str, data: object) -> FakeCall:
            reply = ConfirmedReply({}, lambda: outcomes.append("written"), lambda: outcomes.append("lost"))
            return FakeCall(lambda: reply)

    class Pipe:
        room = asyncio.Event()

        def write(self, line: bytes) -> bool:
            return is_written

    Pipe.room.set()
    answers = Answers(Sink(), Pipe())  # type: ignore[arg-type]
    answers.take(1, "steering_pull", {})
    await wait_until(lambda: outcomes)

    assert outcomes == expected
