"""Holds at calls: before they are made, before their replies go, and what a person puts in."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.access.holding import checked
from engine.api import CannotHold, Elsewhere, FactsError, NotFound, Stage
from engine.protocol import AgentAPIException
from engine.resources.interfaces import ResourceError
from tests.engine.holding import GREY, SKY, House, answer_of, asks, holds_in, reached
from tests.support import Engines, done, forever, journal_of, played, send, waits

# Before a call


async def test_a_call_is_held_before_it_is_made_and_made_when_released(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))

    held = await reached(engine, run_id)
    assert (held.point, held.stage, held.call_id, held.action) == ("tool", Stage.BEFORE, "c1", "call_tool")
    assert held.arguments == {"tool_name": "weather", "parameters": {"place": "here"}}
    assert (held.original, held.edit, house.tool.asked) == (None, None, [])

    house.clock.advance(2.5)
    await engine.release(run_id)
    assert await engine.held(run_id) is None
    run = await played(engine, run_id)
    assert answer_of(run) == str(SKY)
    assert house.tool.asked == [{"place": "here"}]
    assert [(entry.source, entry.type) for entry in run.journal if entry.type.startswith(("hold.", "call."))] == [
        ("person", "hold.armed"),
        ("runner", "call.requested"),
        ("host", "call.decided"),
        ("host", "hold.reached"),
        ("person", "hold.released"),
        ("host", "call.replied"),
    ]
    reach = {"when": "tool", "stage": "before", "call_id": "c1", "action": "call_tool"}
    assert run.one("hold.armed").data == {"when": "tool", "once": False}
    assert run.one("hold.reached").data == reach
    assert run.one("hold.released").data == {**reach, "seconds": 2.5, "how": "release"}


async def test_a_call_that_is_answered_before_it_is_made_is_not_made(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("call_tool",))
    await reached(engine, run_id)

    assert (await engine.edit_held(run_id, GREY)).edit == GREY
    assert (await engine.held(run_id)).edit == GREY, "an edit does not let the run go on"
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == str(GREY["result"])
    assert house.tool.asked == []
    edited = run.one("hold.edited")
    assert edited.source == "person"
    assert edited.data == {"call_id": "c1", "original": None, "edit": GREY, "editor": "local"}
    assert run.one("call.replied").data == {"call_id": "c1", "reply": GREY}


async def test_a_step_makes_the_call_and_holds_its_reply_which_can_be_edited(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)

    await engine.step(run_id)
    held = await reached(engine, run_id, 2)
    assert (held.point, held.stage, held.call_id, held.original) == ("step", Stage.REPLY, "c1", {"result": SKY})
    assert len(house.tool.asked) == 1
    await engine.edit_held(run_id, GREY, editor="ann")
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == str(GREY["result"])
    assert run.one("hold.edited").data == {
        "call_id": "c1", "original": {"result": SKY}, "edit": GREY, "editor": "ann",
    }  # fmt: skip
    assert run.one("call.replied").data["reply"] == GREY
    assert [entry.data["how"] for entry in run.all("hold.released")] == ["step", "release"]


async def test_a_reply_that_is_not_edited_goes_as_it_came(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.step(run_id)
    await reached(engine, run_id, 2)
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == str(SKY)
    assert len(house.tool.asked) == 1


async def test_a_later_edit_replaces_an_earlier_one_and_both_are_in_the_journal(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.edit_held(run_id, {"result": "first"})
    await engine.edit_held(run_id, {"result": "second"})
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == "second"
    assert [entry.data["edit"]["result"] for entry in run.all("hold.edited")] == ["first", "second"]


async def test_what_a_person_does_to_an_edit_after_giving_it_changes_nothing(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    mine: dict[str, Any] = {"result": ["grey"]}
    await engine.edit_held(run_id, mine)
    mine["result"].append("blue")
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == "['grey']"


async def test_an_edit_that_cannot_be_is_refused_and_the_call_stays_held(house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    with pytest.raises(CannotHold, match="must be a JSON object, not list"):
        await engine.edit_held(run_id, [1])

    assert (await engine.held(run_id)).edit is None
    await engine.release(run_id)
    run = await played(engine, run_id)
    assert answer_of(run) == str(SKY)
    assert run.all("hold.edited") == []


@pytest.mark.parametrize(
    ("action", "reply", "words"),
    [
        ("state_get", None, "must be a JSON object, not NoneType"),
        ("state_get", {"value": float("nan")}, "cannot be sent: not JSON"),
        ("state_get", {"value": "x" * (16 << 20)}, "more than 16773120"),
        ("call_tool", {}, r"reply\.result: field required"),
        ("call_tool", {"result": 1, "extra": 2}, r"reply\.extra: unknown key"),
        ("invoke_llm", {"message": "hello"}, r"reply\.message: .*object|reply\.message: .*dictionary"),
        ("invoke_llm", {"message": {"content": "hello"}}, r"reply\.message\.role: field required"),
        ("invoke_llm", {"message": {"role": "assistant"}, "usage": 3}, r"reply\.usage: should be an object"),
        ("invoke_llm_stream", {}, "is either a message or frames"),
        ("invoke_llm_stream", {"message": {"role": "assistant"}, "frames": []}, "is either a message or frames"),
        ("invoke_llm_stream", {"frames": [{"chunk": {"content": "x"}}]}, r"reply\.frames\[0\]\.chunk\.role"),
    ],
)
def test_an_answer_is_checked_and_what_is_wrong_is_named(action: str, reply: object, words: str):
    with pytest.raises(CannotHold, match=words):
        checked(action, reply)


async def test_a_large_original_and_edit_are_kept_beside_the_journal_where_no_runner_reads_them(house: House):
    readable: list[str] = []

    async def asks_twice(ctx: Any) -> AsyncIterator[Any]:
        text = await ctx.api.call_tool("weather", {})
        entries = await ctx.api.run_events_page()
        (edited,) = (entry for entry in entries.items if entry.type == "hold.edited")
        for name in ("original_ref", "edit_ref"):
            try:
                await ctx.api.artifact_read(edited.data[name])
                readable.append(name)
            except AgentAPIException:
                pass
        yield done(text[:5])

    house.tool.answer = "a" * 40_000
    engine = await house(asks_twice)
    run_id = await send(engine, holds=("tool#1",))
    await reached(engine, run_id)
    await engine.step(run_id)
    await reached(engine, run_id, 2)
    await engine.edit_held(run_id, {"result": "b" * 50_000})
    await engine.release(run_id)

    run = await played(engine, run_id)
    edited = run.one("hold.edited").data
    assert answer_of(run) == "bbbbb"
    assert (edited["original_size"], edited["edit_size"], readable) == (40_013, 50_013, [])
    assert await engine.artifact_bytes(edited["original_ref"], limit=14) == b'{"result":"aaa'


async def test_a_failed_call_is_held_with_its_error_and_can_be_answered_after_all(house: House):
    house.tool.error = ResourceError("no signal")
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.step(run_id)
    held = await reached(engine, run_id, 2)
    assert held.original["error"]["message"] == "no signal"
    await engine.edit_held(run_id, GREY)
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == str(GREY["result"])


async def test_a_failed_call_that_is_not_answered_fails(house: House):
    house.tool.error = ResourceError("no signal")
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.step(run_id)
    await reached(engine, run_id, 2)
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert (run.row.status, run.finished["error"]) == ("failed", "AgentAPIException: no signal")
    assert run.one("call.replied").outcome == "failed"


async def test_a_call_that_the_gate_refuses_is_not_held(house: House):
    async def oversteps(ctx: Any) -> AsyncIterator[Any]:
        try:
            await ctx.api.call_tool("launch", {})
        except AgentAPIException as refusal:
            yield done(refusal.error.code)

    engine = await house(oversteps)
    run = await played(engine, await send(engine, holds=("tool",)))
    assert answer_of(run) == "unauthorized"
    assert run.all("hold.reached") == []


async def test_secrets_are_marks_in_what_is_shown_of_a_held_call_and_the_tool_gets_them_whole(house: House):
    async def unlocks(ctx: Any) -> AsyncIterator[Any]:
        yield done(str(await ctx.api.call_tool("weather", {"word": ctx.config["api_key"]})))

    engine = await house(unlocks)
    run_id = await send(engine, holds=("tool",))
    held = await reached(engine, run_id)
    assert held.arguments["parameters"] == {"word": "‹secret api_key›"}
    await engine.release(run_id)
    await played(engine, run_id)
    assert house.tool.asked == [{"word": "sesame-77"}]


# Who may, and when


async def test_a_bad_point_is_refused_before_anything_is_recorded(house: House):
    engine = await house(asks)
    with pytest.raises(CannotHold, match="'tols' is no point to hold at"):
        await send(engine, holds=("tols",))
    assert await engine.runs() == []


async def test_only_a_run_at_work_can_be_held(house: House):
    engine = await house(asks)
    run_id = await send(engine)
    await engine.finished(run_id)
    for act in (engine.hold(run_id, "tool"), engine.release(run_id), engine.step(run_id), engine.edit_held(run_id, {})):
        with pytest.raises(CannotHold, match=f"run {run_id} has ended"):
            await act
    assert (await engine.held(run_id), await engine.holds(run_id)) == (None, ())
    with pytest.raises(NotFound):
        await engine.hold("run_zzz", "tool")


async def test_what_is_not_held_is_not_let_go(house: House):
    engine = await house(waits)
    run_id = await send(engine)
    for act in (engine.release(run_id), engine.step(run_id), engine.edit_held(run_id, {})):
        with pytest.raises(CannotHold, match="nothing is held in this run"):
            await act
    with pytest.raises(CannotHold, match=r"tool is not armed. Armed points: none"):
        await engine.disarm(run_id, "tool")
    assert await holds_in(engine, run_id) == []


async def test_a_run_of_another_process_is_held_there(house: House):
    first = await house(waits)
    second = await house(waits)
    run_id = await send(first)
    with pytest.raises(Elsewhere, match=f"run {run_id} is at work in another process"):
        await second.hold(run_id, "tool")
    reader = await house(waits, mode="read")
    with pytest.raises(FactsError, match="opened to read"):
        await reader.hold(run_id, "tool")


async def test_a_held_call_of_a_run_that_is_cancelled_is_interrupted_and_not_made(house: House):
    heard: list[str] = []

    async def listens(ctx: Any) -> AsyncIterator[Any]:
        try:
            await ctx.api.call_tool("weather", {})
        except AgentAPIException as refusal:
            heard.append(refusal.error.code)
        await forever()
        yield

    engine = await house(listens)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    await engine.cancel(run_id)
    run = await played(engine, run_id)

    assert (run.row.status, heard, house.tool.asked) == ("cancelled", ["cancelled"], [])
    assert run.one("call.replied").data["error"]["message"] == "the run was cancelled"
    assert [entry.position for entry in run.journal] == [*range(1, len(run.journal) + 1)]


async def test_closing_the_host_ends_a_hold_at_once(open_engine: Engines, house: House):
    engine = await house(asks)
    run_id = await send(engine, holds=("tool",))
    await reached(engine, run_id)
    async with asyncio.timeout(5):
        await house.close()

    reader = await open_engine(mode="read")
    run = await reader.run(run_id)
    assert (run.status, run.metadata["error"]) == ("cancelled", "the host was closed")
    assert (await journal_of(reader, run_id))[-1].type == "run.finished"
    assert house.tool.asked == []
