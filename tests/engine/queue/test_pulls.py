"""Pulls return messages in order. A pulled message is delivered when the reply is written; otherwise it goes back."""

import asyncio
from typing import Any

import pytest

from engine.api import Fate, Mode, QueueItem
from engine.protocol import AgentAPIException
from tests.support.engines import START, FakeClock, delta, done, journal_of, lines_of, wait_for_entry
from tests.support.queue.steering import (
    ControlledRun,
    SteeringHarness,
    failing_trigger,
    queue_items,
    steering_log,
    wait_until,
    writer_blocked,
)

NAMES = ["one", "two", "three", "four"]


# Modes and order


async def test_all_returns_everything_in_order(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed(*NAMES)

    assert await run.pull() == NAMES
    assert await run.pull("all") == []
    await run.end(done())


async def test_session_counts_messages_that_joined_the_run_when_they_are_delivered(steering: SteeringHarness):
    async def message_count() -> int:
        return (await steering.engine.sessions.get("s")).session.message_count

    run = await steering.start()
    await steering.send_claimed("one", "two", "never pulled")
    claimed = await message_count()
    await run.pull(limit=2)
    await run.end(done())

    assert (claimed, await message_count()) == (1, 3)


@pytest.mark.parametrize("mode", ["one-at-a-time", "one", "one_at_a_time"])
async def test_one_at_a_time_returns_the_first_each_time(steering: SteeringHarness, mode: str):
    run = await steering.start()
    await steering.send_claimed(*NAMES)

    assert [await run.pull(mode=mode) for _ in range(5)] == [["one"], ["two"], ["three"], ["four"], []]
    await run.end(done())


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({"limit": 2}, 2),
        ({"limit": 0}, 4),
        ({"limit": -3}, 4),
        ({"limit": None}, 4),
        ({"limit": 10**6}, 4),
        ({"mode": "one", "limit": 3}, 1),
    ],
)
async def test_limit_is_a_maximum_and_no_limit_returns_all(
    steering: SteeringHarness, arguments: dict[str, Any], count: int
):
    run = await steering.start()
    await steering.send_claimed(*NAMES)

    assert await run.pull(**arguments) == NAMES[:count]
    assert await run.pull() == NAMES[count:]
    await run.end(done())


@pytest.mark.parametrize("arguments", [{"mode": "some"}, {"limit": "many"}, {"limit": 1.5}])
async def test_pull_with_invalid_arguments_is_refused_and_takes_nothing(
    steering: SteeringHarness, arguments: dict[str, Any]
):
    run = await steering.start()
    await steering.send_claimed("one")
    with pytest.raises(AgentAPIException) as refused:
        await run.pull(**arguments)

    assert refused.value.error.code == "invalid_argument"
    assert await run.pull() == ["one"]
    await run.end(done())


async def test_the_order_is_first_in_first_out_also_after_a_reorder(steering: SteeringHarness):
    run = await steering.start()
    one, _, three, _ = await steering.send_claimed(*NAMES)
    await steering.engine.queue.move(three, before=one)
    await steering.engine.queue.move(one)
    await steering.send_claimed("five")

    assert await steering.queued_texts() == ["three", "two", "four", "one", "five"]
    assert await run.pull(limit=2) == ["three", "two"]
    assert await run.pull() == ["four", "one", "five"]
    await run.end(done())


async def test_a_pull_returns_each_message_in_the_form_of_the_contract(steering: SteeringHarness):
    run = await steering.start()
    ticket = await steering.send("more", subject={"subject_type": "message", "subject_id": "m1"}, bot_id=None)
    (item,) = await run.pull_items()

    dumped = item.model_dump(mode="json")
    assert set(dumped) == {
        *("claimed_run_id", "runner_id", "claimed_at", "event", "input", "conversation", "actor", "subject"),
        "metadata",
    }
    assert (item.claimed_run_id, item.runner_id) == (run.run_id, "plugin:local/controlled/default")
    assert item.claimed_at == START // 1_000_000
    assert (item.event.event_id, item.event.event_type) == (ticket.event_id, "message.received")
    assert (item.input.text, item.conversation.conversation_id, item.actor.actor_id) == ("more", "s", "ann")
    assert (item.subject.subject_id, item.metadata) == ("m1", {"item_id": ticket.item_id})
    await run.end(done())


