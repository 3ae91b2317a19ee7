"""One live run per conversation and thread; everything else runs side by side."""

import asyncio

import pytest

from engine.api import StoreError
from engine.queue import dispatch
from tests.support.engines import Engines, delta, done, lines_of, message, send, wait_for_entry, wait_for_run, waits


class Gate:
    """A runner that waits until the gate with its text opens."""

    def __init__(self) -> None:
        self.open: dict[str, asyncio.Event] = {}
        self.entered: list[str] = []

    def of(self, text: str) -> asyncio.Event:
        return self.open.setdefault(text, asyncio.Event())

    @property
    def runner(self):
        async def gated(ctx):
            text = ctx.input.to_text()
            self.entered.append(text)
            yield delta("…")
            await self.of(text).wait()
            yield done(f"done {text}")

        return gated


async def test_conversations_run_concurrently(open_engine: Engines):
    gate = Gate()
    engine = await open_engine(gate.runner)
    runs = [await send(engine, message(name, session=name)) for name in ("a", "b", "c")]
    for run_id in runs:
        await wait_for_entry(engine, run_id, "message.delta")
    for name in ("c", "b", "a"):
        gate.of(name).set()

    assert [(await wait_for_run(engine, run_id)).row.status for run_id in runs] == ["completed"] * 3


async def test_each_thread_of_a_conversation_has_its_own_slot(open_engine: Engines):
    engine = await open_engine(waits)

    first = await send(engine, message(thread_id="t1"))
    second = await send(engine, message(thread_id="t2"))
    third = await send(engine, message())

    assert len({first, second, third}) == 3


async def test_a_message_for_an_occupied_slot_waits_and_names_the_run(open_engine: Engines):
    engine = await open_engine(waits)
    first = await send(engine)
    await wait_for_entry(engine, first, "message.delta")
    ticket = await engine.runs.submit(message("next"))

    assert (ticket.waits_for, ticket.started.done()) == (first, False)
    assert [run.run_id for run in await engine.runs.list()] == [first]
    assert await lines_of(engine) == [("user", "hi")], "it is not said before its run begins"


async def test_messages_that_wait_for_a_slot_run_in_the_order_they_came(open_engine: Engines):
    gate = Gate()
    engine = await open_engine(gate.runner)
    names = ["one", "two", "three", "four"]
    tickets = [await engine.runs.submit(message(name)) for name in names]
    for name in names:
        gate.of(name).set()
    runs = [await wait_for_run(engine, await ticket.started) for ticket in tickets]

    assert gate.entered == names
    assert await lines_of(engine) == [
        line for name in names for line in (("user", name), ("assistant", f"done {name}"))
    ]
    assert [run.context["context"]["transcript_seq"] for run in runs] == [None, 2, 4, 6]


async def test_messages_sent_at_once_each_get_one_run_of_their_own(open_engine: Engines):
    gate = Gate()
    engine = await open_engine(gate.runner)
    names = [str(number) for number in range(8)]
    for name in names:
        gate.of(name).set()
    tickets = await asyncio.gather(*(engine.runs.submit(message(name)) for name in names))
    ids = [await ticket.started for ticket in tickets]
    await engine.runs.wait_until_idle()

    assert len(set(ids)) == 8
    assert sorted(gate.entered) == names
    assert all(run.status == "completed" for run in await engine.runs.list())


async def test_an_event_that_is_no_message_waits_for_the_slot_like_any_other(open_engine: Engines):
    from tests.support.engines import event

    gate = Gate()
    engine = await open_engine(gate.runner)
    holder = await send(engine, message("one"))
    ticket = await engine.runs.submit(event("api.invoked", conversation_id="s", input={"text": "two"}))
    assert ticket.waits_for == holder
    gate.of("one").set()
    gate.of("two").set()

    assert (await wait_for_run(engine, await ticket.started)).row.status == "completed"
    assert gate.entered == ["one", "two"]


async def test_idle_returns_when_no_run_and_no_message_is_left(open_engine: Engines):
    gate = Gate()
    engine = await open_engine(gate.runner)
    tickets = [await engine.runs.submit(message(name)) for name in ("one", "two")]
    idle = asyncio.ensure_future(engine.runs.wait_until_idle())
    gate.of("one").set()
    second = await tickets[1].started
    await wait_for_entry(engine, second, "message.delta")
    assert not idle.done()
    gate.of("two").set()
    await idle

    assert (await engine.runs.get(second)).status == "completed"


async def test_cancelled_sender_leaves_no_unstarted_run(open_engine: Engines):
    gate = Gate()
    engine = await open_engine(gate.runner)
    gate.of("hi").set()
    sending = asyncio.ensure_future(engine.runs.submit(message()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.wait({sending})
    await engine.runs.wait_until_idle()

    assert sending.cancelled()
    assert [run.status for run in await engine.runs.list()] == ["completed"]


async def test_messages_behind_one_that_failed_to_start_still_run(open_engine: Engines, monkeypatch):
    gate = Gate()
    engine = await open_engine(gate.runner)
    tickets = [await engine.runs.submit(message(name)) for name in ("one", "two", "three")]
    for name in ("one", "two", "three"):
        gate.of(name).set()
    decide = dispatch.queue.decide
    refusals = iter([StoreError("the disk is full")])

    def refuses_once(*arguments, **more):
        for refusal in refusals:
            raise refusal
        return decide(*arguments, **more)

    monkeypatch.setattr(dispatch.queue, "decide", refuses_once)

    with pytest.raises(StoreError, match="the disk is full"):
        await tickets[1].started
    assert (await wait_for_run(engine, await tickets[2].started)).row.status == "completed"
