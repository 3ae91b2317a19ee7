"""A message for an occupied slot is first offered to the run in progress."""

import asyncio
from typing import Any

import pytest

from engine.api import Fate, Mode, RunOptions
from engine.store import runs
from engine.store.queue import QueueItem
from tests.support.engines import (
    START,
    Engines,
    FakeClock,
    done,
    event,
    events_of,
    journal_of,
    lines_of,
    message,
    wait_for_entry,
    wait_for_run,
    wait_forever,
)
from tests.support.queue.steering import (
    ControlledRun,
    ControlledRunners,
    SteeringHarness,
    failing_trigger,
    open_steering,
    queue_items,
    steering_log,
    wait_until,
    writer_blocked,
)

PLACES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another bot": ({"bot_id": "b1"}, {"bot_id": "b2"}),
    "no bot": ({"bot_id": "b1"}, {}),
    "a bot, and the run has none": ({}, {"bot_id": "b1"}),
    "another workspace": ({"workspace_id": "w1"}, {"workspace_id": "w2"}),
    "no workspace": ({"workspace_id": "w1"}, {}),
    "a workspace, and the run has none": ({}, {"workspace_id": "w1"}),
}
SLOTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another conversation": ({}, {"session": "elsewhere"}),
    "another thread": ({"thread_id": "t1"}, {"thread_id": "t2"}),
    "no thread": ({"thread_id": "t1"}, {}),
    "a thread, and the run has none": ({}, {"thread_id": "t1"}),
}


def refused(journal: list[Any]) -> list[Any]:
    return [entry for entry in journal if entry.type == "steering.queued" and entry.outcome == "refused"]


