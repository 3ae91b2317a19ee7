"""A withdrawn message can be restored as it was; a dropped one can be resent until it is dismissed."""

import asyncio

import pytest

from engine.api import Fate, Mode
from engine.store.errors import AlreadyDecided
from tests.support.engines import Engines, FakeClock, done, journal_of, lines_of, played
from tests.support.queue.steering import Talk, items_of, log_of, open_talk


async def waits(talk: Talk) -> list[tuple[str | None, str, str]]:
    return [(item.text, item.mode, item.fate) for item in await talk.engine.queue.list("s")]


async def lost(talk: Talk, since: int = 0) -> list[tuple[str | None, str]]:
    return [(item.text, item.fate) for item in await talk.engine.queue.list_resendable("s", withdrawn_since=since)]


# Undo a withdrawal


async def test_a_restored_message_has_its_mode_its_pause_and_its_place(talk: Talk):
    run = await talk.start()
    first = await talk.say("first", after=True)
    await talk.claimed("two", "three")
    await talk.engine.queue.pause(str(first.item_id))
    before = await waits(talk)
    await talk.engine.queue.withdraw(str(first.item_id))
    ticket = await talk.engine.queue.restore(str(first.item_id))

    assert before == await waits(talk)
    assert before[0] == ("first", Mode.AFTER, Fate.PAUSED)
    assert (ticket.claimed_by, ticket.waits_for) == (None, run.run_id)
    await run.pull()
    await run.end(done())
    await talk.engine.queue.resume(str(ticket.item_id))
    assert (await played(talk.engine, await ticket.started)).row.status == "completed"


async def test_a_steer_is_restored_into_its_place_in_the_run(talk: Talk):
    run = await talk.start()
    _, two, three, _ = await talk.claimed("one", "two", "three", "four")
    await talk.engine.queue.edit(two, "zwei")
    for item_id in (two, three):
        await talk.engine.queue.withdraw(item_id)
    for item_id in (two, three):
        assert (await talk.engine.queue.restore(item_id)).claimed_by == run.run_id

    assert await run.pull() == ["one", "zwei", "three", "four"]
    await run.end(done())


async def test_a_paused_steering_message_is_restored_as_paused_and_recorded_in_its_run(talk: Talk):
    run = await talk.start()
    one, _ = await talk.claimed("one", "two")
    await talk.engine.queue.pause(one)
    await talk.engine.queue.withdraw(one)
    ticket = await talk.engine.queue.restore(one)

    assert await waits(talk) == [("one", Mode.STEER, Fate.PAUSED), ("two", Mode.STEER, Fate.QUEUED)]
    queued = [entry for entry in await journal_of(talk.engine, run.run_id) if entry.type == "steering.queued"]
    assert [entry.data.get("paused", False) for entry in queued] == [False, False, True]
    assert await run.pull() == ["two"]
    await talk.engine.queue.resume(str(ticket.item_id))
    assert await run.pull() == ["one"]
    await run.end(done())


async def test_a_paused_message_restored_after_the_end_starts_no_run(talk: Talk):
    run = await talk.start()
    (one,) = await talk.claimed("one")
    await talk.engine.queue.pause(one)
    await talk.engine.queue.withdraw(one)
    await run.end(done())
    ticket = await talk.engine.queue.restore(one)
    await talk.engine.runs.wait_until_idle()

    assert (len(await talk.engine.runs.list()), talk.item(ticket.item_id).fate) == (1, Fate.PAUSED)
    await talk.engine.queue.resume(str(ticket.item_id))
    assert (await played(talk.engine, await ticket.started)).row.status == "completed"


async def test_a_withdrawal_is_undone_once(talk: Talk):
    run = await talk.start()
    (one,) = await talk.claimed("one")
    await talk.engine.queue.withdraw(one)
    results = await asyncio.gather(*(talk.engine.queue.restore(one) for _ in range(3)), return_exceptions=True)

    assert sum(isinstance(result, AlreadyDecided) for result in results) == 2
    assert await run.pull() == ["one"]
    await run.end(done())
    assert await lines_of(talk.engine) == [("user", "go"), ("user", "one")]


