"""Rules for every call: it is recorded, masked and counted, and can be cancelled."""

import asyncio
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from engine.access import rate_limit
from engine.api import Engine
from engine.protocol import AgentAPIException
from engine.resources.catalog import ToolFact
from engine.resources.resource_set import ResourceSet
from engine.runtimes.inprocess import InProcessRuntime
from engine.store.errors import NotFound
from tests.support.engines import (
    FakeClock,
    FinishedRun,
    JournalEntry,
    declares,
    journal_bytes,
    journal_of,
    message,
    read_database,
    send,
    wait_for_entry,
    wait_for_run,
    wait_forever,
    write_runner,
)
from tests.support.own_and_foreign_data import AccessHarness, gather_results, own_message


class Watched:
    """A tool that reports what it sees when it is called, and waits on request."""

    def __init__(self) -> None:
        self.fact = ToolFact("watched", "test", "")
        self.called = asyncio.Event()
        self.crowded = asyncio.Event()
        """Set when 128 calls of it wait."""
        self.cancelled = asyncio.Event()
        self.released = asyncio.Event()
        self.given: list[Any] = []
        self.answer: Any = "done"
        self.look: Any = None
        self.seen: Any = None

    def detail(self) -> dict[str, Any]:
        return {"name": "watched", "description": "", "parameters": {}}

    async def call(self, parameters: Any) -> Any:
        self.given.append(parameters)
        self.called.set()
        if len(self.given) == 128:
            self.crowded.set()
        if self.look is not None:
            self.seen = self.look()
        try:
            if parameters.get("wait"):
                await self.released.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return self.answer


@pytest.fixture
def tool() -> Watched:
    return Watched()


@pytest.fixture
async def watching(tmp_path: Path, clock: FakeClock, tool: Watched):
    """Opens an engine for one runner with the tool granted: `engine = await watching(runner)`."""
    engines: list[Engine] = []

    async def opened(runner: Any, **config: Any) -> Engine:
        declares(
            capabilities={"tool_calling": True},
            permissions={"tools": ["call"], "history": ["page"]},
            config=[{"name": "api_key", "type": "string"}],
        )(runner)
        write_runner(tmp_path, runner)
        agent = {
            "id": "a",
            "runner": runner.__name__,
            "config": config,
            "resources": {"allowed_tool_names": ["watched"]},
        }
        (tmp_path / "trackside.yaml").write_text(json.dumps({"agents": [agent]}))
        engine = await Engine.open(
            tmp_path,
            db=tmp_path / "facts.db",
            runtime=InProcessRuntime({runner.__name__: runner}),
            clock=clock,
            resources=ResourceSet(tools=[tool]),
        )
        engines.append(engine)
        return engine

    yield opened
    for engine in engines:
        await engine.close()


def calls_of(run: FinishedRun) -> list[JournalEntry]:
    return [entry for entry in run.journal if entry.type.startswith("call.")]


# The journal


async def test_call_decision_and_reply_are_recorded_in_this_order(harness: AccessHarness):
    outcome = await harness.try_in_run(lambda ctx: ctx.api.state_set("conversation", "k", [1]))
    requested, decided, replied = calls_of(outcome.run)[:3]
    assert [(entry.source, entry.type) for entry in (requested, decided, replied)] == [
        ("runner", "call.requested"), ("host", "call.decided"), ("host", "call.replied"),
    ]  # fmt: skip
    arguments = {"run_id": outcome.run.run_id, "scope": "conversation", "key": "k", "value": [1]}
    assert requested.data == {"call_id": "c1", "action": "state_set", "arguments": arguments}
    clause = "state_policy.state_scopes has conversation"
    assert decided.data == {"call_id": "c1", "allowed": True, "clause": clause, "resource": "state:conversation"}
    assert replied.data == {"call_id": "c1", "reply": {}}


