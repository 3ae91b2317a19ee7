"""A session is read in windows, without a gap, as far as someone looks: back to its first words and on to its last."""

import asyncio
from typing import Any

import pytest

import console.reading.telling
from console.model.talk.blocks import Answer, Block, Event, Note, Said, Steered, Tool, You
from console.model.talk.talk import Talk
from console.reading.telling import ENTRIES, Telling
from engine.api import EventEnvelope, Mode
from tests.console.talking import Journal
from tests.support import Engines, Stage, declares, done, event, forever, kept, message, open_stage, said, send, until


def yous(talk: Talk) -> list[str]:
    return [block.text for block in talk.blocks if isinstance(block, You)]


def shown(talk: Talk) -> list[Block]:
    return [block for block in talk.blocks if not block.is_gone]


def numbered(talk: Talk) -> bool:
    first = talk.blocks[0].number
    return [block.number for block in talk.blocks] == list(range(first, first + len(talk.blocks)))


async def twelve(stage: Stage) -> list[str]:
    """Runs of one session."""
    return [(await stage(said(f"answer {n}"), done(), event=f"ask {n}")).run_id for n in range(12)]


async def test_twelve_runs_are_read_back_to_the_first_three_at_a_time(open_engine: Engines):
    stage = await open_stage(open_engine)
    await twelve(stage)
    telling = Telling(stage.engine, "s")

    await telling.read_end()
    assert yous(telling.talk) == ["ask 9", "ask 10", "ask 11"]
    for first in (6, 3, 0):
        await telling.read_earlier()
        assert yous(telling.talk) == [f"ask {n}" for n in range(first, 12)]
    await telling.read_earlier()

    assert len(telling.talk.run_ids) == 12
    assert numbered(telling.talk)


async def test_from_a_run_in_the_middle_it_is_read_on_to_the_last(open_engine: Engines):
    stage = await open_stage(open_engine)
    runs = await twelve(stage)
    telling = Telling(stage.engine, "s")

    await telling.read_at(runs[4])
    assert yous(telling.talk) == ["ask 1", "ask 2", "ask 3", "ask 4"]
    assert telling.talk.has_later
    while telling.talk.has_later:
        await telling.read_later()
    await telling.read_earlier()

    assert yous(telling.talk) == [f"ask {n}" for n in range(12)]
    assert telling.talk.run_ids == tuple(runs)


async def test_two_who_read_further_at_once_read_nothing_twice(open_engine: Engines):
    stage = await open_stage(open_engine)
    await twelve(stage)
    telling = Telling(stage.engine, "s")
    await telling.read_end()

    await asyncio.gather(telling.read_earlier(), telling.read_earlier())

    assert yous(telling.talk) == [f"ask {n}" for n in range(3, 12)]


def tool(number: int) -> list[dict[str, Any]]:
    name = {"tool_call_id": f"c{number}", "tool_name": "look"}
    return [
        {"type": "tool.call.started", "data": name | {"parameters": {"n": number}}},
        {"type": "tool.call.completed", "data": name | {"result": f"saw {number}"}},
    ]


async def test_a_long_run_is_read_in_windows_and_the_run_above_it_only_then(open_engine: Engines):
    stage = await open_stage(open_engine)
    await stage(said("before"), done(), event="short")
    long = await stage(*(each for n in range(700) for each in tool(n)), done(), event="long")
    telling = Telling(stage.engine, "s")

    await telling.read_end()
    assert telling.talk.run_ids == (long.run_id,)
    assert len(telling.talk.blocks) < ENTRIES
    while yous(telling.talk) != ["short", "long"]:
        count = len(telling.talk.blocks)
        await telling.read_earlier()
        assert 0 < len(telling.talk.blocks) - count <= ENTRIES

    tools = [block for block in shown(telling.talk) if isinstance(block, Tool)]
    assert [block.arguments for block in tools] == [f"n={n}" for n in range(700)]
    assert {block.answer for block in tools} == {Answer.OK}
    assert all(block.microseconds is not None and block.since is not None for block in tools)


async def test_a_long_run_is_read_on_in_windows_too(open_engine: Engines):
    stage = await open_stage(open_engine)
    first = await stage(said("before"), done(), event="short")
    await stage(*(each for n in range(700) for each in tool(n)), done(), event="long")
    telling = Telling(stage.engine, "s")

    await telling.read_at(first.run_id)
    while telling.talk.has_later:
        count = len(telling.talk.blocks)
        await telling.read_later()
        assert len(telling.talk.blocks) - count <= ENTRIES

    tools = [block for block in shown(telling.talk) if isinstance(block, Tool)]
    assert [block.summary for block in tools] == [f"saw {n}" for n in range(700)]


async def test_a_window_that_tells_nothing_is_not_the_end(open_engine: Engines):
    stage = await open_stage(open_engine)
    quiet = [kept("n", n) for n in range(3 * ENTRIES)]
    await stage(said("first"), *quiet, said("last"), done())
    telling = Telling(stage.engine, "s")

    await telling.read_end()
    await telling.read_earlier()

    texts = [block.flow.text for block in telling.talk.blocks if isinstance(block, Said)]
    assert (yous(telling.talk), texts) == (["hi"], ["first", "last"])


async def test_a_fork_tells_what_it_began_with_above_its_own_runs(open_engine: Engines):
    stage = await open_stage(open_engine)
    await stage(said("**one**"), done(), event="first")
    fork = await stage.engine.fork_session("s")
    alone = Telling(stage.engine, fork.session_id)
    await alone.read_end()
    assert yous(alone.talk) == ["first"]

    await stage(said("two"), done(), event=message("second", session=fork.session_id))
    telling = Telling(stage.engine, fork.session_id)
    await telling.read_end()
    await telling.read_earlier()
    await telling.read_earlier()

    assert yous(telling.talk) == ["first", "second"]
    (note,) = [block for block in telling.talk.blocks if isinstance(block, Note)]
    assert note.text == "forked here from “first”"
    assert [block.flow.text for block in telling.talk.blocks if isinstance(block, Said)] == ["**one**", "two"]
    assert len({block.key for block in telling.talk.blocks}) == len(telling.talk.blocks)


