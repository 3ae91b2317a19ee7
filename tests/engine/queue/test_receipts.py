"""Receipts: when each message was queued and pulled, the first result after it, and the run's last pull."""

import pytest

from engine.api import Fate, Mode
from tests.support.engines import START, Engines, FakeClock, delta, done, said, wait_for_run
from tests.support.queue.steering import SteeringHarness, open_steering


async def test_a_receipt_has_the_times_of_queueing_pull_and_delivery_and_the_first_result_after_it(
    steering: SteeringHarness, clock: FakeClock
):
    run = await steering.start()
    clock.advance(1)
    ticket = await steering.send("more")
    clock.advance(2)
    await run.pull()
    clock.advance(0.25)
    await run.yields(delta("oh, "))
    await run.yields(said("oh, more"))
    over = await run.end(done("bye"))
    (receipt,) = (await steering.engine.queue.receipts(run.run_id)).receipts

    at = {kind: over.all(kind)[-1].position for kind in ("steering.queued", "steering.pulled", "message.delta")}
    assert (receipt.id, receipt.event_id, receipt.text) == (ticket.item_id, ticket.event_id, "more")
    assert (receipt.mode, receipt.fate, receipt.reason) == (Mode.STEER, Fate.INJECTED, None)
    assert (receipt.queued_at, receipt.queued_position) == (START + 1_000_000, at["steering.queued"])
    assert (receipt.pulled_at, receipt.pulled_position) == (START + 3_000_000, at["steering.pulled"])
    assert (receipt.injected_at, receipt.decided_at) == (START + 3_000_000, START + 3_000_000)
    assert (receipt.first_result, receipt.first_result_position) == ("message.delta", at["message.delta"])
    assert (receipt.first_result_at, receipt.latency) == (START + 3_250_000, 250_000)
    assert (receipt.own_run_id, receipt.sent_again_as) == (None, None)


async def test_calls_output_and_ignored_results_do_not_count_as_first_result(
    steering: SteeringHarness, clock: FakeClock
):
    run = await steering.start()
    await steering.send_claimed("more")
    await run.pull()
    await run.do(lambda ctx: ctx.api.run_get())
    await run.yields({"type": "message.completed", "data": {"nonsense": True}})
    assert (await steering.engine.queue.receipts(run.run_id)).receipts[0].first_result is None
    clock.advance(1)
    await run.yields({"type": "tool.call.started", "data": {"tool_call_id": "t", "tool_name": "n"}})
    await run.end(done())

    (receipt,) = (await steering.engine.queue.receipts(run.run_id)).receipts
    assert (receipt.first_result, receipt.latency) == ("tool.call.started", 1_000_000)


async def test_every_item_has_a_receipt_whatever_its_fate(steering: SteeringHarness, clock: FakeClock):
    run = await steering.start()
    pulled, withdrawn, held, waits = await steering.send_claimed("pulled", "withdrawn", "held", "waits")
    later = await steering.send("later", after=True)
    await steering.engine.queue.withdraw(withdrawn)
    await steering.engine.queue.pause(held)
    await run.pull("one")
    clock.advance(1)
    before = {receipt.id: receipt.fate for receipt in (await steering.engine.queue.receipts(run.run_id)).receipts}
    await run.end(done())
    own = await later.started
    await steering.engine.runs.wait_until_idle()
    receipts = {receipt.id: receipt for receipt in (await steering.engine.queue.receipts(run.run_id)).receipts}

    assert before == {
        pulled: Fate.INJECTED,
        withdrawn: Fate.WITHDRAWN,
        held: Fate.PAUSED,
        waits: Fate.QUEUED,
        later.item_id: Fate.QUEUED,
    }
    assert {name: (each.fate, each.reason, each.decided_at) for name, each in receipts.items()} == {
        pulled: (Fate.INJECTED, None, START),
        withdrawn: (Fate.WITHDRAWN, None, START),
        held: (Fate.DROPPED, "completed", START + 1_000_000),
        waits: (Fate.DROPPED, "completed", START + 1_000_000),
        later.item_id: (Fate.OWN_RUN, None, START + 1_000_000),
    }
    assert receipts[str(later.item_id)].own_run_id == own
    assert [receipts[name].pulled_position for name in (withdrawn, held, waits)] == [None] * 3


async def test_run_reports_its_last_pull_or_that_it_never_pulled(steering: SteeringHarness, clock: FakeClock):
    run = await steering.start()
    never = await steering.engine.queue.receipts(run.run_id)
    assert (never.can_steer, never.why_not, never.pulls, never.last_pull_at) == (True, None, 0, None)
    clock.advance(3)
    await run.pull()
    clock.advance(4)
    await run.pull()
    clock.advance(5)
    now = await steering.engine.queue.receipts(run.run_id)

    assert (now.pulls, now.last_pull_at) == (2, START + 7_000_000)
    assert steering.engine.now() - (now.last_pull_at or 0) == 5_000_000, "the time since the last pull"
    await run.end(done())
    over = await steering.engine.queue.receipts(run.run_id)
    assert (over.pulls, over.last_pull_at) == (2, START + 7_000_000)


async def test_run_that_never_pulled_is_reported_after_its_end(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("unheard")
    await run.end(done())

    receipts = await steering.engine.queue.receipts(run.run_id)
    assert (receipts.pulls, receipts.last_pull_at) == (0, None)


@pytest.mark.parametrize("mode", ["host", "read"])
async def test_another_process_can_read_receipts_and_last_pull(open_engine: Engines, clock: FakeClock, mode: str):
    steering = await open_steering(open_engine)
    other = await open_engine(mode=mode)
    run = await steering.start()
    unasked = await other.queue.receipts(run.run_id)
    assert (unasked.pulls, unasked.last_pull_at) == (None, None)
    await steering.send_claimed("more")
    clock.advance(2)
    await run.pull()

    seen = await other.queue.receipts(run.run_id)
    assert (seen.pulls, seen.last_pull_at) == (None, START + 2_000_000)
    assert [receipt.text for receipt in seen.receipts] == ["more"]
    await run.end(done())
    assert await other.queue.receipts(run.run_id) == await steering.engine.queue.receipts(run.run_id)


async def test_a_receipt_belongs_to_the_run_in_progress_even_if_it_did_not_claim_the_message(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("not yours", bot_id="b")
    await run.end(done())
    await wait_for_run(steering.engine, await ticket.started)

    (receipt,) = (await steering.engine.queue.receipts(run.run_id)).receipts
    assert (receipt.mode, receipt.fate, receipt.own_run_id) == (Mode.SLOT, Fate.OWN_RUN, await ticket.started)
    assert (await steering.engine.queue.receipts(await ticket.started)).receipts == ()