async def test_two_pulls_at_once_never_give_the_same_message(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed(*NAMES)

    async def both(ctx: Any) -> list[list[str]]:
        pulls = await asyncio.gather(*(ctx.api.steering_pull(limit=3) for _ in range(2)))
        return [[item.input.text for item in pull.items] for pull in pulls]

    assert await run.do(both) == [["one", "two", "three"], ["four"]]
    await run.end(done())


# From pulled to injected, or back


async def test_message_is_injected_only_after_the_reply_was_written(steering: SteeringHarness, clock: FakeClock):
    run = await steering.start()
    clock.advance(1)
    first, second = await steering.send_claimed("one", "two")
    clock.advance(1)
    await run.pull()
    over = await run.end(done())

    recorded = [entry for entry in over.journal if entry.type.startswith(("steering.", "call.replied"))]
    assert [(entry.source, entry.type) for entry in recorded] == [
        ("user", "steering.queued"),
        ("user", "steering.queued"),
        ("host", "steering.pulled"),
        ("host", "call.replied"),
        ("host", "steering.injected"),
        ("host", "steering.injected"),
    ]
    assert recorded[2].data == {"items": [first, second]}
    assert [entry.data["item_id"] for entry in recorded[4:]] == [first, second]
    assert steering_log(steering.engine, "steering.injected") == [
        {
            "status": "injected",
            "source_event_id": steering.item(item_id).event_id,
            "claimed_run_id": run.run_id,
            "claimed_runner_id": "plugin:local/controlled/default",
            "claimed_at": START // 1_000_000 + 1,
        }
        for item_id in (first, second)
    ]


def cancelled_pull(steering: SteeringHarness, **arguments: Any) -> Any:
    """Pull, and cancel it while the writer decides."""

    async def pull(ctx: Any) -> None:
        with writer_blocked(steering.engine):
            recorder = steering.engine._core.host.orchestrator.live[ctx.run_id].recorder
            before = recorder.position
            pulling = asyncio.ensure_future(ctx.api.steering_pull(**arguments))
            await wait_until(lambda: recorder.position == before + 3)  # requested, decided, about to be received
            pulling.cancel()
            await asyncio.wait({pulling})
        assert pulling.cancelled()

    return pull


async def test_pull_cancelled_before_its_reply_returns_items_to_their_places(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("one", "two", "three")
    await run.do(cancelled_pull(steering, limit=2))
    await wait_for_entry(steering.engine, run.run_id, "steering.returned")
    await steering.send_claimed("four")

    assert await lines_of(steering.engine) == [("user", "go")], "it is not said yet"
    assert [item.fate for item in queue_items(steering.engine)] == [Fate.QUEUED] * 4
    assert [(item.pulled_at, item.pulled_position) for item in queue_items(steering.engine)] == [(None, None)] * 4
    assert await run.pull() == ["one", "two", "three", "four"]
    over = await run.end(done())
    assert [entry.type for entry in over.journal if entry.type.startswith("steering.")] == [
        *["steering.queued"] * 3,
        *("steering.pulled", "steering.returned", "steering.queued", "steering.pulled"),
        *["steering.injected"] * 4,
    ]
    returned = steering_log(steering.engine, "steering.returned")
    assert [note["status"] for note in returned] == ["queued", "queued"]


async def test_a_message_returned_by_a_cancelled_pull_can_be_edited_and_moved(steering: SteeringHarness):
    run = await steering.start()
    one, _ = await steering.send_claimed("one", "two")
    await run.do(cancelled_pull(steering))
    await wait_for_entry(steering.engine, run.run_id, "steering.returned")
    await steering.engine.queue.edit(one, "uno")
    await steering.engine.queue.move(one)

    assert await run.pull() == ["two", "uno"]
    await run.end(done())
    assert await lines_of(steering.engine) == [("user", "go"), ("user", "two"), ("user", "uno")]


async def test_run_stopped_during_a_pull_drops_the_pulled_messages(steering: SteeringHarness, clock: FakeClock):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("one")
    with writer_blocked(steering.engine):
        recorder = steering.engine._core.host.orchestrator.live[run.run_id].recorder
        before = recorder.position
        run.pull_items()
        await wait_until(lambda: recorder.position == before + 3)
        clock.advance(300)
    over = await run.wait_for_end()

    assert over.row.status == "timeout"
    assert over.types.index("steering.pulled") < over.types.index("steering.dropped")
    assert (steering.item(item_id).fate, steering.item(item_id).reason) == (Fate.DROPPED, "timeout")
    assert await lines_of(steering.engine) == [("user", "go"), ("user", "one")]


async def test_pull_that_the_database_refuses_takes_nothing_and_later_pulls_work(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("one", "two")
    with failing_trigger(steering.engine, "BEFORE UPDATE ON queue WHEN new.fate = 'pulled' AND new.text = 'two'"):
        with pytest.raises(AgentAPIException, match="not today"):
            await run.pull()
        assert [item.fate for item in queue_items(steering.engine)] == [Fate.QUEUED] * 2
        assert await lines_of(steering.engine) == [("user", "go")]

    assert await run.pull() == ["one", "two"]
    await run.end(done())


# Lines


async def test_user_line_is_written_at_the_pull_with_the_pulled_text(steering: SteeringHarness):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("tee")
    await steering.engine.queue.edit(item_id, "tea")
    assert await lines_of(steering.engine) == [("user", "go")]
    await run.pull()

    assert await lines_of(steering.engine) == [("user", "go"), ("user", "tea")]
    await run.end(done("brewing"))
    assert await lines_of(steering.engine) == [("user", "go"), ("user", "tea"), ("assistant", "brewing")]


async def test_the_history_has_the_line_right_after_the_pull_and_not_before(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("tea")

    async def looks(ctx: Any) -> list[list[str | None]]:
        pages = [await ctx.api.history_page()]
        await ctx.api.steering_pull()
        pages.append(await ctx.api.history_page())
        return [[line.content for line in page.items] for page in pages]

    assert await run.do(looks) == [["go"], ["tea", "go"]]
    await run.end(done())


async def test_the_host_never_merges_rewords_or_reorders_messages(steering: SteeringHarness):
    words = ["  first \n", "", "﻿second\t", "first"]
    run = await steering.start()
    await steering.send_claimed(*words)
    items = await run.pull_items()

    assert [item.input.text for item in items] == words
    over = await run.end(done())
    assert over.context["input"]["text"] == "go", "the run's own input stays what it was"
    assert [line[1] for line in await lines_of(steering.engine)] == ["go", *words]


# Turns


async def test_only_a_pull_that_returns_messages_starts_a_turn(steering: SteeringHarness):
    run = await steering.start()
    await run.pull()
    await run.yields(delta())
    await steering.send_claimed("one")
    await run.pull()
    await run.yields(delta())
    over = await run.end(done())

    assert [entry.turn for entry in over.all("steering.pulled")] == [1, 2]
    assert [entry.turn for entry in over.all("message.delta")] == [1, 1, 2]


async def test_pull_after_tool_calls_starts_a_single_turn(steering: SteeringHarness):
    run = await steering.start()
    await steering.send_claimed("one", "two")
    call = {"tool_call_id": "t", "tool_name": "n"}
    await run.yields({"type": "tool.call.started", "data": call})
    await run.yields({"type": "tool.call.completed", "data": call})
    await run.pull("one")
    await run.yields(delta())
    await run.pull("one")
    over = await run.end(done())

    assert [entry.turn for entry in over.all("steering.pulled")] == [2, 3]
    assert [entry.turn for entry in over.all("message.delta")] == [1, 2]


# Queues of several runs


async def test_pull_returns_only_messages_claimed_by_its_run(steering: SteeringHarness):
    here, there = await steering.start(), await steering.start(session="elsewhere")
    in_thread = await steering.start(thread_id="t")
    await steering.send_claimed("here")
    await steering.send_claimed("there", session="elsewhere")
    await steering.send_claimed("in the thread", thread_id="t")
    await steering.send("later", after=True)

    async def pulls(run: ControlledRun) -> list[str]:
        return await run.pull()

    assert [await pulls(run) for run in (in_thread, here, there)] == [["in the thread"], ["here"], ["there"]]
    for run in (here, there, in_thread):
        await run.end(done())
    await steering.engine.runs.wait_until_idle()
    assert [(item.mode, item.fate) for item in _by_text(queue_items(steering.engine), "later")] == [
        (Mode.AFTER, Fate.OWN_RUN)
    ]


async def test_a_runner_cannot_pull_after_its_terminal_result(steering: SteeringHarness):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("too late for it")
    await run.yields(done("the end"))
    with pytest.raises(AgentAPIException, match="has ended"):
        await run.pull()
    await run.end()

    assert (steering.item(item_id).fate, steering.item(item_id).reason) == (Fate.DROPPED, "completed")
    assert [e.type for e in await journal_of(steering.engine, run.run_id)][-2:] == ["steering.dropped", "run.finished"]


def _by_text(items: list[QueueItem], text: str) -> list[QueueItem]:
    return [item for item in items if item.text == text]
