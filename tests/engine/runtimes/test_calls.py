"""The run-scoped API over the wire: concurrent calls, streams and refusals."""

import asyncio
from typing import Any

from engine.protocol import AgentAPIException, ErrorCode
from engine.runtimes.answers import Answers
from engine.runtimes.runtime import EndKind
from tests.support.fake_call import FakeCall
from tests.support.limits import MAX_WAIT_SECONDS


async def test_call_returns_the_data_of_its_reply(harness):
    launch = harness.launch("async def run(ctx):\n    yield await ctx.api.state_get('runner', 'key')")
    execution, sink = await harness.begin(launch)
    sink.answer = lambda action, data: {"value": {"big": "é" * 100_000}}
    assert (await execution.ended()).how is EndKind.ENDED
    assert sink.calls == [("state_get", {"run_id": "run_1", "scope": "runner", "key": "key"})]
    assert sink.results == [{"big": "é" * 100_000}]


async def test_many_calls_are_in_flight_and_answered_in_any_order(harness):
    launch = harness.launch(
        """
        import asyncio

        async def run(ctx):
            yield await asyncio.gather(*(ctx.api.state_get("runner", str(n)) for n in range(50)))
        """
    )
    execution, sink = await harness.begin(launch)
    all_asked = asyncio.Event()

    async def answer(data):
        if len(sink.calls) == 50:
            all_asked.set()
        await all_asked.wait()
        for _ in range(50 - int(data["key"])):
            await asyncio.sleep(0)
        return {"value": int(data["key"]) * 2}

    sink.answer = lambda action, data: answer(data)
    await execution.ended()
    assert sink.results == [[n * 2 for n in range(50)]]


async def test_a_stream_of_chunks_arrives_and_may_be_left_early(harness):
    launch = harness.launch(
        """
        async def run(ctx):
            chunks = ctx.api.invoke_llm_stream("m", [{"role": "user", "content": "hi"}])
            yield [chunk.content async for chunk in chunks]
            async for chunk in (endless := ctx.api.invoke_llm_stream("endless", [])):
                break
            await endless.aclose()
            await ctx.api.state_get("runner", "wait")
        """
    )
    execution, sink = await harness.begin(launch)
    stopped = asyncio.Event()

    async def chunks(model):
        try:
            for text in ("one", "two", "three"):
                yield {"chunk": {"role": "assistant", "content": text}}
            while model == "endless":
                yield {"chunk": {"role": "assistant", "content": "more"}}
                await asyncio.sleep(0)
        finally:
            if model == "endless":
                stopped.set()

    async def wait():
        await stopped.wait()
        return {"value": 1}

    sink.answer = lambda action, data: chunks(data["model_id"]) if action == "invoke_llm_stream" else wait()
    ending = await asyncio.wait_for(execution.ended(), MAX_WAIT_SECONDS)
    assert (ending.how, ending.message) == (EndKind.ENDED, "")
    assert sink.results == [["one", "two", "three"]]


async def test_refusal_raises_the_exception_of_the_contract(harness):
    launch = harness.launch(
        """
        from engine.protocol import AgentAPIException

        async def run(ctx):
            for key in ("refused", "broken", "unsendable"):
                try:
                    await ctx.api.state_get("runner", key)
                except AgentAPIException as error:
                    yield [error.error.code, error.error.message]
            try:
                await ctx.api.state_set("runner", "k", float("nan"))
            except AgentAPIException as error:
                yield error.error.code
        """
    )
    execution, sink = await harness.begin(launch)
    contexts = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: contexts.append(context))

    def answer(action, data):
        if data["key"] == "refused":
            raise AgentAPIException.of(ErrorCode.UNAUTHORIZED, "not yours")
        if data["key"] == "broken":
            raise KeyError("a bug of ours")
        return {"value": float("nan")}

    sink.answer = answer
    await execution.ended()
    assert sink.results[0] == ["unauthorized", "not yours"]
    assert sink.results[1][0] == "runtime_error"
    assert sink.results[2][0] == "payload_too_large"
    assert sink.results[3] == "invalid_argument"


async def test_call_cancelled_by_the_runner_is_cancelled_at_the_host(harness):
    launch = harness.launch(
        """
        import asyncio

        async def run(ctx):
            slow = asyncio.ensure_future(ctx.api.state_get("runner", "slow"))
            await ctx.api.state_get("runner", "sign that the slow call has arrived")
            slow.cancel()
            yield "gave up"
            yield await ctx.api.state_get("runner", "quick")
        """
    )
    execution, sink = await harness.begin(launch)
    has_arrived, taken_back = asyncio.Event(), asyncio.Event()

    async def answer(key):
        if key == "slow":
            has_arrived.set()
        try:
            await {"slow": asyncio.Event(), "quick": taken_back}.get(key, has_arrived).wait()
        except asyncio.CancelledError:
            taken_back.set()
            raise
        return {"value": "fine"}

    sink.answer = lambda action, data: answer(data["key"])
    await asyncio.wait_for(execution.ended(), MAX_WAIT_SECONDS)
    assert sink.results == ["gave up", "fine"]


async def test_calls_in_flight_end_with_the_run(harness):
    launch = harness.launch(
        "import asyncio\nasync def run(ctx):\n    run.t = asyncio.create_task(ctx.api.state_get('runner', 'k'))\n"
        "    await asyncio.sleep(0)\n    yield 1"
    )
    execution, sink = await harness.begin(launch)
    ended = asyncio.Event()

    async def answer():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    sink.answer = lambda action, data: answer()
    assert (await execution.ended()).how is EndKind.ENDED
    if sink.answered:
        await asyncio.wait_for(ended.wait(), MAX_WAIT_SECONDS)


async def test_calls_from_a_thread_with_its_own_event_loop_are_answered(harness):
    launch = harness.launch(
        """
        import asyncio

        async def run(ctx):
            async def ask():
                return await ctx.api.state_get("runner", "key")

            yield await asyncio.to_thread(asyncio.run, ask())
        """
    )

    execution, sink = await harness.begin(launch)
    sink.answer = lambda action, data: {"value": "told"}
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await execution.ended()

    assert sink.results == ["told"]


async def test_cancel_of_an_answered_call_is_reported(sink):
    calls: list[FakeCall] = []

    def request(action: str, data: Any) -> FakeCall:
        calls.append(FakeCall(dict))
        return calls[-1]

    class Pipe:
        room = asyncio.Event()

        def write(self, line: bytes) -> bool:
            return True

    Pipe.room.set()
    sink.request = request
    answers = Answers(sink, Pipe())  # type: ignore[arg-type]
    answers.take(1, "run_get", {})
    await asyncio.wait_for(calls[0].closed.wait(), MAX_WAIT_SECONDS)
    answers.take(0, "__cancel_action", {"seq_id": 1})

    assert calls[0].is_cancelled
