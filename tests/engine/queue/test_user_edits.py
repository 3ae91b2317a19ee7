"""The user can change a queued message until a run pulls it or it starts."""

import asyncio

import pytest

from engine.api import Fate, Mode
from engine.run.live import StopReason
from engine.store.errors import CannotSteer, QueueFull
from tests.support.engines import done, lines_of, wait_for_run
from tests.support.queue.steering import SteeringHarness, writer_blocked


async def test_a_queued_item_can_be_edited(steering: SteeringHarness):
    run = await steering.start()
    one, _ = await steering.send_claimed("one", "two")
    item = await steering.engine.queue.edit(one, "eins")

    assert (item.text, item.fate) == ("eins", Fate.QUEUED)
    assert await run.pull() == ["eins", "two"]
    await run.end(done())


async def test_edit_changes_the_text_and_keeps_the_images(steering: SteeringHarness):
    run = await steering.start()
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
    parts = [{"type": "text", "text": "a "}, picture, {"type": "text", "text": "cat"}]
    (item_id,) = await steering.send_claimed("", input={"contents": parts})
    assert steering.item(item_id).text == "a cat"
    await steering.engine.queue.edit(item_id, "a dog")
    (item,) = await run.pull_items()

    assert item.input.to_text() == "a dog"
    assert [part.type for part in item.input.contents] == ["text", "image_url"]
    await run.end(done())


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_edit_to_empty_text_is_refused(steering: SteeringHarness, text: str):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("one")
    with pytest.raises(CannotSteer, match="Withdraw"):
        await steering.engine.queue.edit(item_id, text)

    assert await run.pull() == ["one"]
    await run.end(done())


async def test_edit_to_text_too_large_for_a_pull_is_refused(steering: SteeringHarness):
    run = await steering.start()
    one, _ = await steering.send_claimed("one", "two")
    with pytest.raises(CannotSteer, match="the limit is 16256 KiB"):
        await steering.engine.queue.edit(one, "x" * (16 << 20))

    assert await run.pull() == ["one", "two"]
    await run.end(done())


async def test_a_paused_item_is_skipped_and_keeps_its_place(steering: SteeringHarness):
    run = await steering.start()
    _, two, three, _ = await steering.send_claimed("one", "two", "three", "four")
    for item_id in (two, three):
        assert (await steering.engine.queue.pause(item_id)).fate == Fate.PAUSED
    assert await run.pull(limit=1) == ["one"]
    await steering.engine.queue.resume(three)
    assert await run.pull("one") == ["three"]
    await steering.engine.queue.resume(two)

    assert await run.pull() == ["two", "four"]
    await run.end(done())


async def test_a_withdrawn_item_is_never_in_the_transcript(steering: SteeringHarness):
    run = await steering.start()
    one, _ = await steering.send_claimed("one", "two")
    item = await steering.engine.queue.withdraw(one)

    assert (item.fate, item.decided_at) == (Fate.WITHDRAWN, steering.engine.now())
    assert await run.pull() == ["two"]
    await run.end(done())
    assert await lines_of(steering.engine) == [("user", "go"), ("user", "two")]