async def test_a_message_for_an_occupied_slot_steers_the_run_in_progress(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("more")

    assert (ticket.claimed_by, await ticket.started, ticket.not_claimed_reason) == (run.run_id, run.run_id, None)
    assert await run.pull() == ["more"]
    await run.end(done("both"))
    await steering.engine.runs.wait_until_idle()
    assert [each.run_id for each in await steering.engine.runs.list()] == [run.run_id]
    assert await lines_of(steering.engine) == [("user", "go"), ("user", "more"), ("assistant", "both")]


async def test_a_run_claims_messages_of_its_own_conversation_and_thread(steering: SteeringHarness):
    place = {"session": "c", "thread_id": "t", "bot_id": "b", "workspace_id": "w"}
    run = await steering.start(**place)

    assert (await steering.send("here", **place)).claimed_by == run.run_id


@pytest.mark.parametrize(("of_run", "of_message"), PLACES.values(), ids=PLACES)
async def test_a_message_to_another_bot_or_workspace_waits_for_the_slot(
    steering: SteeringHarness, of_run: dict[str, Any], of_message: dict[str, Any]
):
    run = await steering.start(**of_run)
    ticket = await steering.send("not yours", **of_message)

    assert (ticket.claimed_by, ticket.waits_for) == (None, run.run_id)
    assert ticket.not_claimed_reason == "the run in progress is for another bot or workspace"
    assert await run.pull() == []
    await run.end(done())
    assert await ticket.started != run.run_id


@pytest.mark.parametrize(("of_run", "of_message"), SLOTS.values(), ids=SLOTS)
async def test_another_conversation_or_thread_has_a_slot_of_its_own(
    steering: SteeringHarness, of_run: dict[str, Any], of_message: dict[str, Any]
):
    run = await steering.start(**of_run)
    ticket = await steering.send("not yours", **of_message)

    assert (ticket.claimed_by, ticket.waits_for, ticket.started.done()) == (None, None, True)
    assert await run.pull() == []


async def test_a_message_for_another_runner_waits_for_the_slot(open_engine: Engines):
    puppets = ControlledRunners()
    steering = SteeringHarness(await open_engine(puppets.runner(), puppets.runner("other")), puppets)
    run = await steering.start()
    ticket = await steering.send("for the other", runner="other")

    assert (ticket.claimed_by, ticket.waits_for) == (None, run.run_id)
    assert ticket.not_claimed_reason == "the run in progress uses another runner (plugin:local/controlled/default)"
    await run.end(done())
    own = await wait_for_run(steering.engine, await ticket.started)
    assert own.row.runner_id == "plugin:local/other/default"


async def test_runner_that_cannot_be_steered_claims_nothing(open_engine: Engines):
    puppets = ControlledRunners()
    steering = SteeringHarness(await open_engine(puppets.runner(capabilities={"steering": False})), puppets)
    run = await steering.start()
    ticket = await steering.send("more")

    clause = "steering is not in the manifest's capabilities"
    assert (ticket.claimed_by, ticket.not_claimed_reason) == (None, f"this runner cannot be steered: {clause}")
    assert steering.item(ticket.item_id).reason == ticket.not_claimed_reason
    receipts = await steering.engine.queue.receipts(run.run_id)
    assert (receipts.can_steer, receipts.why_not) == (False, clause)
    await run.end(done())


async def test_at_most_a_hundred_messages_are_queued_for_a_run_and_the_next_waits_for_the_slot_with_a_reason(
    steering: SteeringHarness,
):
    run = await steering.start()
    claimed = await steering.send_claimed(*(f"number {number}" for number in range(100)))
    ticket = await steering.send("one too many")

    why = "100 messages are queued for the run already"
    assert (ticket.claimed_by, ticket.waits_for, ticket.not_claimed_reason) == (None, run.run_id, why)
    row = steering.item(ticket.item_id)
    assert (row.mode, row.fate, row.reason) == (Mode.SLOT, Fate.QUEUED, why)
    (entry,) = refused(await journal_of(steering.engine, run.run_id))
    assert (entry.data["item_id"], entry.reason) == (ticket.item_id, why)
    assert [item.item_id for item in queue_items(steering.engine) if item.mode == Mode.STEER] == claimed

    assert len(await run.pull()) == 100
    assert (await steering.send("there is room again")).claimed_by == run.run_id
    await run.end(done())
    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"


async def test_a_paused_message_counts_for_the_limit_of_its_run(steering: SteeringHarness):
    run = await steering.start()
    claimed = await steering.send_claimed(*map(str, range(100)))
    await steering.engine.queue.pause(claimed[7])

    assert (await steering.send("one too many")).claimed_by is None
    assert await run.pull(limit=1) == ["0"]
    assert (await steering.send("room for one")).claimed_by == run.run_id


async def test_message_can_be_claimed_from_creation_and_is_recorded_after_run_started(steering: SteeringHarness):
    first = await steering.engine.runs.submit(message("go"), RunOptions(runner="controlled"))
    live = steering.engine._core.host.orchestrator.live[first.started.result()]
    assert (live.started.is_set(), live.started_at) == (False, None), "it has only been created"
    (item_id,) = await steering.send_claimed("at once")

    run = ControlledRun(steering.engine, steering.runners, await first.started)
    assert await run.pull() == ["at once"]
    over = await run.end(done())
    assert over.types[0] == "run.started"
    assert over.one("steering.queued").data == {
        "item_id": item_id,
        "event_id": steering.item(item_id).event_id,
        "text": "at once",
    }


async def test_nothing_is_claimed_after_the_terminal_result(steering: SteeringHarness):
    run = await steering.start()
    await run.yields(done("that is it"))
    ticket = await steering.send("too late")

    assert (ticket.claimed_by, ticket.waits_for, ticket.not_claimed_reason) == (None, run.run_id, "the run is ending")
    await run.end()
    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"


@pytest.mark.parametrize("status", ["cancelled", "timeout"])
async def test_nothing_is_claimed_after_a_stop_was_requested(steering: SteeringHarness, clock: FakeClock, status: str):
    run, leave = await steering.start(), asyncio.Event()

    async def takes_its_time(ctx: Any) -> None:
        try:
            await wait_forever()
        except asyncio.CancelledError:
            await leave.wait()
            raise

    run.do(takes_its_time)
    if status == "cancelled":
        await steering.engine.runs.cancel(run.run_id)
    else:
        clock.advance(300)
    ticket = await steering.send("too late")

    assert (ticket.claimed_by, ticket.waits_for, ticket.not_claimed_reason) == (None, run.run_id, "the run is ending")
    leave.set()
    assert (await run.wait_for_end()).row.status == status
    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"


async def test_nothing_is_claimed_after_a_stop_was_recorded(open_engine: Engines):
    steering = await open_steering(open_engine)
    run = await steering.start()
    host = steering.engine._core.host
    assert host is not None
    # The run itself has not noticed it yet.
    await host.writer.submit(lambda tx: runs.request_cancel(tx.connection, run.run_id, at=1))
    ticket = await steering.send("too late")

    assert (ticket.claimed_by, ticket.not_claimed_reason) == (None, "the run is ending")
    assert (await run.wait_for_end()).row.status == "cancelled"
    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"


@pytest.mark.parametrize(
    "event_type",
    ["message.recalled", "group.member_joined", "friend.request_received", "schedule.triggered", "api.invoked"],
)
async def test_only_messages_are_claimed_and_other_events_wait_for_the_slot(steering: SteeringHarness, event_type: str):
    run = await steering.start()
    ticket = await steering.engine.runs.submit(event(event_type, conversation_id="s"), RunOptions(runner="controlled"))

    assert (ticket.claimed_by, ticket.waits_for) == (None, run.run_id)
    assert ticket.not_claimed_reason == f"a run can only receive messages, and this is {event_type}"
    assert await run.pull() == []
    await run.end(done())
    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"
    assert await lines_of(steering.engine) == [("user", "go"), ("assistant", "answer to ")]


async def test_a_message_for_after_the_run_is_never_claimed(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("later", after=True)
    await steering.send_claimed("now")

    assert (ticket.claimed_by, ticket.waits_for, ticket.not_claimed_reason) == (None, run.run_id, None)
    assert steering.item(ticket.item_id).mode == Mode.AFTER
    assert await run.pull() == ["now"]
    await run.end(done("first"))
    await steering.engine.runs.wait_for_end(await ticket.started)
    assert await lines_of(steering.engine) == [
        ("user", "go"),
        ("user", "now"),
        ("assistant", "first"),
        ("user", "later"),
        ("assistant", "answer to later"),
    ]


async def test_message_for_after_the_run_starts_at_once_if_no_run_is_in_progress(steering: SteeringHarness):
    ticket = await steering.send("nothing to wait for", after=True)

    assert (await wait_for_run(steering.engine, await ticket.started)).row.status == "completed"
    assert queue_items(steering.engine) == []


async def test_a_claimed_message_is_logged_as_absorbed_into_the_active_run(steering: SteeringHarness, clock: FakeClock):
    run = await steering.start()
    clock.advance(2.5)
    ticket = await steering.send("more")

    row = events_of(steering.engine, "message.received")[-1]
    assert (row.event_id, row.input_summary) == (ticket.event_id, "more")
    assert row.metadata == {
        "steering": {
            "status": "queued",
            "trigger_behavior": "absorbed_into_active_run",
            "claimed_by_run_id": run.run_id,
            "claimed_runner_id": "plugin:local/controlled/default",
            "claimed_at": START // 1_000_000 + 2,
        }
    }


FAILURES = {
    "its row": "BEFORE INSERT ON queue WHEN new.mode = 'steer'",
    "its event": "BEFORE INSERT ON events WHEN new.metadata LIKE '%absorbed%'",
    "its attachment": "BEFORE INSERT ON artifacts",
}


@pytest.mark.parametrize("when", FAILURES.values(), ids=FAILURES)
async def test_message_waits_for_the_slot_if_its_claim_fails(steering: SteeringHarness, when: str):
    attachment = {"artifact_id": "a", "artifact_type": "file", "source": "user", "content": "aGk="}
    run = await steering.start()
    with failing_trigger(steering.engine, when):
        ticket = await steering.send("unlucky", input={"text": "unlucky", "attachments": [attachment]})
    assert (ticket.claimed_by, ticket.waits_for) == (None, run.run_id)
    assert "not today" in str(ticket.not_claimed_reason)
    row: QueueItem = steering.item(ticket.item_id)
    assert (row.mode, row.fate, row.reason) == (Mode.SLOT, Fate.QUEUED, ticket.not_claimed_reason)
    (entry,) = refused(await journal_of(steering.engine, run.run_id))
    assert "not today" in str(entry.reason)
    assert steering_log(steering.engine, "message.received") == []

    assert (await steering.send("lucky")).claimed_by == run.run_id
    assert await run.pull() == ["lucky"]
    await run.end(done())
    own = await wait_for_run(steering.engine, await ticket.started)
    assert (own.row.status, own.row.event_id) == ("completed", ticket.event_id)
    assert await steering.engine.artifacts.read_bytes("a") == b"hi"


async def test_run_that_starts_right_after_another_claims_messages(steering: SteeringHarness):
    run, host = await steering.start(), steering.engine._core.host
    with writer_blocked(steering.engine):
        # The writer is busy with another operation, so that the end of one run and the start of the next are decided
        # in the same batch.
        host.writer.submit(lambda _: None)
        await wait_until(lambda: host.writer._taken == host.writer._added)
        ending = asyncio.ensure_future(run.end(done("over")))
        await wait_until(lambda: run.run_id not in host.orchestrator.live)
        following = asyncio.ensure_future(steering.send("go on"))
        await wait_until(lambda: host.dispatcher.pending)
    ticket = await following
    await ending
    second = ControlledRun(steering.engine, steering.runners, await ticket.started)
    await wait_for_entry(steering.engine, second.run_id, "message.delta")

    assert (await steering.send("for the second")).claimed_by == second.run_id
    assert await second.pull() == ["for the second"]
    await second.end(done())


async def test_repeat_of_a_claimed_event_is_recognised(steering: SteeringHarness):
    run = await steering.start()
    said = message("once")
    first = await steering.engine.runs.submit(said, RunOptions(runner="controlled"))
    assert first.claimed_by == run.run_id
    for happens in (run.pull, lambda: run.end(done())):
        again = await steering.engine.runs.submit(said, RunOptions(runner="controlled"))
        assert (again.is_repeat, await again.started, again.item_id) == (True, run.run_id, None)
        await happens()
    await steering.engine.runs.wait_until_idle()
    again = await steering.engine.runs.submit(said, RunOptions(runner="controlled"))

    assert (again.is_repeat, await again.started) == (True, run.run_id)
    assert len(queue_items(steering.engine)) == 1
    assert [
        (e.type, e.outcome) for e in await journal_of(steering.engine, run.run_id) if e.type == "steering.queued"
    ] == [
        ("steering.queued", None),
        ("steering.queued", "refused"),
        ("steering.queued", "refused"),
    ]