def joined(group: str = "travellers", **fields: Any) -> EventEnvelope:
    actor = {"actor_type": "user", "actor_id": "ann", "actor_name": "Ann"}
    subject = {"subject_type": "membership", "subject_id": f"{group}/ann"}
    given = {"conversation_id": "s", "actor": actor, "subject": subject, "data": {"group": group}}
    return event("group.member_joined", **given | fields)


def exchanged(talk: Talk) -> list[str]:
    """What was said and what happened, without how it went."""
    return [block.markdown() for block in shown(talk) if isinstance(block, You | Event | Said)]


async def test_a_fork_tells_of_events_that_are_no_messages_as_its_parent_does(open_engine: Engines):
    stage = await open_stage(open_engine)
    for n in range(3):
        await stage(said(f"welcome {n}"), said("sit down"), done(), event=joined(f"group {n}"))
    await stage(said("yes"), done(), event="ready?")
    parent = Telling(stage.engine, "s")
    await parent.read_end()
    await parent.read_earlier()

    fork = await stage.engine.fork_session("s")
    again = await stage.engine.fork_session(fork.session_id)

    for session in (fork.session_id, again.session_id):
        telling = Telling(stage.engine, session)
        await telling.read_end()
        assert exchanged(telling.talk) == exchanged(parent.talk)
        assert [type(block).__name__ for block in telling.talk.blocks][:4] == ["Event", "Said", "Said", "Event"]
        assert len({block.key for block in telling.talk.blocks}) == len(telling.talk.blocks)


@pytest.mark.parametrize("lines", range(2, 9))
async def test_an_event_is_told_once_wherever_a_page_of_a_fork_ends(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, lines: int
):
    stage = await open_stage(open_engine)
    for n in range(4):
        what = joined(f"group {n}") if n % 2 else f"message {n}"
        await stage(said(f"welcome {n}"), said("sit down"), done(), event=what)
    fork = await stage.engine.fork_session("s")
    whole, pages = Telling(stage.engine, fork.session_id), Telling(stage.engine, fork.session_id)
    await whole.read_end()

    monkeypatch.setattr(console.reading.telling, "LINES", lines)
    await pages.read_end()
    for _ in range(10):
        await pages.read_earlier()

    assert exchanged(pages.talk) == exchanged(whole.talk)
    assert len(exchanged(whole.talk)) == 12


async def test_a_fork_whose_parent_is_gone_tells_what_it_still_has(open_engine: Engines):
    stage = await open_stage(open_engine)
    await stage(said("welcome"), done(), event=joined())
    fork = await stage.engine.fork_session("s")
    await stage.engine.delete_session("s")
    telling = Telling(stage.engine, fork.session_id)

    await telling.read_end()

    assert exchanged(telling.talk) == ["welcome"]


async def test_what_is_said_on_after_it_was_read_joins_on(open_engine: Engines):
    async def works(ctx: Any):
        yield said("so far")
        await forever()

    engine = await open_engine(works)
    run_id = await send(engine, "go")
    await until(engine, run_id, "message.completed")
    telling = Telling(engine, "s")
    await telling.read_end()

    journal = [entry async for entry in engine.entries(run_id)]
    telling.talk.apply(journal)  # what was read already is passed over
    await engine.stop(run_id)
    telling.talk.apply([entry async for entry in engine.entries(run_id)])

    assert [type(block).__name__ for block in telling.talk.blocks] == ["You", "Said", "End"]


# Windows join


def test_what_began_in_one_window_ends_in_the_next() -> None:
    journal = Journal().began().tool(call_id="1", city="Kyoto")
    journal("steering.queued", {"item_id": "i", "text": "use metric"})
    journal("steering.pulled", {"items": ["i"]}, turn=2)
    journal("steering.injected", {"item_id": "i"}, turn=2)
    journal.answered("sun").finished(turn=2)
    whole = journal.talk()

    for cut in range(1, len(journal.entries)):
        talk = Talk.of(journal.entries[cut:], began={"run": 0})
        talk.put_above(Talk.of(journal.entries[:cut]))
        assert [block.markdown() for block in shown(talk)] == [block.markdown() for block in shown(whole)], cut
        assert numbered(talk)


def test_a_call_that_nobody_answered_before_the_end_is_told_so_above_it() -> None:
    journal = Journal().began().tool().said("x").finished()
    talk = Talk.of(journal.entries[2:])

    talk.put_above(Talk.of(journal.entries[:2]))

    (found,) = [block for block in talk.blocks if isinstance(block, Tool)]
    assert found.answer is Answer.NONE


async def test_a_message_turned_into_the_run_is_told_with_its_text(open_engine: Engines):
    go = asyncio.Event()

    @declares(capabilities={"steering": True})
    async def listens(ctx: Any):
        await go.wait()
        await ctx.api.steering_pull()
        yield said("ok")
        yield done()

    engine = await open_engine(listens)
    run_id = await send(engine, "go")
    ticket = await engine.submit(message("use metric"), after=True)
    await engine.turn_item(str(ticket.item_id), Mode.STEER)
    go.set()
    await engine.finished(run_id)

    telling = Telling(engine, "s")
    await telling.read_end()

    (steered,) = [block for block in telling.talk.blocks if isinstance(block, Steered)]
    assert steered.text == "use metric"