async def test_a_call_to_a_resource_is_committed_before_it_is_made(watching, tool: Watched):
    async def asks(ctx: Any):
        yield {
            "type": "message.completed",
            "data": {"message": {"role": "assistant", "content": await ctx.api.call_tool("watched", {})}},
        }

    engine = await watching(asks)

    def kinds(conn: Any) -> list[str]:
        return [row.type for row in conn.exec_driver_sql("SELECT type FROM journal ORDER BY row")]

    tool.look = lambda: read_database(engine, kinds)
    await wait_for_run(engine, await send(engine, message("go"), runner="a"))
    assert tool.seen == ["run.started", "call.requested", "call.decided"]


async def test_a_large_request_and_a_large_reply_are_kept_by_reference(harness: AccessHarness):
    large = "y" * 40_000

    async def work(ctx: Any) -> Any:
        await ctx.api.state_set("conversation", "k", large)
        return await ctx.api.state_get("conversation", "k")

    outcome = await harness.try_in_run(work)
    assert outcome.value == large
    requested, replied = outcome.run.all("call.requested")[0], outcome.run.all("call.replied")[1]
    assert "arguments" not in requested.data
    assert requested.data["arguments_size"] > 40_000
    assert "reply" not in replied.data
    assert replied.data["reply_size"] > 40_000
    run_id = outcome.run.row.run_id
    kept = json.loads(await harness.engine.runs.part(run_id, requested.data["arguments_ref"]))
    assert kept["value"] == large
    kept = json.loads(await harness.engine.runs.part(run_id, replied.data["reply_ref"]))
    assert kept == {"value": large}
    with pytest.raises(NotFound):
        await harness.engine.runs.part("run_other", replied.data["reply_ref"])
    refused = await harness.try_in_run(lambda ctx: ctx.api.artifact_read(replied.data["reply_ref"]))
    assert refused.error is not None
    assert refused.error.code == "not_found"