async def test_message_that_waits_for_the_slot_can_be_withdrawn(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("later", after=True)
    await steering.engine.queue.withdraw(str(ticket.item_id))

    assert ticket.started.cancelled()
    await run.end(done())
    await steering.engine.runs.wait_until_idle()
    assert [each.run_id for each in await steering.engine.runs.list()] == [run.run_id]
    assert await lines_of(steering.engine) == [("user", "go")]


async def test_mode_of_a_claimed_item_can_be_set_to_after_and_back(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("one")
    item_id = str(ticket.item_id)
    assert (await steering.engine.queue.set_mode(item_id, Mode.AFTER)).mode == Mode.AFTER
    assert (ticket.claimed_by, ticket.waits_for, ticket.started.done()) == (None, run.run_id, False)
    assert await run.pull() == []
    assert (await steering.engine.queue.set_mode(item_id, Mode.STEER)).mode == Mode.STEER
    assert (ticket.claimed_by, ticket.waits_for, await ticket.started) == (run.run_id, None, run.run_id)

    assert await run.pull() == ["one"]
    await run.end(done())


async def test_mode_of_a_message_for_after_the_run_can_be_set_to_steer(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("one", after=True)
    turned = await steering.engine.queue.set_mode(str(ticket.item_id), Mode.STEER)

    assert (turned.mode, turned.run_id, await ticket.started) == (Mode.STEER, run.run_id, run.run_id)
    assert await run.pull() == ["one"]
    over = await run.end(done())
    assert over.one("steering.turned").data == {"item_id": str(ticket.item_id), "mode": "steer", "text": "one"}
    await steering.engine.runs.wait_until_idle()
    assert len(await steering.engine.runs.list()) == 1


async def test_item_set_to_after_becomes_its_own_run_in_its_place(steering: SteeringHarness):
    run = await steering.start()
    first = await steering.send("first", after=True)
    (item_id,) = await steering.send_claimed("moved over")
    await steering.engine.queue.set_mode(item_id, Mode.AFTER)
    await steering.engine.queue.move(item_id, before=first.item_id)
    await run.end(done("bye"))
    await steering.engine.runs.wait_until_idle()

    assert [line for line in await lines_of(steering.engine) if line[0] == "user"] == [
        ("user", "go"),
        ("user", "moved over"),
        ("user", "first"),
    ]
    assert (steering.item(item_id).fate, steering.item(item_id).run_id) == (Fate.OWN_RUN, run.run_id)


async def test_two_mode_changes_at_once_lose_no_message(steering: SteeringHarness):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("one")
    for mode in (Mode.AFTER, Mode.STEER, Mode.AFTER):
        turned = await asyncio.gather(*(steering.engine.queue.set_mode(item_id, mode) for _ in range(2)))
        assert [item.mode for item in turned] == [mode] * 2
    await run.end(done())
    await steering.engine.runs.wait_until_idle()

    assert steering.item(item_id).fate == Fate.OWN_RUN


async def test_mode_of_an_item_with_large_data_can_be_changed(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("one", data={"raw": "x" * 70_000})
    await steering.engine.queue.set_mode(str(ticket.item_id), Mode.AFTER)
    await run.end(done())
    own = await wait_for_run(steering.engine, await ticket.started)

    assert own.row.status == "completed"
    assert (
        await steering.engine.artifacts.read_bytes(own.context["event"]["raw_ref"])
        == b'{"raw":"' + b"x" * 70_000 + b'"}'
    )


@pytest.mark.parametrize("ends", ["by result", "by stop"])
async def test_mode_cannot_be_set_to_steer_at_the_end_of_the_run(steering: SteeringHarness, ends: str):
    run = await steering.start()
    ticket = await steering.send("one", after=True)
    if ends == "by result":
        await run.yields(done("that is it"))
    with writer_blocked(steering.engine):  # the end of the run is written after the change is refused
        if ends == "by stop":
            steering.engine._core.host.orchestrator.live[run.run_id].request_stop(StopReason.CANCELLED)
        with pytest.raises(CannotSteer, match="the run is ending"):
            await steering.engine.queue.set_mode(str(ticket.item_id), Mode.STEER)
    if ends == "by result":
        await run.end()

    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"


async def test_a_message_that_waits_for_the_slot_can_be_edited_moved_and_paused(steering: SteeringHarness):
    run = await steering.start()
    tickets = [await steering.send(text, after=True) for text in ("a", "b", "c", "d")]
    a, b, c, d = (str(ticket.item_id) for ticket in tickets)
    await steering.engine.queue.edit(b, "B")
    await steering.engine.queue.move(d, before=a)
    await steering.engine.queue.pause(a)
    await run.end(done())
    await tickets[2].started
    await steering.engine.runs.wait_until_idle()
    assert [item.text for item in await steering.engine.queue.list("s")] == ["a"]
    await steering.engine.queue.resume(a)
    await tickets[0].started
    await steering.engine.runs.wait_until_idle()

    said = [text for role, text in await lines_of(steering.engine) if role == "user"]
    assert said == ["go", "d", "B", "c", "a"]
    assert {steering.item(item_id).fate for item_id in (a, b, c, d)} == {Fate.OWN_RUN}


async def test_mode_cannot_be_set_to_steer_if_the_queue_of_the_run_is_full(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("later", after=True)
    await steering.send_claimed(*map(str, range(100)))
    with pytest.raises(QueueFull, match="100 messages are queued for the run already"):
        await steering.engine.queue.set_mode(str(ticket.item_id), Mode.STEER)

    assert (steering.item(ticket.item_id).mode, steering.item(ticket.item_id).fate) == (Mode.AFTER, Fate.QUEUED)
    await run.pull()
    await run.end(done())
    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"


async def test_a_paused_message_stays_paused_when_its_mode_changes(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("one")
    item_id = str(ticket.item_id)
    await steering.engine.queue.pause(item_id)
    await steering.engine.queue.set_mode(item_id, Mode.AFTER)
    await run.end(done())
    await steering.engine.runs.wait_until_idle()
    assert (steering.item(item_id).fate, len(await steering.engine.runs.list())) == (Fate.PAUSED, 1)
    await steering.engine.queue.resume(item_id)

    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"
