"""Messages that a run did not receive are dropped with the reason, stay in the transcript and can be sent again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.api import AlreadyFinal, Fate, Mode, RunOptions
from engine.store.errors import AlreadyDecided
from tests.support.engines import Engines, FakeClock, done, failed, journal_of, lines_of, message, played
from tests.support.queue.steering import Conducted, Puppets, Talk, items_of, log_of, open_talk


async def _raise(ctx: Any) -> None:
    raise ValueError("oops")


ENDS: dict[str, tuple[str, Callable[[Talk, Conducted, FakeClock], Any]]] = {
    "it completes": ("completed", lambda talk, run, clock: run.end(done("enough"))),
    "it ends without a word": ("completed", lambda talk, run, clock: run.end()),
    "it says that it failed": ("failed", lambda talk, run, clock: run.end(failed("no"))),
    "it raises": ("failed", lambda talk, run, clock: run.do(_raise)),
    "it is cancelled": ("cancelled", lambda talk, run, clock: talk.engine.runs.cancel(run.run_id)),
    "its deadline passes": ("timeout", lambda talk, run, clock: clock.advance(300)),
}


@pytest.mark.parametrize(("reason", "ends"), ENDS.values(), ids=ENDS)
async def test_messages_still_queued_when_a_run_ends_are_dropped_with_the_reason(
    talk: Talk, clock: FakeClock, reason: str, ends: Callable[[Talk, Conducted, FakeClock], Awaitable[Any] | None]
):
    run = await talk.start()
    queued, held = await talk.claimed("queued", "held")
    await talk.engine.queue.pause(held)
    ending = ends(talk, run, clock)
    if ending is not None:
        await asyncio.wait({asyncio.ensure_future(ending)})
    over = await run.over()

    assert [(talk.item(item).fate, talk.item(item).reason) for item in (queued, held)] == [(Fate.DROPPED, reason)] * 2
    dropped = over.all("steering.dropped")
    assert over.types[-3:] == ["steering.dropped", "steering.dropped", "run.finished"]
    assert [(entry.source, entry.data) for entry in dropped] == [
        ("host", {"item_id": item, "event_id": talk.item(item).event_id, "text": text, "reason": reason})
        for item, text in ((queued, "queued"), (held, "held"))
    ]
    assert log_of(talk.engine, "steering.dropped") == [
        {
            "status": "dropped",
            "reason": reason,
            "source_event_id": talk.item(item).event_id,
            "claimed_run_id": run.run_id,
            "claimed_runner_id": "plugin:local/puppet/default",
            "claimed_at": "2026-01-02T03:04:05.000000Z",
        }
        for item in (queued, held)
    ]


async def test_a_dropped_message_is_a_line_of_the_transcript(talk: Talk):
    run = await talk.start()
    (item_id,) = await talk.claimed("tee")
    await talk.engine.queue.edit(item_id, "tea")
    await run.end(done("enough"))

    assert await lines_of(talk.engine) == [("user", "go"), ("assistant", "enough"), ("user", "tea")]


async def test_a_message_that_waits_for_the_slot_is_dropped_when_the_host_closes_and_stays_in_the_transcript(
    open_engine: Engines,
):
    talk = await open_talk(open_engine)
    run = await talk.start()
    (claimed,) = await talk.claimed("into the run")
    ticket = await talk.say("later", after=True)
    await open_engine.close(talk.engine)
    reader = await open_engine(mode="read")

    items = {item.item_id: item for item in items_of(reader)}
    assert (items[claimed].fate, items[claimed].reason) == (Fate.DROPPED, "cancelled")
    assert (items[str(ticket.item_id)].fate, items[str(ticket.item_id)].reason) == (Fate.DROPPED, "host_closed")
    assert ticket.started.cancelled()
    assert (await reader.runs.get(run.run_id)).status == "cancelled"
    assert {text for _, text in await lines_of(reader)} == {"go", "into the run", "later"}


# Sent again


async def test_a_dropped_message_is_resent_as_a_new_message(talk: Talk):
    attachment = {"artifact_id": "a", "artifact_type": "file", "source": "user", "content": "aGk=", "name": "hi.txt"}
    run = await talk.start()
    (item_id,) = await talk.claimed("", input={"text": "unheard", "attachments": [attachment]})
    await run.end(done("enough"))
    ticket = await talk.engine.queue.resend(item_id)
    own = await played(talk.engine, await ticket.started)

    assert ticket.event_id != talk.item(item_id).event_id
    assert (own.row.status, own.row.event_id) == ("completed", ticket.event_id)
    assert (await lines_of(talk.engine))[-2:] == [("user", "unheard"), ("assistant", "answer to unheard")]
    (again,) = own.context["input"]["attachments"]
    assert (again["name"], again["artifact_id"] == "a") == ("hi.txt", False)
    assert await talk.engine.artifacts.read_bytes(again["artifact_id"]) == b"hi"
    (receipt,) = (await talk.engine.queue.receipts(run.run_id)).receipts
    assert (receipt.fate, receipt.sent_again_as) == (Fate.DROPPED, ticket.event_id)


async def test_a_message_is_resent_only_once(talk: Talk):
    run = await talk.start()
    (item_id,) = await talk.claimed("unheard")
    await run.end(done())
    results = await asyncio.gather(*(talk.engine.queue.resend(item_id) for _ in range(3)), return_exceptions=True)
    await talk.engine.runs.wait_until_idle()

    refused = [result for result in results if isinstance(result, AlreadyDecided)]
    assert len(refused) == 2
    assert all("was sent again already, as event" in str(result) for result in refused)
    assert len(await talk.engine.runs.list()) == 2


async def test_a_withdrawn_message_can_be_sent_again_and_steers_the_run_in_progress(talk: Talk):
    run = await talk.start()
    (item_id,) = await talk.claimed("after all")
    await talk.engine.queue.edit(item_id, "after all!")
    await talk.engine.queue.withdraw(item_id)
    ticket = await talk.engine.queue.resend(item_id)

    assert ticket.claimed_by == run.run_id
    assert await run.pull() == ["after all!"]
    await run.end(done())


@pytest.mark.parametrize("fate", [Fate.QUEUED, Fate.PAUSED, Fate.INJECTED, Fate.OWN_RUN])
async def test_only_what_was_dropped_or_withdrawn_is_sent_again(talk: Talk, fate: Fate):
    run = await talk.start()
    item_id = str((await talk.say("one", after=fate == Fate.OWN_RUN)).item_id)
    if fate == Fate.PAUSED:
        await talk.engine.queue.pause(item_id)
    if fate == Fate.INJECTED:
        await run.pull()
    if fate == Fate.OWN_RUN:
        await run.end(done())
        await talk.engine.runs.wait_until_idle()
    assert talk.item(item_id).fate == fate
    before = len(items_of(talk.engine)), len(await talk.engine.runs.list())
    with pytest.raises(AlreadyDecided, match="only a dropped or withdrawn message can be sent again"):
        await talk.engine.queue.resend(item_id)

    assert (len(items_of(talk.engine)), len(await talk.engine.runs.list())) == before


async def test_a_message_is_resent_to_its_agent(open_engine: Engines):
    puppets = Puppets()
    agents = [{"id": name, "runner": "puppet", "config": {"api_key": name}} for name in ("first", "second")]
    talk = Talk(await open_engine(puppets.runner(), puppets.runner("other"), agents=agents), puppets)
    run = await talk.start(runner="first")
    ticket = await talk.say("for the second", runner="second", after=True)
    await talk.engine.queue.withdraw(str(ticket.item_id))
    again = await talk.engine.queue.resend(str(ticket.item_id))
    await talk.engine.queue.set_mode(str(again.item_id), Mode.AFTER)
    await run.end(done())

    assert (await talk.engine.runs.get(await again.started)).agent_id == "second"


# Stop


async def test_stopping_a_run_gives_its_undelivered_texts_back(talk: Talk):
    run = await talk.start()
    await talk.claimed("heard")
    await run.pull()
    unheard, edited = await talk.claimed("unheard", "edditid")
    await talk.engine.queue.edit(edited, "edited")
    later = await talk.say("later", after=True)
    stopped = await talk.engine.runs.stop(run.run_id)

    assert (stopped.run.status, stopped.run.run_id) == ("cancelled", run.run_id)
    assert [(item.item_id, item.text, item.reason) for item in stopped.undelivered] == [
        (unheard, "unheard", "cancelled"),
        (edited, "edited", "cancelled"),
    ]
    assert (await played(talk.engine, await later.started)).row.status == "completed"
    with pytest.raises(AlreadyFinal, match="nothing to stop"):
        await talk.engine.runs.stop(run.run_id)


async def test_undelivered_messages_of_a_stop_are_resent_as_one(talk: Talk):
    run = await talk.start()
    await talk.claimed("unheard")
    (undelivered,) = (await talk.engine.runs.stop(run.run_id)).undelivered
    ticket = await talk.engine.queue.resend(undelivered.item_id)
    await played(talk.engine, await ticket.started)

    lines = await lines_of(talk.engine)
    assert lines == [("user", "go"), ("user", "unheard"), ("user", "unheard"), ("assistant", "answer to unheard")]
    journal = await journal_of(talk.engine, run.run_id)
    assert [entry.type for entry in journal][-2:] == ["steering.dropped", "run.finished"]


async def test_a_repeat_of_an_event_that_was_dropped_does_not_answer_it(talk: Talk):
    run = await talk.start()
    said = message("unheard")
    await talk.engine.runs.submit(said, RunOptions(runner="puppet"))
    await run.end(done())
    again = await talk.engine.runs.submit(said, RunOptions(runner="puppet"))

    assert (again.is_repeat, await again.started) == (True, run.run_id)
    assert len(await talk.engine.runs.list()) == 1