async def test_data_stored_by_reference_counts_for_the_journals_limit(
    harness: AccessHarness, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("engine.journal.recorder.JOURNAL_LIMIT", 300_000)

    async def work(ctx: Any) -> None:
        for number in count():
            await ctx.api.state_set("conversation", "k", f"{number}" * 100_000)

    event = own_message("fill it")
    harness._works[event.event_id] = work
    run = await wait_for_run(harness.engine, await send(harness.engine, event, runner="asks"))
    assert (run.row.status, run.row.status_reason) == ("failed", "journal.full")
    assert len(run.all("call.requested")) < 10


async def test_secrets_are_masked_in_recorded_calls_and_reach_the_resource(watching, tool: Watched):
    secret = "sk-0123456789"
    answers: list[str] = []
    tool.answer = f"you said {secret} " + "z" * 40_000

    async def asks(ctx: Any):
        answers.append(await ctx.api.call_tool("watched", {"key": secret}))
        yield {"type": "run.completed", "data": {}}

    engine = await watching(asks, api_key=secret)
    run_id = await send(engine, message("go"), runner="a")
    run = await wait_for_run(engine, run_id)
    assert answers == [tool.answer]
    assert tool.given == [{"key": secret}]
    assert run.one("call.requested").data["arguments"]["parameters"] == {"key": "‹secret api_key›"}
    kept = await engine.runs.part(run_id, run.one("call.replied").data["reply_ref"])
    assert "‹secret api_key›" in kept.decode()
    assert secret not in kept.decode() + repr(await journal_of(engine, run_id))


async def test_reply_too_large_for_a_frame_fails_as_payload_too_large(watching, tool: Watched):
    tool.answer = "x" * (16 << 20)
    seen: list[str] = []

    async def asks(ctx: Any):
        try:
            await ctx.api.call_tool("watched", {})
        except AgentAPIException as refusal:
            seen.append(refusal.error.code)
        yield {"type": "run.completed", "data": {}}

    engine = await watching(asks)
    run_id = await send(engine, message("go"), runner="a")
    run = await wait_for_run(engine, run_id)
    assert seen == ["payload_too_large"]
    assert run.one("call.replied").data["error"]["code"] == "payload_too_large"


# Cancels, the deadline, and the limit


async def test_call_cancelled_by_its_runner_is_stopped_and_recorded_as_cancelled(watching, tool: Watched):
    async def gives_up(ctx: Any):
        task = asyncio.create_task(ctx.api.call_tool("watched", {"wait": True}))
        await tool.called.wait()
        task.cancel()
        await asyncio.wait({task})
        await ctx.api.run_get()
        yield {"type": "run.completed", "data": {"finish_reason": "stop"}}

    engine = await watching(gives_up)
    run_id = await send(engine, message("go"), runner="a")
    run = await wait_for_run(engine, run_id)
    assert (run.row.status, tool.cancelled.is_set()) == ("completed", True)
    replied = run.all("call.replied")[0]
    assert (replied.outcome, replied.data["error"]["code"]) == ("failed", "cancelled")
    assert replied.data["cancelled_by"] == "runner"


async def test_stream_left_early_is_closed_and_its_delivered_chunks_are_recorded(harness: AccessHarness):
    async def work(ctx: Any) -> None:
        stream = ctx.api.invoke_llm_stream("m", [{"role": "user", "content": "hi"}])
        async for _ in stream:
            break
        await stream.aclose()

    outcome = await harness.try_in_run(work)
    assert len(outcome.run.frames()) == outcome.reply.data["streamed"]["frames"] == 1
    assert outcome.reply.data["error"]["code"] == "cancelled"
    assert outcome.reply.data["cancelled_by"] == "runner"


async def test_the_deadline_interrupts_calls_in_flight(watching, tool: Watched, clock: FakeClock):
    codes: list[str] = []

    async def waits(ctx: Any):
        async def ask() -> None:
            try:
                await ctx.api.call_tool("watched", {"wait": True})
            except AgentAPIException as refusal:
                codes.append(refusal.error.code)

        await asyncio.gather(*(ask() for _ in range(3)))
        yield {"type": "never.seen", "data": {}}
        await wait_forever()

    engine = await watching(waits, timeout=5)
    run_id = await send(engine, message("go"), runner="a")
    await tool.called.wait()
    clock.advance(6)
    run = await wait_for_run(engine, run_id)
    assert run.row.status == "timeout"
    assert codes == ["deadline_exceeded"] * 3
    assert [entry.data["error"]["code"] for entry in run.all("call.replied")] == ["deadline_exceeded"] * 3


async def test_at_most_128_calls_are_in_flight_and_finished_calls_make_room(watching, tool: Watched):
    counts: list[int] = []

    async def crowds(ctx: Any):
        tasks = [asyncio.create_task(ctx.api.call_tool("watched", {"wait": True})) for _ in range(130)]
        await tool.crowded.wait()
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        counts.append(len(done))
        tool.released.set()
        answers = await gather_results(*tasks)
        refused = [answer.error for answer in answers if isinstance(answer, AgentAPIException)]
        counts.extend((len(refused), len([error for error in refused if error.retryable])))
        counts.append(await ctx.api.call_tool("watched", {}) == "done")
        yield {"type": "run.completed", "data": {"finish_reason": "stop"}}

    engine = await watching(crowds)
    run_id = await send(engine, message("go"), runner="a")
    run = await wait_for_run(engine, run_id)
    assert run.row.status == "completed", run.finished
    assert counts == [2, 2, 2, True]
    refused = [entry for entry in run.all("call.decided") if entry.outcome == "refused"]
    assert {entry.data["clause"] for entry in refused} == {"128 calls are in flight; await some of them first"}


async def test_rate_limit_is_2_000_calls_per_second_and_refills_over_time(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr(rate_limit.time, "monotonic", lambda: now[0])
    bucket = rate_limit.RateLimit()
    assert [bucket.take() for _ in range(2_000)] == [None] * 2_000
    assert bucket.take() == "more than 2000 calls a second; slow down"
    now[0] += 0.5
    assert sum(bucket.take() is None for _ in range(1_100)) == 1_000
    now[0] += 3600
    assert sum(bucket.take() is None for _ in range(3_000)) == 2_000


async def test_each_run_has_its_own_rate_limit(harness: AccessHarness, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limit, "MAX_CALLS_PER_SECOND", 5)
    frozen = rate_limit.time.monotonic()
    monkeypatch.setattr(rate_limit.time, "monotonic", lambda: frozen)

    async def work(ctx: Any) -> list[bool]:
        answers = await gather_results(*(ctx.api.state_get("actor", "k") for _ in range(6)))
        return [isinstance(answer, AgentAPIException) for answer in answers]

    event = own_message("greedy")
    outcome: list[list[bool]] = []

    async def greedy(ctx: Any) -> None:
        outcome.append(await work(ctx))

    harness._works[event.event_id] = greedy
    run = await wait_for_run(harness.engine, await send(harness.engine, event, runner="asks"))
    assert run.row.status == "failed"  # its last call exceeded the limit too
    assert outcome == [[False] * 5 + [True]]

    async def modest(ctx: Any) -> Any:
        return await ctx.api.state_get("actor", "k")

    assert await harness.do_in_run(modest) is None


async def test_calls_of_one_run_are_answered_concurrently(watching, tool: Watched):
    order: list[str] = []

    async def mixes(ctx: Any):
        slow = asyncio.create_task(ctx.api.call_tool("watched", {"wait": True}))
        await tool.called.wait()
        await ctx.api.history_page()
        order.append("quick")
        tool.released.set()
        await slow
        order.append("slow")
        yield {"type": "run.completed", "data": {}}

    engine = await watching(mixes)
    run_id = await send(engine, message("go"), runner="a")
    await wait_for_entry(engine, run_id, "run.finished")
    assert order == ["quick", "slow"]


# What is recorded


async def test_sixteen_token_counts_of_one_conversation_take_the_bytes_of_one(harness: AccessHarness):
    messages = [{"role": "user", "content": f"{number} " + "x" * 200} for number in range(500)]

    async def count(ctx: Any, times: int) -> None:
        for _ in range(times):
            await ctx.api.count_tokens("m", messages)

    def taken(run: FinishedRun) -> int:
        def query(conn: Any) -> int:
            journal = conn.exec_driver_sql("SELECT sum(length(data)) FROM journal WHERE run_id = ?", (run.run_id,))
            used = "SELECT sum(length(content)) FROM parts JOIN part_uses USING (digest) WHERE run_id = ?"
            return journal.scalar_one() + conn.exec_driver_sql(used, (run.run_id,)).scalar_one()

        return read_database(harness.engine, query)

    once = await harness.try_in_run(lambda ctx: count(ctx, 1))
    often = await harness.try_in_run(lambda ctx: count(ctx, 16))
    assert taken(once.run) > 100_000
    assert taken(often.run) <= 2 * taken(once.run)


async def test_size_of_a_journal_has_its_references_to_parts(harness: AccessHarness):
    messages = [{"role": "user", "content": f"{number} " + "x" * 200} for number in range(500)]

    outcome = await harness.try_in_run(lambda ctx: ctx.api.count_tokens("m", messages))

    assert any(name.endswith("_ref") for entry in outcome.run.all("call.requested") for name in entry.data)
    assert outcome.run.row.journal_bytes == journal_bytes(harness.engine, outcome.run)


async def test_reply_that_crosses_a_cancel_is_recorded_as_cancelled_by_the_runner(harness: AccessHarness):
    async def work(ctx: Any) -> None:
        call = ctx.api._caller._sink.request("run_get", {"run_id": ctx.run_id})
        await call.answer()
        call.cancel()
        call.close()

    outcome = await harness.try_in_run(work)
    first, second, *_ = outcome.run.all("call.replied")
    assert first.data["reply"]
    assert second.data == {"call_id": "c1", "cancelled_by": "runner"}
