"""A withdrawn message can be restored as it was; a dropped one can be resent until it is dismissed."""

import asyncio

import pytest

from engine.api import Fate, Mode
from engine.store.errors import AlreadyDecided
from tests.support.engines import Engines, FakeClock, done, journal_of, lines_of, wait_for_run
from tests.support.queue.steering import SteeringHarness, open_steering, queue_items, steering_log


async def waits(steering: SteeringHarness) -> list[tuple[str | None, str, str]]:
    return [(item.text, item.mode, item.fate) for item in await steering.engine.queue.list("s")]


async def lost(steering: SteeringHarness, since: int = 0) -> list[tuple[str | None, str]]:
    return [(item.text, item.fate) for item in await steering.engine.queue.list_resendable("s", withdrawn_since=since)]


# Undo a withdrawal


async def test_restored_message_keeps_mode_pause_and_place(steering: SteeringHarness):
    run = await steering.start()
    first = await steering.send("first", after=True)
    await steering.send_claimed("two", "three")
    await steering.engine.queue.pause(str(first.item_id))
    before = await waits(steering)
    await steering.engine.queue.withdraw(str(first.item_id))
    ticket = await steering.engine.queue.restore(str(first.item_id))

    assert before == await waits(steering)
    assert before[0] == ("first", Mode.AFTER, Fate.PAUSED)
    assert (ticket.claimed_by, ticket.waits_for) == (None, run.run_id)
    await run.pull()
    await run.end(done())
    await steering.engine.queue.resume(str(ticket.item_id))
    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"


async def test_restored_steering_message_keeps_its_place_in_the_run(steering: SteeringHarness):
    run = await steering.start()
    _, two, three, _ = await steering.send_claimed("one", "two", "three", "four")
    await steering.engine.queue.edit(two, "zwei")
    for item_id in (two, three):
        await steering.engine.queue.withdraw(item_id)
    for item_id in (two, three):
        assert (await steering.engine.queue.restore(item_id)).claimed_by == run.run_id

    assert await run.pull() == ["one", "zwei", "three", "four"]
    await run.end(done())


async def test_a_paused_steering_message_is_restored_as_paused_and_recorded_in_its_run(steering: SteeringHarness):
    run = await steering.start()
    one, _ = await steering.send_claimed("one", "two")
    await steering.engine.queue.pause(one)
    await steering.engine.queue.withdraw(one)
    ticket = await steering.engine.queue.restore(one)

    assert await waits(steering) == [("one", Mode.STEER, Fate.PAUSED), ("two", Mode.STEER, Fate.QUEUED)]
    queued = [entry for entry in await journal_of(steering.engine, run.run_id) if entry.type == "steering.queued"]
    assert [entry.data.get("paused", False) for entry in queued] == [False, False, True]
    assert await run.pull() == ["two"]
    await steering.engine.queue.resume(str(ticket.item_id))
    assert await run.pull() == ["one"]
    await run.end(done())


async def test_a_paused_message_restored_after_the_end_starts_no_run(steering: SteeringHarness):
    run = await steering.start()
    (one,) = await steering.send_claimed("one")
    await steering.engine.queue.pause(one)
    await steering.engine.queue.withdraw(one)
    await run.end(done())
    ticket = await steering.engine.queue.restore(one)
    await steering.engine.runs.wait_until_idle()

    assert (len(await steering.engine.runs.list()), steering.item(ticket.item_id).fate) == (1, Fate.PAUSED)
    await steering.engine.queue.resume(str(ticket.item_id))
    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"


async def test_a_withdrawal_is_undone_once(steering: SteeringHarness):
    run = await steering.start()
    (one,) = await steering.send_claimed("one")
    await steering.engine.queue.withdraw(one)
    results = await asyncio.gather(*(steering.engine.queue.restore(one) for _ in range(3)), return_exceptions=True)

    assert sum(isinstance(result, AlreadyDecided) for result in results) == 2
    assert await run.pull() == ["one"]
    await run.end(done())
    assert await lines_of(steering.engine) == [("user", "go"), ("user", "one")]


