"""Breakpoints at model replies, whole or streamed, and at pulls."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.api import BreakpointError, PauseStage
from tests.support.engines import done, message, send, wait_for_run
from tests.support.paused_runs import MODEL_REQUEST, ToolEngines, final_text, wait_for_pause

# A model's reply


async def test_reply_of_a_model_can_be_edited(tool_engines: ToolEngines):
    async def talks(ctx: Any) -> AsyncIterator[Any]:
        yield done((await ctx.api.invoke_llm("m", MODEL_REQUEST)).content)

    engine = await tool_engines(talks)
    run_id = await send(engine, breakpoints=("model",))
    await wait_for_pause(engine, run_id)
    await engine.runs.step(run_id)
    held = await wait_for_pause(engine, run_id, 2)
    assert held.original == {"message": {"role": "assistant", "content": "it will rain"}, "usage": {"total_tokens": 3}}
    await engine.runs.edit_reply(run_id, {"message": {"role": "assistant", "content": "it will snow"}})
    await engine.runs.continue_run(run_id)

    assert final_text(await wait_for_run(engine, run_id)) == "it will snow"


async def streams(ctx: Any) -> AsyncIterator[Any]:
    """Sends each chunk of the model's reply."""
    yield done("|".join([chunk.content async for chunk in ctx.api.invoke_llm_stream("m", MODEL_REQUEST)]))


async def streamed(tool_engines: ToolEngines) -> tuple[Any, str]:
    """A run that is paused at its whole streamed reply."""
    engine = await tool_engines(streams)
    run_id = await send(engine, breakpoints=("model",))
    await wait_for_pause(engine, run_id)
    await engine.runs.step(run_id)
    await wait_for_pause(engine, run_id, 2)
    return engine, run_id


async def test_streamed_reply_is_collected_and_passed_on_unchanged_when_continued(tool_engines: ToolEngines):
    engine, run_id = await streamed(tool_engines)
    held = await engine.runs.current_pause(run_id)
    frames = [*({"chunk": {"role": "assistant", "content": word}} for word in ("it ", "will ", "rain"))]
    assert held.original == {"frames": [*frames, {"usage": {"total_tokens": 3}}]}
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert final_text(run) == "it |will |rain"
    assert run.frames() == held.original["frames"]


async def test_edited_streamed_message_is_sent_as_one_chunk(tool_engines: ToolEngines):
    engine, run_id = await streamed(tool_engines)
    await engine.runs.edit_reply(run_id, {"message": {"role": "assistant", "content": "it will snow"}})
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert final_text(run) == "it will snow"
    chunk = {"role": "assistant", "content": "it will snow", "is_final": True}
    assert run.frames() == [{"chunk": chunk}]


async def test_edited_frames_are_sent_unchanged(tool_engines: ToolEngines):
    engine, run_id = await streamed(tool_engines)
    pieces = [{"chunk": {"role": "assistant", "content": word}} for word in ("a", "b")]
    await engine.runs.edit_reply(run_id, {"frames": pieces})
    await engine.runs.continue_run(run_id)

    assert final_text(await wait_for_run(engine, run_id)) == "a|b"


async def test_stream_with_an_edited_reply_is_not_made(tool_engines: ToolEngines):
    engine = await tool_engines(streams)
    run_id = await send(engine, breakpoints=("invoke_llm_stream",))
    await wait_for_pause(engine, run_id)
    await engine.runs.edit_reply(run_id, {"message": {"role": "assistant", "content": "nothing"}})
    await engine.runs.continue_run(run_id)

    assert final_text(await wait_for_run(engine, run_id)) == "nothing"
    assert tool_engines.model.calls == 0


async def test_failing_stream_is_paused_with_its_chunks_and_fails_when_continued(
    tool_engines: ToolEngines,
):
    tool_engines.model.fails_midway = True
    engine, run_id = await streamed(tool_engines)
    held = await engine.runs.current_pause(run_id)
    assert (len(held.original["frames"]), held.original["error"]["message"]) == (1, "the line went dead")
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert run.finished["error"] == "AgentAPIException: the line went dead"
    assert len(run.frames()) == 1


# Pulls


async def pulls(ctx: Any) -> AsyncIterator[Any]:
    """Sends the messages that it pulled."""
    found = await ctx.api.steering_pull()
    yield done("|".join(item.input.to_text() for item in found.items))


async def test_messages_sent_and_edited_while_a_pull_is_paused_are_in_it(tool_engines: ToolEngines):
    engine = await tool_engines(pulls)
    run_id = await send(engine, message("go"), breakpoints=("steering",))
    held = await wait_for_pause(engine, run_id)
    assert (held.stage, held.action) == (PauseStage.BEFORE, "steering_pull")

    first = await engine.runs.submit(message("in feet"))
    second = await engine.runs.submit(message("and short"))
    await engine.queue.edit(first.item_id, "in metres")
    await engine.queue.move(second.item_id, before=first.item_id)
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert final_text(run) == "and short|in metres"
    assert run.types.index("pause.ended") < run.types.index("steering.pulled")


async def test_pull_is_paused_only_before_it_takes_messages(tool_engines: ToolEngines):
    engine = await tool_engines(pulls)
    run_id = await send(engine, message("go"), breakpoints=("steering",))
    await wait_for_pause(engine, run_id)
    await engine.runs.submit(message("in feet"))
    await engine.runs.step(run_id)

    held = await wait_for_pause(engine, run_id, 2)
    assert (held.stage, held.type) == (PauseStage.RESULT, "run.completed")
    await engine.runs.continue_run(run_id)
    assert final_text(await wait_for_run(engine, run_id)) == "in feet"


async def test_reply_of_a_pull_cannot_be_edited(tool_engines: ToolEngines):
    engine = await tool_engines(pulls)
    run_id = await send(engine, message("go"), breakpoints=("steering",))
    await wait_for_pause(engine, run_id)
    with pytest.raises(BreakpointError, match="steering_pull returns the queued messages"):
        await engine.runs.edit_reply(run_id, {"items": []})
    await engine.runs.continue_run(run_id)
    assert (await wait_for_run(engine, run_id)).row.status == "completed"
