"""Going on from an earlier line: a fork is a session like any other, and its parent never hears of it."""

import asyncio
from typing import Any

import pytest

from engine.api import NotFound
from tests.support import (
    Engines,
    FakeClock,
    Stage,
    declares,
    delta,
    done,
    kept,
    lines_of,
    message,
    perform,
    played,
    said,
    send,
    until,
    waits,
)


async def seq_of(engine: Any, content: str, session: str = "s") -> int:
    (line,) = [line for line in await engine.transcript(session, after=0) if line.content == content]
    return line.seq


async def talk(play: Stage, clock: FakeClock) -> None:
    """Two exchanges, a second apart, and a state that follows them."""
    for number in (1, 2):
        clock.advance(1)
        await play(kept("mood", f"{number}"), done(f"answer {number}"), event=message(f"question {number}"))


async def test_a_run_in_a_fork_sees_the_copied_history_and_state(open_engine: Engines, clock: FakeClock):
    seen: dict[str, Any] = {}

    @declares(permissions={"history": ["page", "search"]})
    async def remembers(ctx: Any):
        page = await ctx.api.history_page(before_cursor=ctx.context.latest_cursor)
        seen.update(
            history=[(item.role, item.content) for item in page.items],
            conversations={item.conversation_id for item in page.items},
            found=[item.content for item in (await ctx.api.history_search("question")).items],
            state=ctx.state.conversation,
            mood=await ctx.api.state_get("conversation", "mood"),
            number=await ctx.api.state_get("conversation", "conversation_id"),
        )
        yield kept("mood", ctx.input.to_text())
        yield done(f"answer to {ctx.input.to_text()}")

    engine = await open_engine(remembers)
    for number in (1, 2):
        clock.advance(1)
        await perform(engine, f"question {number}")
    clock.advance(1)

    child = (await engine.fork_session("s", at=await seq_of(engine, "answer to question 1"))).session_id
    run = await perform(engine, message("and now?", session=child))

    assert run.row.status == "completed"
    assert seen["history"] == [("assistant", "answer to question 1"), ("user", "question 1")]
    assert seen["conversations"] == {child}
    assert seen["found"] == ["answer to question 1", "question 1"]
    assert seen["state"] == {"mood": "question 1", "external.conversation_id": child}
    assert (seen["mood"], seen["number"]) == ("question 1", child)
    assert [content for _, content in await lines_of(engine, child)] == [
        "question 1",
        "answer to question 1",
        "and now?",
        "answer to and now?",
    ]
    at_start = (await engine.state_at(run.run_id, 1))["conversation"]["mood"]
    assert (at_start.value, at_start.editor, at_start.run_id) == ("question 1", "fork", None)


async def test_what_happens_in_a_fork_stays_there(play: Stage, clock: FakeClock):
    await talk(play, clock)
    before = await lines_of(play.engine), [(row.key, row.value) for row in await play.engine.state()]

    child = await play.engine.fork_session("s", title="What if")
    await play(kept("mood", "other"), done("elsewhere"), event=message("go", session=child.session_id))
    await play.engine.delete_session(child.session_id)

    assert (await lines_of(play.engine), [(row.key, row.value) for row in await play.engine.state()]) == before


async def test_a_fork_lives_on_without_its_parent(play: Stage, clock: FakeClock):
    await talk(play, clock)
    child = await play.engine.fork_session("s", at=await seq_of(play.engine, "answer 1"))

    await play.engine.delete_session("s")

    assert [content for _, content in await lines_of(play.engine, child.session_id)] == ["question 1", "answer 1"]
    assert [(row.key, row.value, row.editor) for row in await play.engine.state()] == [("mood", "1", "fork")]
    assert child.title == "question 1 (fork)"
    assert child.metadata["forked_from"] == "s"


async def test_a_session_can_be_forked_while_its_run_works(open_engine: Engines, clock: FakeClock):
    goes_on = asyncio.Event()

    async def works(ctx: Any):
        yield said("on disk")
        yield kept("step", 1)
        yield delta("not yet a line")
        await goes_on.wait()
        yield kept("step", 2)
        yield done("later")

    engine = await open_engine(works)
    run_id = await send(engine)
    await until(engine, run_id, "message.delta")

    child = (await engine.fork_session("s")).session_id
    clock.advance(1)
    goes_on.set()
    run = await played(engine, run_id)

    assert run.row.status == "completed"
    assert [content for _, content in await lines_of(engine, child)] == ["hi", "on disk"]
    assert [(row.key, row.value) for row in await engine.state(conversation_id=child)] == [("step", 1)]


async def test_a_reader_may_fork_beside_a_live_host(open_engine: Engines):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    await send(host)

    child = await reader.fork_session("s")

    assert await lines_of(host, child.session_id) == [("user", "hi")]


async def test_the_transcript_of_a_fork_of_a_bots_conversation_is_there_before_its_first_run(play: Stage):
    await play(done("x"), event=message(bot_id="bot", workspace_id="work"))

    child = await play.engine.fork_session("s")

    assert await lines_of(play.engine, child.session_id) == [("user", "hi"), ("assistant", "x")]


async def test_a_fork_at_a_line_that_the_session_does_not_have_makes_nothing(play: Stage):
    await play(done("x"))
    await play(done("y"), event=message(session="other"))
    foreign = await seq_of(play.engine, "y", "other")

    for at in (foreign, "nowhere"):
        with pytest.raises(NotFound, match=f"s has no line {at}"):
            await play.engine.fork_session("s", at=at)
    with pytest.raises(NotFound, match="no session nobody"):
        await play.engine.fork_session("nobody")
    assert {session.session_id for session in await play.engine.sessions()} == {"s", "other"}
