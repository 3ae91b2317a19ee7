"""Breakpoint locations: their grammar, how often they match, and where a step ends."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.access.server import CALL_TYPES
from engine.api import BreakpointError, BreakpointLocation, PauseStage
from engine.run.breakpoints import CALL_GROUPS, NAMES_OF_CALL
from tests.support.engines import delta, done, said, send, wait_for_run
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.paused_runs import (
    EDITED_REPLY,
    MODEL_REQUEST,
    ToolEngines,
    asks,
    final_text,
    wait_for_nth_entry,
    wait_for_pause,
)

# Locations


@pytest.mark.parametrize(
    ("words", "point"),
    [
        ("steering", BreakpointLocation("steering")),
        ("steering_pull", BreakpointLocation("steering")),
        (" tool ", BreakpointLocation("tool")),
        ("call_tool#2", BreakpointLocation("call_tool", 2)),
        ("tool.call.started#10", BreakpointLocation("tool.call.started", 10)),
    ],
)
def test_breakpoint_location_is_parsed(words: str, point: BreakpointLocation):
    assert BreakpointLocation.parse(words) == point
    assert BreakpointLocation.parse(str(point)) == point


@pytest.mark.parametrize("words", ["tool#0", "tool#-1", "tool#x", "tool#", "tool#1.5", "tool#²", "tool#12345678901"])
def test_number_after_the_hash_must_be_positive(words: str):
    with pytest.raises(BreakpointError, match="the number after # must be 1 or more"):
        BreakpointLocation.parse(words)


@pytest.mark.parametrize("words", ["", "tools", "call_tol", "tool.call.start#2", "pull", "run.finished"])
def test_error_for_an_unknown_location_lists_the_valid_ones(words: str):
    with pytest.raises(BreakpointError) as error:
        BreakpointLocation.parse(words)
    for known in ("steering", "knowledge", "call_tool", "message.completed", "#n"):
        assert known in str(error.value)


def test_misspelled_location_gets_a_suggestion():
    with pytest.raises(BreakpointError, match=r"Did you mean tool\.call\.started\?"):
        BreakpointLocation.parse("tool.call.start#2")


def test_every_call_of_the_host_is_in_one_group_or_is_the_pull():
    assert set(NAMES_OF_CALL) == set(CALL_TYPES)
    assert sum(len(calls) for calls in CALL_GROUPS.values()) + 1 == len(CALL_TYPES)


# Breakpoints, steps and order


async def calls_thrice(ctx: Any) -> AsyncIterator[Any]:
    for number in range(3):
        await ctx.api.call_tool("weather", {"number": number})
    yield done("called")


async def test_a_breakpoint_without_a_number_pauses_each_time_until_it_is_removed(tool_engines: ToolEngines):
    engine = await tool_engines(calls_thrice)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    await engine.runs.continue_run(run_id)
    await wait_for_pause(engine, run_id, 2)
    await engine.breakpoints.remove(run_id, "tool")
    assert await engine.breakpoints.list(run_id) == ()
    assert await engine.runs.current_pause(run_id) is not None, "what is held stays held"
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert len(run.all("pause.started")) == 2
    assert run.one("breakpoint.removed").data == {"when": "tool", "once": False}


async def test_a_breakpoint_with_a_number_pauses_only_at_that_one(tool_engines: ToolEngines):
    engine = await tool_engines(calls_thrice)
    run_id = await send(engine, breakpoints=("tool#2",))
    held = await wait_for_pause(engine, run_id)
    assert held.arguments["parameters"] == {"number": 1}
    assert await engine.breakpoints.list(run_id) == (), "it is used up"
    with pytest.raises(BreakpointError, match="tool#2 has passed: the run is at 2 already"):
        await engine.breakpoints.set(run_id, "tool#2")
    await engine.breakpoints.set(run_id, "call_tool#3")
    await engine.runs.continue_run(run_id)
    held = await wait_for_pause(engine, run_id, 2)
    assert (held.location, held.arguments["parameters"]) == ("call_tool#3", {"number": 2})
    await engine.runs.continue_run(run_id)
    assert (await wait_for_run(engine, run_id)).row.status == "completed"


async def test_a_breakpoint_that_is_set_once_pauses_once(tool_engines: ToolEngines):
    go_on = asyncio.Event()

    async def begins_late(ctx: Any) -> AsyncIterator[Any]:
        yield delta("…")
        await go_on.wait()
        async for result in calls_thrice(ctx):
            yield result

    engine = await tool_engines(begins_late)
    run_id = await send(engine)
    await engine.breakpoints.set(run_id, "tool", once=True)
    (armed,) = await engine.breakpoints.list(run_id)
    assert (str(armed.location), armed.once) == ("tool", True)
    go_on.set()
    await wait_for_pause(engine, run_id)
    assert await engine.breakpoints.list(run_id) == ()
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert run.one("breakpoint.set").data == {"when": "tool", "once": True}
    assert len(run.all("pause.started")) == 1


async def test_step_goes_from_a_call_to_its_reply_and_then_to_each_boundary(tool_engines: ToolEngines):
    async def works(ctx: Any) -> AsyncIterator[Any]:
        await ctx.api.call_tool("weather", {})
        yield delta("hm")
        await ctx.api.run_get()
        yield {"type": "tool.call.started", "data": {"tool_call_id": "1", "tool_name": "t", "parameters": {}}}
        yield {"type": "tool.call.completed", "data": {"tool_call_id": "1", "tool_name": "t", "result": 1}}
        await ctx.api.steering_pull()
        yield said("so")
        await ctx.api.invoke_llm("m", MODEL_REQUEST)
        yield done()

    engine = await tool_engines(works)
    run_id = await send(engine, breakpoints=("tool#1",))
    seen = []
    for number in range(1, 10):
        held = await wait_for_pause(engine, run_id, number)
        seen.append((held.location, held.stage, held.action or held.type))
        await engine.runs.step(run_id)
    run = await wait_for_run(engine, run_id)

    assert seen == [
        ("tool#1", "before", "call_tool"),
        ("step", "reply", "call_tool"),
        ("step", "result", "tool.call.started"),
        ("step", "result", "tool.call.completed"),
        ("step", "before", "steering_pull"),
        ("step", "result", "message.completed"),
        ("step", "before", "invoke_llm"),
        ("step", "reply", "invoke_llm"),
        ("step", "result", "run.completed"),
    ]
    assert run.row.status == "completed"


async def test_stepping_stops_at_every_boundary_and_nowhere_else(tool_engines: ToolEngines):
    async def works(ctx: Any) -> AsyncIterator[Any]:
        await ctx.api.call_tool("weather", {})
        await ctx.api.run_get()
        yield delta("hm")
        await ctx.api.steering_pull()
        yield said("so")
        yield done()

    engine = await tool_engines(works)
    run_id = await send(engine, breakpoints=("tool#1",))
    seen: list[Any] = []
    async with asyncio.timeout(MAX_WAIT_SECONDS), engine.subscribe(run_id=run_id) as news:
        async for entry in (one.entry async for batch in news for one in batch):
            if entry.type == "pause.started":
                held = await engine.runs.current_pause(run_id)
                seen.append((held.stage, held.action or held.type))
                await engine.runs.step(run_id)
            elif entry.type == "run.finished":
                break

    assert seen == [
        ("before", "call_tool"),
        ("reply", "call_tool"),
        ("before", "steering_pull"),
        ("result", "message.completed"),
        ("result", "run.completed"),
    ]


async def test_step_after_an_edited_reply_goes_to_the_next_boundary(tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    await engine.runs.edit_reply(run_id, EDITED_REPLY)
    await engine.runs.step(run_id)
    held = await wait_for_pause(engine, run_id, 2)
    assert (held.stage, held.type, tool_engines.tool.calls) == (PauseStage.RESULT, "run.completed", [])
    await engine.runs.continue_run(run_id)
    assert final_text(await wait_for_run(engine, run_id)) == str(EDITED_REPLY["result"])


async def test_continue_ends_the_stepping(tool_engines: ToolEngines):
    engine = await tool_engines(calls_thrice)
    run_id = await send(engine, breakpoints=("tool#1",))
    for number in (1, 2):
        await wait_for_pause(engine, run_id, number)
        await engine.runs.step(run_id)
    held = await wait_for_pause(engine, run_id, 3)
    assert (held.location, held.arguments["parameters"]) == ("step", {"number": 1})
    await engine.runs.continue_run(run_id)

    async with asyncio.timeout(MAX_WAIT_SECONDS):
        assert len((await wait_for_run(engine, run_id)).all("pause.started")) == 3


async def test_step_of_a_cancelled_call_ends_at_the_next_boundary(tool_engines: ToolEngines):
    async def thinks_better(ctx: Any) -> AsyncIterator[Any]:
        asking = asyncio.ensure_future(ctx.api.call_tool("weather", {}))
        await tool_engines.tool.called.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        yield said("never mind")
        yield done()

    tool_engines.tool.may_return.clear()
    engine = await tool_engines(thinks_better)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    await engine.runs.step(run_id)
    held = await wait_for_pause(engine, run_id, 2)
    assert (held.location, held.type) == ("step", "message.completed")
    await engine.runs.continue_run(run_id)
    assert (await wait_for_run(engine, run_id)).row.status == "completed"


async def test_step_ends_at_another_paused_call(tool_engines: ToolEngines):
    async def hastes(ctx: Any) -> AsyncIterator[Any]:
        works = (ctx.api.call_tool("weather", {"number": number}) for number in range(2))
        yield done(str(await asyncio.gather(*works)))

    engine = await tool_engines(hastes)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_nth_entry(engine, run_id, "pause.started", 2)
    await engine.runs.edit_reply(run_id, EDITED_REPLY)
    await engine.runs.step(run_id)
    assert (await engine.runs.current_pause(run_id)).call_id == "c2"
    await engine.runs.continue_run(run_id)

    async with asyncio.timeout(MAX_WAIT_SECONDS):
        assert len((await wait_for_run(engine, run_id)).all("pause.started")) == 2


async def test_concurrent_calls_are_paused_and_continued_one_by_one(tool_engines: ToolEngines):
    async def hastes(ctx: Any) -> AsyncIterator[Any]:
        works = (ctx.api.call_tool("weather", {"number": number}) for number in range(3))
        yield done(str(await asyncio.gather(*works)))

    engine = await tool_engines(hastes)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_nth_entry(engine, run_id, "pause.started", 3)
    for number in range(3):
        held = await engine.runs.current_pause(run_id)
        assert held.arguments["parameters"] == {"number": number}
        await engine.runs.edit_reply(run_id, {"result": number})
        await engine.runs.continue_run(run_id)
    run = await wait_for_run(engine, run_id)

    assert final_text(run) == "[0, 1, 2]"
    assert [entry.data["call_id"] for entry in run.all("pause.ended")] == ["c1", "c2", "c3"]


async def test_a_call_that_its_runner_cancels_is_no_longer_paused(tool_engines: ToolEngines):
    take_back, leave = asyncio.Event(), asyncio.Event()

    async def loses_patience(ctx: Any) -> AsyncIterator[Any]:
        asking = asyncio.ensure_future(ctx.api.call_tool("weather", {}))
        await take_back.wait()
        asking.cancel()
        await leave.wait()
        yield done("never mind")

    engine = await tool_engines(loses_patience)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    take_back.set()
    await wait_for_nth_entry(engine, run_id, "call.replied")
    assert await engine.runs.current_pause(run_id) is None
    leave.set()
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, tool_engines.tool.calls) == ("completed", [])
    assert run.one("call.replied").data["error"]["message"] == "the runner stopped waiting for the reply"
    assert run.all("pause.ended") == []
