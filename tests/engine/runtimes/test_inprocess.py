"""The in-process runtime for unit tests and benchmarks."""

import asyncio
from pathlib import Path

import pytest

from engine.protocol import AgentRunner, AgentRunResult, MessageChunk
from engine.runtimes.inprocess import InProcessRuntime
from engine.runtimes.runtime import EndKind, Launch, RuntimeProblem


def launch(name: str) -> Launch:
    return Launch(path=Path(f"{name}.py"), attr=None, folder=Path(), cwd=Path())


class Talker(AgentRunner):
    async def run(self, ctx):
        yield AgentRunResult.message_delta(ctx.run_id, MessageChunk(role="assistant", content="hi"))
        yield {"type": "state", "data": await ctx.api.state_get("runner", "k")}
        yield {"type": "bad", "data": float("nan")}


async def sleeper(ctx):
    try:
        yield {"type": "asleep"}
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        yield {"type": "woken"}
        raise


async def broken(ctx):
    yield {"type": "x"}
    raise ValueError("no")


RUNNERS = {"talker": Talker, "sleeper": sleeper, "broken": broken}


async def begin(name, sink, run_context):
    reserved = await InProcessRuntime(RUNNERS).reserve(launch(name))
    return await reserved.begin("run_1", run_context({}), sink)


async def test_results_are_converted_like_json(sink, run_context):
    sink.answer = lambda action, data: {"value": 5}
    execution = await begin("talker", sink, run_context)
    assert (await execution.ended()).how is EndKind.ENDED
    assert [result["type"] for result in sink.results] == ["message.delta", "state"]
    assert sink.results[1] == {"type": "state", "data": 5}
    assert sink.sizes[1] == len('{"type":"state","data":5}')
    assert "NaN" in sink.faults[0][0]


async def test_cancel_and_kill_reach_the_runner(sink, run_context):
    for stop in ("cancel", "kill"):
        sink.results.clear()
        execution = await begin("sleeper", sink, run_context)
        await sink.until(lambda: sink.results)
        if stop == "cancel":
            execution.cancel()
        else:
            await execution.kill()
        assert (await execution.ended()).how is EndKind.CANCELLED
        assert sink.results[-1] == {"type": "woken"}


async def test_an_exception_ends_the_run_with_its_traceback(sink, run_context):
    ending = await (await begin("broken", sink, run_context)).ended()
    assert (ending.how, ending.message) == (EndKind.RAISED, "ValueError: no")
    assert "test_inprocess.py" in ending.traceback
    assert "engine/runtimes/inprocess" not in ending.traceback


async def test_a_full_sink_makes_the_runner_wait(sink, run_context):
    sink.full = True
    sink.answer = lambda action, data: {"value": 5}
    execution = await begin("talker", sink, run_context)
    await sink.until(lambda: sink.waiting_for_room)
    assert len(sink.results) == 1
    sink.make_room()
    assert (await execution.ended()).how is EndKind.ENDED


async def test_closing_ends_runs_in_progress(sink, run_context):
    runtime = InProcessRuntime(RUNNERS)
    execution = await (await runtime.reserve(launch("sleeper"))).begin("run_1", run_context({}), sink)
    await sink.until(lambda: sink.results)
    await runtime.close()
    assert (await execution.ended()).how is EndKind.CANCELLED


async def test_unknown_runner_raises_an_error(sink, run_context):
    with pytest.raises(RuntimeProblem, match="'nobody'"):
        await begin("nobody", sink, run_context)
