"""The deadline of a paused run, and how a pause ends with its run."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.api import BreakpointError
from engine.protocol import AgentAPIException
from tests.support.engines import START, FakeClock, delta, done, said, send, wait_for_run, wait_forever
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.paused_runs import ToolEngines, speaks, wait_for_nth_entry, wait_for_pause

# The clock


async def slow(ctx: Any) -> AsyncIterator[Any]:
    """Calls twice, and sends the remaining time each time."""
    await ctx.api.call_tool("weather", {})
    yield delta((await ctx.api.run_get()).deadline_at)
    await ctx.api.call_tool("weather", {})
    await wait_forever()


def at(seconds: float) -> float:
    return START / 1_000_000 + seconds


async def test_a_pause_stops_the_runs_clock_and_moves_its_deadline(tool_engines: ToolEngines, clock: FakeClock):
    go_on = asyncio.Event()

    async def begins_late(ctx: Any) -> AsyncIterator[Any]:
        yield delta("…")
        await go_on.wait()
        async for result in slow(ctx):
            yield result

    engine = await tool_engines(begins_late)
    run_id = await send(engine, config={"timeout": 10})
    await wait_for_nth_entry(engine, run_id, "message.delta")
    await engine.breakpoints.set(run_id, "tool")
    clock.advance(4)
    go_on.set()
    held = await wait_for_pause(engine, run_id)
    assert held.time_left == 6.0
    clock.advance(1_000)
    await engine.runs.continue_run(run_id)
    held = await wait_for_pause(engine, run_id, 2)
    assert (held.time_left, held.since) == (6.0, START + 1_004_000_000)
    clock.advance(1_000)
    await engine.runs.continue_run(run_id)
    await wait_for_nth_entry(engine, run_id, "call.replied", 3)
    clock.advance(5.9)
    assert (await engine.runs.get(run_id)).status == "running"
    clock.advance(0.1)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, run.finished["error"]) == ("timeout", "the run took longer than 10 s")
    assert run.context["runtime"]["deadline_at"] == at(10), "it was not known to be held"
    assert [entry.data["chunk"]["content"] for entry in run.all("message.delta")] == ["…", at(1_010)]


@pytest.mark.parametrize("jump", [3_600, -3_600])
async def test_a_change_of_the_machines_time_changes_no_deadline(
    tool_engines: ToolEngines, clock: FakeClock, jump: int
):
    go_on = asyncio.Event()

    async def begins_late(ctx: Any) -> AsyncIterator[Any]:
        yield delta("…")
        await go_on.wait()
        await ctx.api.call_tool("weather", {})
        await wait_forever()

    engine = await tool_engines(begins_late)
    run_id = await send(engine, breakpoints=("tool",), config={"timeout": 60})
    await wait_for_nth_entry(engine, run_id, "message.delta")
    clock.jump(jump)
    go_on.set()
    assert (await wait_for_pause(engine, run_id)).time_left == 60.0
    clock.jump(jump)
    clock.advance(2)
    await engine.runs.continue_run(run_id)
    await wait_for_nth_entry(engine, run_id, "call.replied")
    clock.jump(jump)
    clock.advance(59.9)
    assert (await engine.runs.get(run_id)).status == "running"
    clock.advance(0.1)
    run = await wait_for_run(engine, run_id)

    assert run.row.status == "timeout"
    assert run.one("pause.ended").data["seconds"] == 2.0


async def test_a_paused_run_has_no_deadline(tool_engines: ToolEngines, clock: FakeClock):
    told_then: list[Any] = []

    async def looks(ctx: Any) -> AsyncIterator[Any]:
        asking = asyncio.ensure_future(ctx.api.call_tool("weather", {}))
        await asyncio.sleep(0)
        told_then.append((await ctx.api.run_get()).deadline_at)
        yield delta("looked")
        await asking
        told_then.append((await ctx.api.run_get()).deadline_at)
        yield done("looked")

    engine = await tool_engines(looks)
    run_id = await send(engine, breakpoints=("tool",), config={"timeout": 10})
    await wait_for_nth_entry(engine, run_id, "message.delta")
    clock.advance(100)
    await engine.runs.continue_run(run_id)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, told_then) == ("completed", [None, at(110)])


async def test_a_run_with_breakpoints_has_no_deadline_in_its_context_but_times_out(
    tool_engines: ToolEngines, clock: FakeClock
):
    engine = await tool_engines(slow)
    run_id = await send(engine, breakpoints=("tool",), config={"timeout": 10})
    clock.advance(3)
    await wait_for_pause(engine, run_id)
    clock.advance(50)
    await engine.runs.continue_run(run_id)
    await wait_for_pause(engine, run_id, 2)
    await engine.runs.continue_run(run_id)
    await wait_for_nth_entry(engine, run_id, "call.replied", 3)
    clock.advance(10)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, run.row.deadline_at) == ("timeout", None)
    assert run.context["runtime"]["deadline_at"] is None


async def test_a_pause_of_a_run_without_a_deadline_changes_no_clock(tool_engines: ToolEngines, clock: FakeClock):
    engine = await tool_engines(speaks)
    run_id = await send(engine, breakpoints=("message.completed#1",), config={"timeout": 0})
    held = await wait_for_pause(engine, run_id)
    clock.advance(10_000)
    assert held.time_left is None
    await engine.runs.continue_run(run_id)
    assert (await wait_for_run(engine, run_id)).row.status == "completed"


async def test_the_clock_stands_still_while_any_call_is_paused(tool_engines: ToolEngines, clock: FakeClock):
    async def asks_twice_at_once(ctx: Any) -> AsyncIterator[Any]:
        works = (ctx.api.call_tool("weather", {"number": number}) for number in range(2))
        yield done(str(len(await asyncio.gather(*works))))

    engine = await tool_engines(asks_twice_at_once)
    run_id = await send(engine, breakpoints=("tool",), config={"timeout": 10})
    await wait_for_nth_entry(engine, run_id, "pause.started", 2)
    await engine.runs.continue_run(run_id)
    clock.advance(100)
    assert engine._core.host.orchestrator.live[run_id].stop_reason is None, "the second call is still held"
    await engine.runs.continue_run(run_id)

    assert (await wait_for_run(engine, run_id)).row.status == "completed"


# The end of the run


async def test_a_cancel_ends_a_pause_at_once_and_held_results_are_recorded_as_ignored(tool_engines: ToolEngines):
    async def stubborn(ctx: Any) -> AsyncIterator[Any]:
        live = engine._core.host.orchestrator.live[ctx.run_id]
        live.result(said("held"), 1)
        live.result(said("behind"), 1)
        heard = asyncio.ensure_future(ctx.api.call_tool("weather", {}))
        try:
            await heard
        except AgentAPIException as refusal:
            yield delta(refusal.error.code)

    engine = await tool_engines(stubborn)
    run_id = await send(engine, breakpoints=("message.completed",))
    await wait_for_pause(engine, run_id)
    await engine.runs.cancel(run_id)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, tool_engines.tool.calls) == ("cancelled", [])
    late = [(entry.outcome, entry.reason) for entry in run.all("message.completed")]
    assert late == [("ignored", "came after the run was stopped (cancelled)")] * 2
    assert run.one("call.decided").outcome == "refused"
    assert run.one("message.delta").data["chunk"]["content"] == "cancelled"
    assert [line.content for line in await engine.sessions.transcript("s")] == ["hi"]
    assert run.all("pause.ended") == []


async def test_a_run_that_has_ended_is_no_longer_paused(tool_engines: ToolEngines):
    async def says_too_much(ctx: Any) -> AsyncIterator[Any]:
        yield done("end")
        yield said("late")

    engine = await tool_engines(says_too_much)
    run = await wait_for_run(engine, await send(engine, breakpoints=("message.completed",)))
    assert (run.row.status, run.one("message.completed").outcome) == ("completed", "ignored")
    assert run.all("pause.started") == []


async def test_a_call_that_is_paused_when_its_run_ends_is_refused_and_not_made(tool_engines: ToolEngines):
    heard: list[str] = []

    async def ends_first(ctx: Any) -> AsyncIterator[Any]:
        async def ask() -> None:
            try:
                await ctx.api.call_tool("weather", {})
            except AgentAPIException as refusal:
                heard.append(refusal.error.message)

        asking = asyncio.ensure_future(ask())
        await asyncio.sleep(0)
        yield done("end")
        await asking

    engine = await tool_engines(ends_first)
    run = await wait_for_run(engine, await send(engine, breakpoints=("tool",)))
    assert (run.row.status, tool_engines.tool.calls) == ("completed", [])
    assert heard == ["the run ended while it was paused at this call"]


async def test_run_that_is_being_stopped_does_not_pause(tool_engines: ToolEngines):
    stopped, leave = asyncio.Event(), asyncio.Event()

    async def lingers(ctx: Any) -> AsyncIterator[Any]:
        try:
            yield delta("…")
            await wait_forever()
        except asyncio.CancelledError:
            stopped.set()
            await leave.wait()

    engine = await tool_engines(lingers)
    run_id = await send(engine)
    await wait_for_nth_entry(engine, run_id, "message.delta")
    await engine.runs.cancel(run_id)
    await stopped.wait()
    with pytest.raises(BreakpointError, match="has ended or is being stopped"):
        await engine.breakpoints.set(run_id, "tool")
    leave.set()
    assert (await wait_for_run(engine, run_id)).row.status == "cancelled"


async def test_call_paused_when_its_runner_ends_is_refused_and_not_made(tool_engines: ToolEngines):
    refused = asyncio.Event()

    async def walks_off(ctx: Any) -> AsyncIterator[Any]:
        async def ask() -> None:
            try:
                await ctx.api.call_tool("weather", {})
            except AgentAPIException:
                refused.set()

        asking.append(asyncio.ensure_future(ask()))
        await asyncio.sleep(0)
        yield said("bye")

    asking: list[asyncio.Task[None]] = []
    engine = await tool_engines(walks_off)
    run = await wait_for_run(engine, await send(engine, breakpoints=("tool",)))
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await refused.wait()
    assert (run.row.status, tool_engines.tool.calls) == ("completed", [])


async def test_a_paused_run_that_has_ended_leaves_no_timer(tool_engines: ToolEngines, clock: FakeClock):
    engine = await tool_engines(speaks)
    run_id = await send(engine, breakpoints=("message.completed#1",))
    await wait_for_pause(engine, run_id)
    await engine.runs.continue_run(run_id)
    await wait_for_run(engine, run_id)
    assert [timer for _, _, timer in clock._waiting if not timer.cancelled] == []
