"""Calls of models, tools, knowledge bases, files and the prompt: they pass the gate and reach the granted resource."""

import base64
from typing import Any

import pytest

from tests.support.own_and_foreign_data import AccessHarness, collect, write_file

HELLO = [{"role": "user", "content": "hi"}]


async def test_model_reply_is_a_message_and_its_usage_is_seen_by_the_host(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        first = await ctx.api.invoke_llm("m", HELLO, funcs=[{"name": "f"}], extra_args={"temperature": 0})
        await ctx.api.invoke_llm("m", HELLO)
        return first

    outcome = await harness.try_in_run(work)
    assert (outcome.value.role, outcome.value.content) == ("assistant", "sunny today")
    assert outcome.run.row.usage == {"seen": {"total_tokens": 14}}
    assert outcome.run.all("call.decided")[0].data == {
        "call_id": "c1",
        "allowed": True,
        "clause": "permissions.models and the runner's config",
        "resource": "model:m",
    }


async def test_usage_seen_by_the_host_and_claimed_by_the_runner_are_never_added(harness: AccessHarness):
    async def ask_twice(ctx: Any) -> Any:
        for _ in range(2):
            await ctx.api.invoke_llm("m", HELLO)
        return (await ctx.api.run_get()).usage

    harness.claim = {"total_tokens": 9}
    outcome = await harness.try_in_run(ask_twice)

    figures = {"seen": {"total_tokens": 14}, "claimed": {"total_tokens": 9}}
    assert outcome.run.row.usage == outcome.run.finished["usage"] == figures
    # A runner reads the figure that it claims, of this run and of others.
    assert outcome.value is None
    listed = await harness.do_in_run(lambda ctx: ctx.api.run_list(statuses=["completed"]))
    assert [run.usage for run in listed.items] == [{"total_tokens": 9}]


async def test_model_reply_is_streamed_in_chunks_and_its_usage_counts(harness: AccessHarness):
    outcome = await harness.try_in_run(lambda ctx: collect(ctx.api.invoke_llm_stream("m", HELLO)))
    assert len(outcome.value) > 1
    assert "".join(chunk.content or "" for chunk in outcome.value) == "sunny today"
    assert outcome.run.row.usage == {"seen": {"total_tokens": 7}}
    frames = outcome.run.frames()
    assert outcome.reply.data["streamed"]["frames"] == len(frames)
    assert outcome.reply.data["streamed"]["usage"] == {"total_tokens": 7}
    assert [frame["chunk"]["content"] for frame in frames] == [chunk.content for chunk in outcome.value]
    assert frames[-1]["usage"] == {"total_tokens": 7}


async def test_documents_are_reranked_and_tokens_counted(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        ranked = await ctx.api.invoke_rerank("rank", "red fish", ["blue", "red fish", "red"], top_k=2)
        return ranked, await ctx.api.count_tokens("m", HELLO)

    ranked, tokens = await harness.do_in_run(work)
    assert [result["index"] for result in ranked] == [1, 2]
    assert tokens > 0


async def test_64_documents_can_be_reranked(harness: AccessHarness):
    assert len(await harness.do_in_run(lambda ctx: ctx.api.invoke_rerank("rank", "d", ["d"] * 64))) == 64


async def test_a_tool_is_described_and_called(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        return await ctx.api.get_tool_detail("weather"), await ctx.api.call_tool("weather", {"city": "Berlin"})

    outcome = await harness.try_in_run(work)
    detail, result = outcome.value
    assert (detail["name"], detail["description"]) == ("weather", "The sky.")
    assert result == {"sky": "blue"}
    assert outcome.decision.data["clause"] == "permissions.tools and resource_policy.allowed_tool_names"


async def test_knowledge_is_listed_and_retrieved(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        return await ctx.api.list_knowledge_bases(), await ctx.api.retrieve_knowledge("notes", "umbrella", 3)

    bases, passages = await harness.do_in_run(work)
    assert [base["kb_id"] for base in bases] == ["notes"]
    assert [passage["id"] for passage in passages] == ["d"]


@pytest.mark.parametrize(
    ("failure", "code", "retryable", "details"),
    [
        ({"error": "out of order"}, "runtime_error", False, {}),
        ({"status": 429, "retry_after": 2}, "rate_limited", True, {"status": 429, "retry_after": 2}),
    ],
)
async def test_failing_resource_raises_the_api_exception(
    open_engine, failure: Any, code: str, retryable: bool, details: Any
):
    harness = AccessHarness(open_engine)
    harness.resources = {"tools": [{"name": "weather", "kind": "scripted", "otherwise": failure}]}
    await harness.open()
    outcome = await harness.try_in_run(lambda ctx: ctx.api.call_tool("weather", {}))
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable, outcome.error.details) == (code, retryable, details)
    assert (outcome.reply.outcome, outcome.reply.data["error"]["code"]) == ("failed", code)
    assert outcome.decision.data["allowed"] is True


async def test_failing_stream_yields_its_chunks_and_then_raises(open_engine):
    harness = AccessHarness(open_engine)
    broken = {"text": "one two three four", "cut_after": 2}
    harness.resources = {"models": [{"id": "m", "kind": "scripted", "otherwise": broken}]}
    await harness.open()
    seen: list[str] = []

    async def work(ctx: Any) -> None:
        async for chunk in ctx.api.invoke_llm_stream("m", HELLO):
            seen.append(chunk.content)  # noqa: PERF401  (it raises in the middle)

    outcome = await harness.try_in_run(work)
    assert len(seen) == 2
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable) == ("runtime_error", True)
    assert len(outcome.run.frames()) == outcome.reply.data["streamed"]["frames"] == 2
    assert outcome.reply.data["error"]["message"] == "the stream broke after 2 pieces"


async def test_file_named_in_config_is_read_from_the_file_roots(harness: AccessHarness):
    write_file(harness.files / "notes.txt", b"\x00\xff notes")
    outcome = await harness.try_in_run(lambda ctx: ctx.api.get_file("notes.txt"))
    assert outcome.value == b"\x00\xff notes"
    assert outcome.decision.data["clause"] == "permissions.files and the runner's config"
    assert base64.b64decode(outcome.reply.data["reply"]["file_base64"]) == b"\x00\xff notes"


async def test_file_deleted_during_the_run_is_not_found(harness: AccessHarness):
    path = write_file(harness.files / "notes.txt", b"notes")

    def after_it_was_deleted(ctx):
        path.unlink()
        return ctx.api.get_file("notes.txt")

    outcome = await harness.try_in_run(after_it_was_deleted)
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == (
        "not_found",
        "no file 'notes.txt' under the project's file_roots",
    )


async def test_prompt_and_version_come_from_the_host(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        return await ctx.api.get_prompt(), await ctx.api.get_langbot_version()

    prompt, version = await harness.do_in_run(work)
    assert [(message.role, message.content) for message in prompt] == [("system", "Be kind.")]
    assert version.startswith("trackside ")


async def test_run_get_returns_the_state_of_the_run(harness: AccessHarness):
    async def work(ctx: Any) -> Any:
        return ctx, await ctx.api.run_get()

    outcome = await harness.try_in_run(work)
    ctx, record = outcome.value
    assert (record.run_id, record.status, record.event_id) == (ctx.run_id, "running", ctx.event.event_id)
    assert (record.conversation_id, record.thread_id, record.bot_id, record.workspace_id) == ("ours", "t1", "b1", "w1")
    assert (record.runner_id, record.agent_id) == ("plugin:local/asks/default", "asks")
    assert record.cancel_requested_at is None
    assert record.deadline_at == 1767323345.0