async def test_only_what_was_withdrawn_is_restored(talk: Talk):
    run = await talk.start()
    (one,) = await talk.claimed("one")
    with pytest.raises(AlreadyDecided, match="is queued; only a withdrawn message can be restored"):
        await talk.engine.queue.restore(one)
    await run.end(done())
    with pytest.raises(AlreadyDecided, match="is dropped; only a withdrawn message can be restored"):
        await talk.engine.queue.restore(one)

    assert len(items_of(talk.engine)) == 1


# Messages that can be sent again


async def test_a_dropped_message_can_be_resent_in_later_runs_until_it_is_dismissed(talk: Talk):
    run = await talk.start()
    one, two, _ = await talk.claimed("one", "two", "three")
    await run.end(done())
    later = await talk.start("go on")
    assert await lost(talk) == [(text, Fate.DROPPED) for text in ("one", "two", "three")]
    await talk.engine.queue.resend(one)
    await talk.engine.queue.dismiss(two)

    assert await lost(talk) == [("three", Fate.DROPPED)]
    (noted,) = log_of(talk.engine, "steering.dismissed")
    assert (noted["status"], noted["source_event_id"]) == ("dismissed", talk.item(two).event_id)
    await later.end(done())


async def test_a_dismissed_message_stays_dismissed_when_the_database_is_reopened(open_engine: Engines):
    talk = await open_talk(open_engine)
    run = await talk.start()
    one, _ = await talk.claimed("one", "two")
    await run.end(done())
    await talk.engine.queue.dismiss(one)
    await open_engine.close(talk.engine)
    talk = await open_talk(open_engine)

    assert await lost(talk) == [("two", Fate.DROPPED)]


async def test_a_withdrawn_message_can_be_restored_for_a_while(talk: Talk, clock: FakeClock):
    run = await talk.start()
    one, two = await talk.claimed("one", "two")
    await talk.engine.queue.withdraw(two)
    clock.advance(1)
    await talk.engine.queue.withdraw(one)
    since = talk.engine.now() - 1_000_000

    assert await lost(talk, since - 1) == [("two", Fate.WITHDRAWN), ("one", Fate.WITHDRAWN)]
    assert await lost(talk, since) == [("one", Fate.WITHDRAWN)]
    await talk.engine.queue.restore(one)
    assert await lost(talk, since) == []
    await run.end(done())


async def test_the_newest_are_given(talk: Talk):
    run = await talk.start()
    await talk.claimed("one", "two", "three")
    await run.end(done())

    found = await talk.engine.queue.list_resendable("s", withdrawn_since=0, limit=2)
    assert [item.text for item in found] == ["two", "three"]


async def test_only_what_was_dropped_is_dismissed(talk: Talk):
    run = await talk.start()
    (one,) = await talk.claimed("one")
    with pytest.raises(AlreadyDecided, match="only a dropped message can be dismissed"):
        await talk.engine.queue.dismiss(one)

    assert await run.pull() == ["one"]
    await run.end(done())


async def test_a_message_can_be_resent_with_another_text_and_its_files_or_after_the_run(talk: Talk):
    file = {"artifact_id": "a", "artifact_type": "file", "source": "user", "content": "aGk=", "name": "hi.txt"}
    run = await talk.start()
    (one,) = await talk.claimed("", input={"text": "unheard", "attachments": [file]})
    await run.end(done())
    later = await talk.start("go on")
    ticket = await talk.engine.queue.resend(one, text="heard", after=True)

    assert (ticket.claimed_by, talk.item(ticket.item_id).mode) == (None, Mode.AFTER)
    assert await lost(talk) == []
    await later.end(done())
    given = (await played(talk.engine, await ticket.started)).context["input"]
    assert (given["text"], [each["name"] for each in given["attachments"]]) == ("heard", ["hi.txt"])
