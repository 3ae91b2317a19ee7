"""Holds at results, the clock of a held run, and how a hold ends when its run does."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.api import CannotHold, Engine, Stage
from engine.clock import rfc3339
from engine.protocol import AgentAPIException
from tests.engine.holding import House, reached, told
from tests.support import START, Engines, FakeClock, delta, done, forever, journal_of, played, said, send


@pytest.fixture
async def house(open_engine: Engines) -> AsyncIterator[House]:
    opened = House(open_engine)
    yield opened
    await opened.close()


async def types_in(engine: Engine, run_id: str) -> list[str]:
    return [entry.type for entry in await journal_of(engine, run_id)]


async def speaks(ctx: Any) -> AsyncIterator[Any]:
    yield delta("a")
    yield said("one")
    yield said("two")
    yield done()


# What is kept back


async def test_nothing_of_a_held_result_is_recorded_before_it_is_released(house: House):
    engine = await house(speaks)
    run_id = await send(engine, holds=("message.completed",))
    held = await reached(engine, run_id)
    assert (held.point, held.stage, held.type) == ("message.completed", Stage.RESULT, "message.completed")
    assert await types_in(engine, run_id) == ["run.started", "hold.armed", "message.delta", "hold.reached"]
    assert [line.content for line in await engine.transcript("s")] == ["hi"]

    await engine.release(run_id)
    await reached(engine, run_id, 2)
    assert (await types_in(engine, run_id))[4:] == ["hold.released", "message.completed", "hold.reached"]
    await engine.release(run_id)
    run = await played(engine, run_id)

    assert run.types[7:] == ["hold.released", "message.completed", "run.completed", "run.finished"]
    assert run.one("hold.armed").position == 2
    reach = {"when": "message.completed", "stage": "result", "type": "message.completed"}
    assert run.all("hold.reached")[0].data == reach
    assert run.all("hold.released")[0].data == {**reach, "seconds": 0.0, "how": "release"}
    assert [entry.position for entry in run.journal] == [*range(1, len(run.journal) + 1)]


async def test_only_the_nth_result_is_held(house: House):
    engine = await house(speaks)
    run_id = await send(engine, holds=("message.completed#2",))
    await reached(engine, run_id)
    assert [entry.data for entry in await journal_of(engine, run_id) if entry.type == "message.completed"] == [
        {"message": {"role": "assistant", "content": "one"}}
    ]
    await engine.release(run_id)
    assert (await played(engine, run_id)).row.status == "completed"


async def test_all_that_comes_behind_a_held_result_waits_and_then_comes_in_its_order(house: House):
    asked: list[Any] = []

    async def goes_on(ctx: Any) -> AsyncIterator[Any]:
        async def ask(number: int) -> None:
            asked.append(await ctx.api.call_tool("weather", {"number": number}))

        async def soon() -> None:
            # The runner's own loop stands at its yield; what it has started beside it goes on.
            await asyncio.gather(ask(1), ask(2))

        working = asyncio.ensure_future(soon())
        yield said("held")
        yield {"type": "state.updated", "data": {"scope": "conversation", "key": "k", "value": float("nan")}}
        yield said("behind")
        await working
        yield done()

    engine = await house(goes_on)
    run_id = await send(engine, holds=("message.completed#1",))
    await reached(engine, run_id)
    live = engine._host.orchestrator.live[run_id]
    # As a pipe brings them: read before the runtime was told to stop.
    live.result(said("at the same time"), 1)
    live.unreadable("not JSON", 7)
    await asyncio.sleep(0)
    assert (await types_in(engine, run_id))[-1] == "hold.reached"
    assert (live.full, asked) == (True, [])
    await engine.release(run_id)
    run = await played(engine, run_id)

    kinds = [entry.type for entry in run.journal if entry.type.startswith(("message", "call.requested", "result"))]
    assert kinds == [
        "message.completed",
        "call.requested",
        "call.requested",
        "message.completed",
        "result.unreadable",
        "result.unreadable",
        "message.completed",
    ]
    spoken = [entry.data["message"]["content"] for entry in run.all("message.completed")]
    assert spoken == ["held", "at the same time", "behind"]
    assert len(asked) == 2


async def test_a_call_behind_a_held_result_that_is_taken_back_is_not_lost(house: House):
    took_back = asyncio.Event()

    async def wavers(ctx: Any) -> AsyncIterator[Any]:
        async def waver() -> None:
            asking = asyncio.ensure_future(ctx.api.call_tool("weather", {}))
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            took_back.set()

        wavering = asyncio.ensure_future(waver())
        yield said("held")
        await wavering
        yield done()

    engine = await house(wavers)
    run_id = await send(engine, holds=("message.completed",))
    await reached(engine, run_id)
    await took_back.wait()
    await engine.release(run_id)
    run = await played(engine, run_id)

    assert (run.row.status, house.tool.asked) == ("completed", [])
    assert run.warnings == ["call_tool was taken back while it waited behind a held result"]


async def test_what_it_prints_need_not_wait(house: House):
    engine = await house(speaks)
    run_id = await send(engine, holds=("message.completed#1",))
    await reached(engine, run_id)
    engine._host.orchestrator.live[run_id].output("stdout", "still here")
    await told(engine, run_id, "output")
    await engine.release(run_id)
    assert (await played(engine, run_id)).row.status == "completed"


async def test_the_end_of_a_run_can_be_held_and_the_run_is_not_closed_meanwhile(house: House):
    engine = await house(speaks)
    run_id = await send(engine, holds=("run.completed",))
    await reached(engine, run_id)
    assert (await engine.run(run_id)).status == "running"
    await engine.release(run_id)
    assert (await played(engine, run_id)).row.status == "completed"


async def test_a_run_whose_code_has_ended_stays_open_while_a_result_of_it_is_held(house: House):
    """As with a child that said all it had to say before the host stopped reading."""
    ended = asyncio.Event()

    async def leaves(ctx: Any) -> AsyncIterator[Any]:
        live = engine._host.orchestrator.live[ctx.run_id]
        live.result(said("last words"), 1)
        ended.set()
        return
        yield

    engine = await house(leaves)
    run_id = await send(engine, holds=("message.completed",))
    await reached(engine, run_id)
    await ended.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert (await engine.run(run_id)).status == "running"
    assert "message.completed" not in await types_in(engine, run_id)
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert (run.row.status, run.row.status_reason) == ("completed", "ended")
    assert run.types[-3:] == ["hold.released", "message.completed", "run.finished"]


async def test_a_result_is_the_runners_own_word(house: House):
    engine = await house(speaks)
    run_id = await send(engine, holds=("message.completed#1",))
    await reached(engine, run_id)
    with pytest.raises(CannotHold, match=r"message\.completed is the runner's own word"):
        await engine.edit_held(run_id, {"message": {}})
    await engine.release(run_id)
    assert (await played(engine, run_id)).row.status == "completed"


async def test_a_type_that_is_no_text_holds_nothing_and_harms_nothing(house: House):
    async def odd(ctx: Any) -> AsyncIterator[Any]:
        yield {"type": ["message.completed"], "data": {}}

    engine = await house(odd)
    run = await played(engine, await send(engine, holds=("message.completed",)))
    assert (run.row.status_reason, run.all("hold.reached")) == ("protocol.error", [])


# The clock


async def slow(ctx: Any) -> AsyncIterator[Any]:
    """Asks twice, and tells each time what is left of its time."""
    await ctx.api.call_tool("weather", {})
    yield delta((await ctx.api.run_get()).deadline_at)
    await ctx.api.call_tool("weather", {})
    await forever()


def at(seconds: float) -> str:
    return rfc3339(START + int(seconds * 1_000_000))


async def test_a_hold_stops_the_runs_clock_and_its_deadline_moves(house: House, clock: FakeClock):
    go_on = asyncio.Event()

    async def begins_late(ctx: Any) -> AsyncIterator[Any]:
        yield delta("…")
        await go_on.wait()
        async for result in slow(ctx):
            yield result

    engine = await house(begins_late)
    run_id = await send(engine, config={"timeout": 10})
    await told(engine, run_id, "message.delta")
    await engine.hold(run_id, "tool")
    clock.advance(4)
    go_on.set()
    held = await reached(engine, run_id)
    assert held.time_left == 6.0
    clock.advance(1_000)
    await engine.release(run_id)
    held = await reached(engine, run_id, 2)
    assert (held.time_left, held.since) == (6.0, START + 1_004_000_000)
    clock.advance(1_000)
    await engine.release(run_id)
    await told(engine, run_id, "call.replied", 3)
    clock.advance(5.9)
    assert (await engine.run(run_id)).status == "running"
    clock.advance(0.1)
    run = await played(engine, run_id)

    assert (run.row.status, run.finished["error"]) == ("timeout", "the run took longer than 10 s")
    assert run.context["runtime"]["deadline_at"] == at(10), "it was not known to be held"
    assert [entry.data["chunk"]["content"] for entry in run.all("message.delta")] == ["…", at(1_010)]


async def test_a_held_run_has_no_deadline_to_tell(house: House, clock: FakeClock):
    told_then: list[Any] = []

    async def looks(ctx: Any) -> AsyncIterator[Any]:
        asking = asyncio.ensure_future(ctx.api.call_tool("weather", {}))
        await asyncio.sleep(0)
        told_then.append((await ctx.api.run_get()).deadline_at)
        yield delta("looked")
        await asking
        told_then.append((await ctx.api.run_get()).deadline_at)
        yield done("looked")

    engine = await house(looks)
    run_id = await send(engine, holds=("tool",), config={"timeout": 10})
    await told(engine, run_id, "message.delta")
    clock.advance(100)
    await engine.release(run_id)
    run = await played(engine, run_id)

    assert (run.row.status, told_then) == ("completed", [None, at(110)])


async def test_a_run_that_begins_with_holds_has_no_deadline_in_its_context_but_its_time_counts(
    house: House, clock: FakeClock
):
    engine = await house(slow)
    run_id = await send(engine, holds=("tool",), config={"timeout": 10})
    clock.advance(3)
    await reached(engine, run_id)
    clock.advance(50)
    await engine.release(run_id)
    await reached(engine, run_id, 2)
    await engine.release(run_id)
    await told(engine, run_id, "call.replied", 3)
    clock.advance(10)
    run = await played(engine, run_id)

    assert (run.row.status, run.row.deadline_at) == ("timeout", None)
    assert run.context["runtime"]["deadline_at"] is None


async def test_without_a_deadline_a_hold_has_none_to_stop(house: House, clock: FakeClock):
    engine = await house(speaks)
    run_id = await send(engine, holds=("message.completed#1",), config={"timeout": 0})
    held = await reached(engine, run_id)
    clock.advance(10_000)
    assert held.time_left is None
    await engine.release(run_id)
    assert (await played(engine, run_id)).row.status == "completed"


# The end of the run


async def test_a_cancel_ends_a_hold_at_once_and_what_was_held_back_is_recorded_as_ignored(house: House):
    async def stubborn(ctx: Any) -> AsyncIterator[Any]:
        live = engine._host.orchestrator.live[ctx.run_id]
        live.result(said("held"), 1)
        live.result(said("behind"), 1)
        heard = asyncio.ensure_future(ctx.api.call_tool("weather", {}))
        try:
            await heard
        except AgentAPIException as refusal:
            yield delta(refusal.error.code)

    engine = await house(stubborn)
    run_id = await send(engine, holds=("message.completed",))
    await reached(engine, run_id)
    await engine.cancel(run_id)
    run = await played(engine, run_id)

    assert (run.row.status, house.tool.asked) == ("cancelled", [])
    late = [(entry.outcome, entry.reason) for entry in run.all("message.completed")]
    assert late == [("ignored", "came after the run was stopped (cancelled)")] * 2
    assert run.one("call.decided").outcome == "refused"
    assert run.one("message.delta").data["chunk"]["content"] == "cancelled"
    assert [line.content for line in await engine.transcript("s")] == ["hi"]
    assert run.all("hold.released") == []


async def test_a_run_that_has_ended_is_held_no_more(house: House):
    async def says_too_much(ctx: Any) -> AsyncIterator[Any]:
        yield done("end")
        yield said("late")

    engine = await house(says_too_much)
    run = await played(engine, await send(engine, holds=("message.completed",)))
    assert (run.row.status, run.one("message.completed").outcome) == ("completed", "ignored")
    assert run.all("hold.reached") == []


async def test_a_call_that_is_held_when_its_run_ends_is_refused_and_not_made(house: House):
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

    engine = await house(ends_first)
    run = await played(engine, await send(engine, holds=("tool",)))
    assert (run.row.status, house.tool.asked) == ("completed", [])
    assert heard == ["the run ended while this call was held"]


async def test_a_run_that_is_being_stopped_reaches_no_point_any_more(house: House):
    stopped, leave = asyncio.Event(), asyncio.Event()

    async def lingers(ctx: Any) -> AsyncIterator[Any]:
        try:
            yield delta("…")
            await forever()
        except asyncio.CancelledError:
            stopped.set()
            await leave.wait()

    engine = await house(lingers)
    run_id = await send(engine)
    await told(engine, run_id, "message.delta")
    await engine.cancel(run_id)
    await stopped.wait()
    with pytest.raises(CannotHold, match="has ended or is being stopped"):
        await engine.hold(run_id, "tool")
    leave.set()
    assert (await played(engine, run_id)).row.status == "cancelled"


async def test_a_call_that_is_held_when_its_runners_code_ends_is_refused_and_not_made(house: House):
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
    engine = await house(walks_off)
    run = await played(engine, await send(engine, holds=("tool",)))
    async with asyncio.timeout(5):
        await refused.wait()
    assert (run.row.status, house.tool.asked) == ("completed", [])


async def test_a_run_that_was_held_and_has_ended_leaves_no_timer(house: House, clock: FakeClock):
    engine = await house(speaks)
    run_id = await send(engine, holds=("message.completed#1",))
    await reached(engine, run_id)
    await engine.release(run_id)
    await played(engine, run_id)
    assert [timer for _, _, timer in clock._waiting if not timer.cancelled] == []
