"""Messages that a run did not receive are dropped with the reason, stay in the transcript and can be sent again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.api import AlreadyFinal, Fate, Mode, RunOptions
from engine.store.errors import AlreadyDecided
from tests.support.engines import START, Engines, FakeClock, done, failed, journal_of, lines_of, message, wait_for_run
from tests.support.queue.steering import (
    ControlledRun,
    ControlledRunners,
    SteeringHarness,
    open_steering,
    queue_items,
    steering_log,
)


async def _raise(ctx: Any) -> None:
    raise ValueError("oops")


ENDS: dict[str, tuple[str, Callable[[SteeringHarness, ControlledRun, FakeClock], Any]]] = {
    "it completes": ("completed", lambda steering, run, clock: run.end(done("enough"))),
    "it ends without a word": ("completed", lambda steering, run, clock: run.end()),
    "it says that it failed": ("failed", lambda steering, run, clock: run.end(failed("no"))),
    "it raises": ("failed", lambda steering, run, clock: run.do(_raise)),
    "it is cancelled": ("cancelled", lambda steering, run, clock: steering.engine.runs.cancel(run.run_id)),
    "its deadline passes": ("timeout", lambda steering, run, clock: clock.advance(300)),
}


@pytest.mark.parametrize(("reason", "ends"), ENDS.values(), ids=ENDS)
async def test_messages_still_queued_when_a_run_ends_are_dropped_with_the_reason(
    steering: SteeringHarness,
    clock: FakeClock,
    reason: str,
    ends: Callable[[SteeringHarness, ControlledRun, FakeClock], Awaitable[Any] | None],
):
    run = await steering.start()
    queued, held = await steering.send_claimed("queued", "held")
    await steering.engine.queue.pause(held)
    ending = ends(steering, run, clock)
    if ending is not None:
        await asyncio.wait({asyncio.ensure_future(ending)})
    over = await run.wait_for_end()

    assert [(steering.item(item).fate, steering.item(item).reason) for item in (queued, held)] == [
        (Fate.DROPPED, reason)
    ] * 2
    dropped = over.all("steering.dropped")
    assert over.types[-3:] == ["steering.dropped", "steering.dropped", "run.finished"]
    assert [(entry.source, entry.data) for entry in dropped] == [
        ("host", {"item_id": item, "event_id": steering.item(item).event_id, "text": text, "reason": reason})
        for item, text in ((queued, "queued"), (held, "held"))
    ]
    assert steering_log(steering.engine, "steering.dropped") == [
        {
            "status": "dropped",
            "reason": reason,
            "source_event_id": steering.item(item).event_id,
            "claimed_run_id": run.run_id,
            "claimed_runner_id": "plugin:local/controlled/default",
            "claimed_at": START // 1_000_000,
        }
        for item in (queued, held)
    ]


async def test_a_dropped_message_is_a_line_of_the_transcript(steering: SteeringHarness):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("tee")
    await steering.engine.queue.edit(item_id, "tea")
    await run.end(done("enough"))

    assert await lines_of(steering.engine) == [("user", "go"), ("assistant", "enough"), ("user", "tea")]


async def test_a_message_that_waits_for_the_slot_is_dropped_when_the_host_closes_and_stays_in_the_transcript(
    open_engine: Engines,
):
    steering = await open_steering(open_engine)
    run = await steering.start()
    (claimed,) = await steering.send_claimed("into the run")
    ticket = await steering.send("later", after=True)
    await open_engine.close(steering.engine)
    reader = await open_engine(mode="read")

    items = {item.item_id: item for item in queue_items(reader)}
    assert (items[claimed].fate, items[claimed].reason) == (Fate.DROPPED, "cancelled")
    assert (items[str(ticket.item_id)].fate, items[str(ticket.item_id)].reason) == (Fate.DROPPED, "host_closed")
    assert ticket.started.cancelled()
    assert (await reader.runs.get(run.run_id)).status == "cancelled"
    assert {text for _, text in await lines_of(reader)} == {"go", "into the run", "later"}


# Sent again


async def test_a_dropped_message_is_resent_as_a_new_message(steering: SteeringHarness):
    attachment = {"artifact_id": "a", "artifact_type": "file", "source": "user", "content": "aGk=", "name": "hi.txt"}
    run = await steering.start()
    (item_id,) = await steering.send_claimed("", input={"text": "unheard", "attachments": [attachment]})
    await run.end(done("enough"))
    ticket = await steering.engine.queue.resend(item_id)
    own = await wait_for_run(steering.engine, await ticket.started)

    assert ticket.event_id != steering.item(item_id).event_id
    assert (own.row.status, own.row.event_id) == ("completed", ticket.event_id)
    assert (await lines_of(steering.engine))[-2:] == [("user", "unheard"), ("assistant", "answer to unheard")]
    (again,) = own.context["input"]["attachments"]
    assert (again["name"], again["artifact_id"] == "a") == ("hi.txt", False)
    assert await steering.engine.artifacts.read_bytes(again["artifact_id"]) == b"hi"
    (receipt,) = (await steering.engine.queue.receipts(run.run_id)).receipts
    assert (receipt.fate, receipt.sent_again_as) == (Fate.DROPPED, ticket.event_id)


async def test_a_message_is_resent_only_once(steering: SteeringHarness):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("unheard")
    await run.end(done())
    results = await asyncio.gather(*(steering.engine.queue.resend(item_id) for _ in range(3)), return_exceptions=True)
    await steering.engine.runs.wait_until_idle()

    refused = [result for result in results if isinstance(result, AlreadyDecided)]
    assert len(refused) == 2
    assert all("was sent again already, as event" in str(result) for result in refused)
    assert len(await steering.engine.runs.list()) == 2


async def test_a_withdrawn_message_can_be_sent_again_and_steers_the_run_in_progress(steering: SteeringHarness):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("after all")
    await steering.engine.queue.edit(item_id, "after all!")
    await steering.engine.queue.withdraw(item_id)
    ticket = await steering.engine.queue.resend(item_id)

    assert ticket.claimed_by == run.run_id
    assert await run.pull() == ["after all!"]
    await run.end(done())


@pytest.mark.parametrize("fate", [Fate.QUEUED, Fate.PAUSED, Fate.INJECTED, Fate.OWN_RUN])
async def test_only_dropped_or_withdrawn_messages_can_be_resent(steering: SteeringHarness, fate: Fate):
    run = await steering.start()
    item_id = str((await steering.send("one", after=fate == Fate.OWN_RUN)).item_id)
    if fate == Fate.PAUSED:
        await steering.engine.queue.pause(item_id)
    if fate == Fate.INJECTED:
        await run.pull()
    if fate == Fate.OWN_RUN:
        await run.end(done())
        await steering.engine.runs.wait_until_idle()
    assert steering.item(item_id).fate == fate
    before = len(queue_items(steering.engine)), len(await steering.engine.runs.list())
    with pytest.raises(AlreadyDecided, match="only a dropped or withdrawn message can be sent again"):
        await steering.engine.queue.resend(item_id)

    assert (len(queue_items(steering.engine)), len(await steering.engine.runs.list())) == before


async def test_a_message_is_resent_to_its_agent(open_engine: Engines):
    puppets = ControlledRunners()
    agents = [{"id": name, "runner": "controlled", "config": {"api_key": name}} for name in ("first", "second")]
    steering = SteeringHarness(await open_engine(puppets.runner(), puppets.runner("other"), agents=agents), puppets)
    run = await steering.start(runner="first")
    ticket = await steering.send("for the second", runner="second", after=True)
    await steering.engine.queue.withdraw(str(ticket.item_id))
    again = await steering.engine.queue.resend(str(ticket.item_id))
    await steering.engine.queue.set_mode(str(again.item_id), Mode.AFTER)
    await run.end(done())

    assert (await steering.engine.runs.get(await again.started)).agent_id == "second"


# Stop


async def test_stopping_a_run_returns_its_undelivered_texts(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("heard")
    await run.pull()
    unheard, edited = await steering.send_claimed("unheard", "edditid")
    await steering.engine.queue.edit(edited, "edited")
    later = await steering.send("later", after=True)
    stopped = await steering.engine.runs.stop(run.run_id)

    assert (stopped.run.status, stopped.run.run_id) == ("cancelled", run.run_id)
    assert [(item.item_id, item.text, item.reason) for item in stopped.undelivered] == [
        (unheard, "unheard", "cancelled"),
        (edited, "edited", "cancelled"),
    ]
    assert (await wait_for_run(steering.engine, await later.started)).row.status == "completed"
    with pytest.raises(AlreadyFinal, match="nothing to stop"):
        await steering.engine.runs.stop(run.run_id)


async def test_undelivered_messages_of_a_stop_are_resent_as_one(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("unheard")
    (undelivered,) = (await steering.engine.runs.stop(run.run_id)).undelivered
    ticket = await steering.engine.queue.resend(undelivered.item_id)
    await wait_for_run(steering.engine, await ticket.started)

    lines = await lines_of(steering.engine)
    assert lines == [("user", "go"), ("user", "unheard"), ("user", "unheard"), ("assistant", "answer to unheard")]
    journal = await journal_of(steering.engine, run.run_id)
    assert [entry.type for entry in journal][-2:] == ["steering.dropped", "run.finished"]


async def test_repeat_of_a_dropped_event_is_answered_with_the_run_that_claimed_it(steering: SteeringHarness):
    run = await steering.start()
    said = message("unheard")
    await steering.engine.runs.submit(said, RunOptions(runner="controlled"))
    await run.end(done())
    again = await steering.engine.runs.submit(said, RunOptions(runner="controlled"))

    assert (again.is_repeat, await again.started) == (True, run.run_id)
    assert len(await steering.engine.runs.list()) == 1
