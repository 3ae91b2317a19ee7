"""Every change of a queued message is decided once, recorded, and made by the process that hosts it."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.api import Engine, Fate, Mode
from engine.store.errors import AlreadyDecided, NotFound
from tests.support.engines import Engines, done, events_of, journal_of
from tests.support.queue.steering import (
    SteeringHarness,
    open_steering,
    steering_log,
    wait_until,
    writer_blocked,
)

Change = Callable[[Engine, str], Awaitable[Any]]
CHANGES: dict[str, Change] = {
    "edited": lambda engine, item_id: engine.queue.edit(item_id, "better"),
    "moved": lambda engine, item_id: engine.queue.move(item_id),
    "paused": lambda engine, item_id: engine.queue.pause(item_id),
    "withdrawn": lambda engine, item_id: engine.queue.withdraw(item_id),
    "turned": lambda engine, item_id: engine.queue.set_mode(item_id, Mode.AFTER),
}


# Every change is an audit entry


@pytest.mark.parametrize("word", CHANGES)
async def test_every_change_is_an_audit_entry_in_the_journal_and_in_the_log(steering: SteeringHarness, word: str):
    run = await steering.start()
    ticket = await steering.send("one")
    await CHANGES[word](steering.engine, str(ticket.item_id))

    (entry,) = [e for e in await journal_of(steering.engine, run.run_id) if e.type == f"steering.{word}"]
    entry_data = {
        "edited": {"before": "one", "after": "better"},
        "moved": {"before": None},
        "paused": {},
        "withdrawn": {"text": "one"},
        "turned": {"mode": "after"},
    }
    assert (entry.source, entry.outcome) == ("user", None)
    assert entry.data == {"item_id": ticket.item_id, **entry_data[word]}
    (row,) = events_of(steering.engine, f"steering.{word}")
    assert (row.source, row.conversation_id, row.run_id) == ("user", "s", run.run_id)
    assert row.metadata == {"steering": {"status": word, "item_id": ticket.item_id, "source_event_id": ticket.event_id}}
    await run.end(done())


async def test_a_release_is_an_audit_entry_too(steering: SteeringHarness):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("one")
    await steering.engine.queue.pause(item_id)
    await steering.engine.queue.resume(item_id)

    types = [entry.type for entry in await journal_of(steering.engine, run.run_id)]
    assert types[-2:] == ["steering.paused", "steering.resumed"]
    assert [note["status"] for note in steering_log(steering.engine, "steering.resumed")] == ["resumed"]
    await run.end(done())


# Edit and pull are decided in one step


@pytest.mark.parametrize("word", CHANGES)
async def test_a_pulled_message_can_no_longer_be_changed(steering: SteeringHarness, word: str):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("one")
    await run.pull()
    with pytest.raises(AlreadyDecided, match="it can no longer be changed"):
        await CHANGES[word](steering.engine, item_id)

    assert (steering.item(item_id).fate, steering.item(item_id).text) == (Fate.INJECTED, "one")
    await run.end(done())


@pytest.mark.parametrize("first", ["edit", "pull"])
async def test_edit_and_pull_are_decided_in_one_step(steering: SteeringHarness, first: str):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("old")
    recorder = steering.engine._core.host.orchestrator.live[run.run_id].recorder
    acts: dict[str, tuple[Callable[[], Any], int]] = {
        # Each with the number of entries that it records before the writer is asked.
        "edit": (lambda: asyncio.ensure_future(steering.engine.queue.edit(item_id, "new")), 1),
        "pull": (lambda: asyncio.ensure_future(run.pull()), 3),
    }
    doing: dict[str, Any] = {}
    with writer_blocked(steering.engine):
        for name in sorted(acts, key=lambda name: name != first):
            act, entries = acts[name]
            wanted = recorder.position + entries
            doing[name] = act()
            await wait_until(lambda wanted=wanted: recorder.position == wanted)

    if first == "edit":
        assert (await doing["edit"]).text == "new"
        assert await doing["pull"] == ["new"]
    else:
        assert await doing["pull"] == ["old"]
        with pytest.raises(AlreadyDecided, match="is pulled; it can no longer be changed"):
            await doing["edit"]
    over = await run.end(done())
    assert [entry.outcome for entry in over.all("steering.edited")] == [None if first == "edit" else "refused"]


async def test_edit_is_refused_if_the_mode_of_the_message_changed_meanwhile(steering: SteeringHarness):
    run = await steering.start()
    (item_id,) = await steering.send_claimed("old")
    recorder = steering.engine._core.host.orchestrator.live[run.run_id].recorder
    with writer_blocked(steering.engine):
        before = recorder.position
        turning = asyncio.ensure_future(steering.engine.queue.set_mode(item_id, Mode.AFTER))
        await wait_until(lambda: recorder.position == before + 1)
        editing = asyncio.ensure_future(steering.engine.queue.edit(item_id, "new"))
        await wait_until(lambda: recorder.position == before + 2)
    assert (await turning).mode == Mode.AFTER
    with pytest.raises(AlreadyDecided, match="was changed in the meantime"):
        await editing

    assert steering.item(item_id).text == "old"
    over = await run.end(done())
    assert (over.one("steering.turned").outcome, over.one("steering.edited").outcome) == (None, "refused")


async def test_run_receives_the_last_accepted_edit_when_edits_and_pulls_race(steering: SteeringHarness, capsys: Any):
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    run = await steering.start()
    won = {"edit": 0, "pull": 0}
    for number in range(60):
        (item_id,) = await steering.send_claimed(f"old {number}")
        editing = asyncio.ensure_future(steering.engine.queue.edit(item_id, f"new {number}"))
        for _ in range(chance.randrange(40)):
            await asyncio.sleep(0)
        pulled = await run.pull()
        (edited,) = await asyncio.gather(editing, return_exceptions=True)
        if isinstance(edited, AlreadyDecided):
            assert pulled == [f"old {number}"], f"seed {seed}"
            won["pull"] += 1
        else:
            assert pulled == [f"new {number}"], f"seed {seed}"
            won["edit"] += 1
    await run.end(done())
    with capsys.disabled():
        print(f"\nedits against pulls, seed {seed}: {won}")


# Messages of other processes


def _turn_back(engine: Engine, item_id: str) -> Awaitable[Any]:
    return engine.queue.set_mode(item_id, Mode.STEER)


@pytest.mark.parametrize("word", [*CHANGES, "turned back"])
async def test_queued_message_of_another_host_is_changed_by_that_host(open_engine: Engines, word: str):
    steering = await open_steering(open_engine)
    other = await open_engine()
    run = await steering.start()
    ticket = await steering.send("one", after=word == "turned back")

    await (CHANGES | {"turned back": _turn_back})[word](other, str(ticket.item_id))

    # Only the host of the run can write into its journal.
    kinds = [entry.type for entry in await journal_of(steering.engine, run.run_id)]
    assert f"steering.{word.partition(' ')[0]}" in kinds
    await run.end(done())
    if word == "turned":
        await wait_until(lambda: steering.item(ticket.item_id).own_run_id)


async def test_a_message_that_was_never_queued_cannot_be_changed(steering: SteeringHarness):
    await steering.start()
    await steering.start(session="elsewhere")
    (item_id,) = await steering.send_claimed("one")
    (elsewhere,) = await steering.send_claimed("two", session="elsewhere")

    for change in CHANGES.values():
        with pytest.raises(NotFound, match="no message item_zzz in the queue"):
            await change(steering.engine, "item_zzz")
    with pytest.raises(NotFound, match="is not queued in the same session"):
        await steering.engine.queue.move(item_id, before=elsewhere)
