"""Holds at a model's answer, whole or streamed, and at pulls."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.api import CannotHold, Stage
from tests.engine.holding import ASKED, House, answer_of, reached
from tests.support import done, message, played, send

# A model's answer


async def test_a_models_whole_answer_can_be_edited(house: House):
    async def talks(ctx: Any) -> AsyncIterator[Any]:
        yield done((await ctx.api.invoke_llm("m", ASKED)).content)

    engine = await house(talks)
    run_id = await send(engine, holds=("model",))
    await reached(engine, run_id)
    await engine.step(run_id)
    held = await reached(engine, run_id, 2)
    assert held.original == {"message": {"role": "assistant", "content": "it will rain"}, "usage": {"total_tokens": 3}}
    await engine.edit_held(run_id, {"message": {"role": "assistant", "content": "it will snow"}})
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == "it will snow"


async def streams(ctx: Any) -> AsyncIterator[Any]:
    """Says each piece of the model's answer."""
    yield done("|".join([chunk.content async for chunk in ctx.api.invoke_llm_stream("m", ASKED)]))


async def streamed(house: House) -> tuple[Any, str]:
    """A run whose streamed answer is held as a whole."""
    engine = await house(streams)
    run_id = await send(engine, holds=("model",))
    await reached(engine, run_id)
    await engine.step(run_id)
    await reached(engine, run_id, 2)
    return engine, run_id


async def test_a_streamed_answer_is_gathered_and_flows_as_it_came_when_released(house: House):
    engine, run_id = await streamed(house)
    held = await engine.held(run_id)
    frames = [*({"chunk": {"role": "assistant", "content": word}} for word in ("it ", "will ", "rain"))]
    assert held.original == {"frames": [*frames, {"usage": {"total_tokens": 3}}]}
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == "it |will |rain"
    assert run.one("call.replied").data["reply"] == held.original


async def test_an_edited_message_goes_as_one_chunk_of_the_stream(house: House):
    engine, run_id = await streamed(house)
    await engine.edit_held(run_id, {"message": {"role": "assistant", "content": "it will snow"}})
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == "it will snow"
    chunk = {"role": "assistant", "content": "it will snow", "is_final": True}
    assert run.one("call.replied").data["reply"] == {"frames": [{"chunk": chunk}]}


async def test_edited_frames_go_as_they_are(house: House):
    engine, run_id = await streamed(house)
    pieces = [{"chunk": {"role": "assistant", "content": word}} for word in ("a", "b")]
    await engine.edit_held(run_id, {"frames": pieces})
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == "a|b"


async def test_a_stream_that_is_answered_before_it_is_made_is_not_made(house: House):
    engine = await house(streams)
    run_id = await send(engine, holds=("invoke_llm_stream",))
    await reached(engine, run_id)
    await engine.edit_held(run_id, {"message": {"role": "assistant", "content": "nothing"}})
    await engine.release(run_id)

    assert answer_of(await played(engine, run_id)) == "nothing"
    assert house.model.asked == 0


async def test_a_stream_that_breaks_off_is_held_with_what_came_and_breaks_off_when_released(house: House):
    house.model.breaks_off = True
    engine, run_id = await streamed(house)
    held = await engine.held(run_id)
    assert (len(held.original["frames"]), held.original["error"]["message"]) == (1, "the line went dead")
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert run.finished["error"] == "AgentAPIException: the line went dead"
    assert len(run.one("call.replied").data["reply"]["frames"]) == 1


# Pulls


async def pulls(ctx: Any) -> AsyncIterator[Any]:
    """Says what it was told."""
    found = await ctx.api.steering_pull()
    yield done("|".join(item.input.to_text() for item in found.items))


async def test_what_is_sent_and_edited_while_a_pull_is_held_is_in_it(house: House):
    engine = await house(pulls)
    run_id = await send(engine, message("go"), holds=("pull",))
    held = await reached(engine, run_id)
    assert (held.stage, held.action) == (Stage.BEFORE, "steering_pull")

    first = await engine.submit(message("in feet"))
    second = await engine.submit(message("and short"))
    await engine.edit_item(first.item_id, "in metres")
    await engine.move_item(second.item_id, before=first.item_id)
    await engine.release(run_id)

    run = await played(engine, run_id)
    assert answer_of(run) == "and short|in metres"
    assert run.types.index("hold.released") < run.types.index("steering.pulled")


async def test_a_pull_is_never_held_behind_what_it_took(house: House):
    engine = await house(pulls)
    run_id = await send(engine, message("go"), holds=("pull",))
    await reached(engine, run_id)
    await engine.submit(message("in feet"))
    await engine.step(run_id)

    held = await reached(engine, run_id, 2)
    assert (held.stage, held.type) == (Stage.RESULT, "run.completed")
    await engine.release(run_id)
    assert answer_of(await played(engine, run_id)) == "in feet"


async def test_a_pull_takes_what_waits_so_its_answer_cannot_be_edited(house: House):
    engine = await house(pulls)
    run_id = await send(engine, message("go"), holds=("pull",))
    await reached(engine, run_id)
    with pytest.raises(CannotHold, match="a pull takes what waits in the queue"):
        await engine.edit_held(run_id, {"items": []})
    await engine.release(run_id)
    assert (await played(engine, run_id)).row.status == "completed"