async def test_only_withdrawn_messages_can_be_restored(steering: SteeringHarness):
    run = await steering.start()
    (one,) = await steering.send_claimed("one")
    with pytest.raises(AlreadyDecided, match="is queued; only a withdrawn message can be restored"):
        await steering.engine.queue.restore(one)
    await run.end(done())
    with pytest.raises(AlreadyDecided, match="is dropped; only a withdrawn message can be restored"):
        await steering.engine.queue.restore(one)

    assert len(queue_items(steering.engine)) == 1


# Messages that can be sent again


async def test_a_dropped_message_can_be_resent_in_later_runs_until_it_is_dismissed(steering: SteeringHarness):
    run = await steering.start()
    one, two, _ = await steering.send_claimed("one", "two", "three")
    await run.end(done())
    later = await steering.start("go on")
    assert await lost(steering) == [(text, Fate.DROPPED) for text in ("one", "two", "three")]
    await steering.engine.queue.resend(one)
    await steering.engine.queue.dismiss(two)

    assert await lost(steering) == [("three", Fate.DROPPED)]
    (noted,) = steering_log(steering.engine, "steering.dismissed")
    assert (noted["status"], noted["source_event_id"]) == ("dismissed", steering.item(two).event_id)
    await later.end(done())


async def test_a_dismissed_message_stays_dismissed_when_the_database_is_reopened(open_engine: Engines):
    steering = await open_steering(open_engine)
    run = await steering.start()
    one, _ = await steering.send_claimed("one", "two")
    await run.end(done())
    await steering.engine.queue.dismiss(one)
    await open_engine.close(steering.engine)
    steering = await open_steering(open_engine)

    assert await lost(steering) == [("two", Fate.DROPPED)]


async def test_a_withdrawn_message_can_be_restored_for_a_while(steering: SteeringHarness, clock: FakeClock):
    run = await steering.start()
    one, two = await steering.send_claimed("one", "two")
    await steering.engine.queue.withdraw(two)
    clock.advance(1)
    await steering.engine.queue.withdraw(one)
    since = steering.engine.now() - 1_000_000

    assert await lost(steering, since - 1) == [("two", Fate.WITHDRAWN), ("one", Fate.WITHDRAWN)]
    assert await lost(steering, since) == [("one", Fate.WITHDRAWN)]
    await steering.engine.queue.restore(one)
    assert await lost(steering, since) == []
    await run.end(done())


async def test_newest_resendable_messages_are_listed(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("one", "two", "three")
    await run.end(done())

    found = await steering.engine.queue.list_resendable("s", withdrawn_since=0, limit=2)
    assert [item.text for item in found] == ["two", "three"]


async def test_only_dropped_messages_can_be_dismissed(steering: SteeringHarness):
    run = await steering.start()
    (one,) = await steering.send_claimed("one")
    with pytest.raises(AlreadyDecided, match="only a dropped message can be dismissed"):
        await steering.engine.queue.dismiss(one)

    assert await run.pull() == ["one"]
    await run.end(done())


async def test_a_message_can_be_resent_with_another_text_and_its_files_or_after_the_run(steering: SteeringHarness):
    file = {"artifact_id": "a", "artifact_type": "file", "source": "user", "content": "aGk=", "name": "hi.txt"}
    run = await steering.start()
    (one,) = await steering.send_claimed("", input={"text": "unheard", "attachments": [file]})
    await run.end(done())
    later = await steering.start("go on")
    ticket = await steering.engine.queue.resend(one, text="heard", after=True)

    assert (ticket.claimed_by, steering.item(ticket.item_id).mode) == (None, Mode.AFTER)
    assert await lost(steering) == []
    await later.end(done())
    given = (await wait_for_run(steering.engine, await ticket.started)).context["input"]
    assert (given["text"], [each["name"] for each in given["attachments"]]) == ("heard", ["hi.txt"])
