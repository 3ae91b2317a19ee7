"""Breakpoints at results: which results are held back, and in which order they are handled."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.api import BreakpointError, Engine, PauseStage
from tests.support.engines import done, journal_of, said, send, wait_for_run
from tests.support.paused_runs import ToolEngines, speaks, wait_for_nth_entry, wait_for_pause


async def types_in(engine: Engine, run_id: str) -> list[str]:
    return [entry.type for entry in await journal_of(engine, run_id)]


# Held results


async def test_a_held_result_is_not_recorded_before_the_run_continues(tool_engines: ToolEngines):
    engine = await tool_engines(speaks)
    run_id = await send(engine, breakpoints=("message.completed",))
    held = await wait_for_pause(engine, run_id)
    assert (held.location, held.stage, held.type) == ("message.completed", PauseStage.RESULT, "message.completed")
    assert await types_in(engine, run_id) == ["run.started", "breakpoint.set", "message.delta", "pause.started"]
    assert [line.content for line in await engine.sessions.transcript("s")] == ["hi"]

    await engine.runs.continue_run(run_id)
    await wait_for_pause(engine, run_id, 2)
    assert (await types_in(engine, run_id))[4:] == ["pause.ended", "message.completed", "pause.started"]
    await engine.runs.continue_run(run_id)
    run = await wait_for_run(engine, run_id)

    assert run.types[7:] == ["pause.ended", "message.completed", "run.completed", "run.finished"]
    assert run.one("breakpoint.set").position == 2
    reach = {"when": "message.completed", "stage": "result", "type": "message.completed"}
    assert run.all("pause.started")[0].data == reach
    assert run.all("pause.ended")[0].data == {**reach, "seconds": 0.0, "how": "continue"}
    assert [entry.position for entry in run.journal] == [*range(1, len(run.journal) + 1)]


async def test_only_the_nth_result_is_held(tool_engines: ToolEngines):
    engine = await tool_engines(speaks)
    run_id = await send(engine, breakpoints=("message.completed#2",))
    await wait_for_pause(engine, run_id)
    assert [entry.data for entry in await journal_of(engine, run_id) if entry.type == "message.completed"] == [
        {"message": {"role": "assistant", "content": "one"}}
    ]
    await engine.runs.continue_run(run_id)
    assert (await wait_for_run(engine, run_id)).row.status == "completed"


async def test_results_and_calls_after_a_held_result_wait_in_order(tool_engines: ToolEngines):
    asked: list[Any] = []

    async def goes_on(ctx: Any) -> AsyncIterator[Any]:
        async def ask(number: int) -> None:
            asked.append(await ctx.api.call_tool("weather", {"number": number}))

        async def soon() -> None:
            # The runner waits at its yield; tasks that it started continue.
            await asyncio.gather(ask(1), ask(2))

        working = asyncio.ensure_future(soon())
        yield said("held")
        yield {"type": "state.updated", "data": {"scope": "conversation", "key": "k", "value": float("nan")}}
        yield said("behind")
        await working
        yield done()

    engine = await tool_engines(goes_on)
    run_id = await send(engine, breakpoints=("message.completed#1",))
    await wait_for_pause(engine, run_id)
    live = engine._core.host.orchestrator.live[run_id]
    # As from a pipe: read before the runtime stops reading.
    live.result(said("at the same time"), 1)
    live.unreadable("not JSON", 7)
    await asyncio.sleep(0)
    assert (await types_in(engine, run_id))[-1] == "pause.started"
    assert (live.full, asked) == (True, [])
    await engine.runs.continue_run(run_id)
    run = await wait_for_run(engine, run_id)

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


async def test_a_cancelled_call_behind_a_held_result_is_recorded(tool_engines: ToolEngines):
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

    engine = await tool_engines(wavers)
    run_id = await send(engine, breakpoints=("message.completed",))
    await wait_for_pause(engine, run_id)
    await took_back.wait()
    await engine.runs.continue_run(run_id)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, tool_engines.tool.calls) == ("completed", [])
    assert run.types.index("message.completed") < run.types.index("call.requested")
    assert run.one("call.replied").data["cancelled_by"] == "runner"


async def test_printed_lines_do_not_wait_for_a_held_result(tool_engines: ToolEngines):
    engine = await tool_engines(speaks)
    run_id = await send(engine, breakpoints=("message.completed#1",))
    await wait_for_pause(engine, run_id)
    engine._core.host.orchestrator.live[run_id].output("stdout", "still here")
    await wait_for_nth_entry(engine, run_id, "output")
    await engine.runs.continue_run(run_id)
    assert (await wait_for_run(engine, run_id)).row.status == "completed"


async def test_a_run_can_pause_at_its_end_and_the_run_is_not_closed_meanwhile(tool_engines: ToolEngines):
    engine = await tool_engines(speaks)
    run_id = await send(engine, breakpoints=("run.completed",))
    await wait_for_pause(engine, run_id)
    assert (await engine.runs.get(run_id)).status == "running"
    await engine.runs.continue_run(run_id)
    assert (await wait_for_run(engine, run_id)).row.status == "completed"


async def test_a_run_whose_code_has_ended_stays_open_while_a_result_of_it_is_held(tool_engines: ToolEngines):
    """A child that sent everything before the host stopped reading."""
    ended = asyncio.Event()

    async def leaves(ctx: Any) -> AsyncIterator[Any]:
        live = engine._core.host.orchestrator.live[ctx.run_id]
        live.result(said("last words"), 1)
        ended.set()
        return
        yield

    engine = await tool_engines(leaves)
    run_id = await send(engine, breakpoints=("message.completed",))
    await wait_for_pause(engine, run_id)
    await ended.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert (await engine.runs.get(run_id)).status == "running"
    assert "message.completed" not in await types_in(engine, run_id)
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert (run.row.status, run.row.status_reason) == ("completed", "ended")
    assert run.types[-3:] == ["pause.ended", "message.completed", "run.finished"]


async def test_held_result_cannot_be_edited(tool_engines: ToolEngines):
    engine = await tool_engines(speaks)
    run_id = await send(engine, breakpoints=("message.completed#1",))
    await wait_for_pause(engine, run_id)
    with pytest.raises(BreakpointError, match=r"message\.completed is the runner's own output"):
        await engine.runs.edit_reply(run_id, {"message": {}})
    await engine.runs.continue_run(run_id)
    assert (await wait_for_run(engine, run_id)).row.status == "completed"


async def test_result_type_that_is_not_text_matches_no_breakpoint(tool_engines: ToolEngines):
    async def odd(ctx: Any) -> AsyncIterator[Any]:
        yield {"type": ["message.completed"], "data": {}}

    engine = await tool_engines(odd)
    run = await wait_for_run(engine, await send(engine, breakpoints=("message.completed",)))
    assert (run.row.status_reason, run.all("pause.started")) == ("protocol.error", [])
