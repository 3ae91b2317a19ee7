"""Forks: a fork is an ordinary session and does not affect its parent."""

import asyncio
from typing import Any

import pytest

from engine.api import NotFound
from tests.support.engines import (
    Engines,
    FakeClock,
    ScriptRunner,
    declares,
    delta,
    done,
    lines_of,
    message,
    run_event,
    said,
    send,
    state_updated,
    wait_for_entry,
    wait_for_run,
    waits,
)


async def seq_of(engine: Any, content: str, session: str = "s") -> int:
    (line,) = [line for line in await engine.sessions.transcript(session, after=0) if line.content == content]
    return line.seq


async def talk(run_script: ScriptRunner, clock: FakeClock) -> None:
    """Run two exchanges, one second apart, that each write state."""
    for number in (1, 2):
        clock.advance(1)
        await run_script(
            state_updated("mood", f"{number}"), done(f"answer {number}"), event=message(f"question {number}")
        )


async def test_run_in_fork_sees_copied_history_and_state(open_engine: Engines, clock: FakeClock):
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
        yield state_updated("mood", ctx.input.to_text())
        yield done(f"answer to {ctx.input.to_text()}")

    engine = await open_engine(remembers)
    for number in (1, 2):
        clock.advance(1)
        await run_event(engine, f"question {number}")
    clock.advance(1)

    child = (await engine.sessions.fork("s", at=await seq_of(engine, "answer to question 1"))).session_id
    run = await run_event(engine, message("and now?", session=child))

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
    at_start = (await engine.state.read_at(run.run_id, 1))["conversation"]["mood"]
    assert (at_start.value, at_start.editor, at_start.run_id) == ("question 1", "fork", None)


async def test_changes_in_fork_do_not_affect_parent(run_script: ScriptRunner, clock: FakeClock):
    await talk(run_script, clock)
    before = await lines_of(run_script.engine), [(row.key, row.value) for row in await run_script.engine.state.read()]

    child = await run_script.engine.sessions.fork("s", title="What if")
    await run_script(state_updated("mood", "other"), done("elsewhere"), event=message("go", session=child.session_id))
    await run_script.engine.sessions.delete(child.session_id)

    assert (
        await lines_of(run_script.engine),
        [(row.key, row.value) for row in await run_script.engine.state.read()],
    ) == before


async def test_fork_survives_deletion_of_its_parent(run_script: ScriptRunner, clock: FakeClock):
    await talk(run_script, clock)
    child = await run_script.engine.sessions.fork("s", at=await seq_of(run_script.engine, "answer 1"))

    await run_script.engine.sessions.delete("s")

    assert [content for _, content in await lines_of(run_script.engine, child.session_id)] == ["question 1", "answer 1"]
    assert [(row.key, row.value, row.editor) for row in await run_script.engine.state.read()] == [("mood", "1", "fork")]
    assert child.title == "question 1 (fork)"
    assert child.metadata["forked_from"] == "s"


async def test_session_can_be_forked_during_a_run(open_engine: Engines, clock: FakeClock):
    goes_on = asyncio.Event()

    async def works(ctx: Any):
        yield said("on disk")
        yield state_updated("step", 1)
        yield delta("not yet a line")
        await goes_on.wait()
        yield state_updated("step", 2)
        yield done("later")

    engine = await open_engine(works)
    run_id = await send(engine)
    await wait_for_entry(engine, run_id, "message.delta")

    child = (await engine.sessions.fork("s")).session_id
    clock.advance(1)
    goes_on.set()
    run = await wait_for_run(engine, run_id)

    assert run.row.status == "completed"
    assert [content for _, content in await lines_of(engine, child)] == ["hi", "on disk"]
    assert [(row.key, row.value) for row in await engine.state.read(conversation_id=child)] == [("step", 1)]


async def test_reader_can_fork_while_another_process_hosts(open_engine: Engines):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    await send(host)

    child = await reader.sessions.fork("s")

    assert await lines_of(host, child.session_id) == [("user", "hi")]


async def test_fork_of_bot_conversation_has_transcript_before_its_first_run(run_script: ScriptRunner):
    await run_script(done("x"), event=message(bot_id="bot", workspace_id="work"))

    child = await run_script.engine.sessions.fork("s")

    assert await lines_of(run_script.engine, child.session_id) == [("user", "hi"), ("assistant", "x")]


async def test_fork_at_unknown_line_creates_nothing(run_script: ScriptRunner):
    await run_script(done("x"))
    await run_script(done("y"), event=message(session="other"))
    foreign = await seq_of(run_script.engine, "y", "other")

    for at in (foreign, "nowhere"):
        with pytest.raises(NotFound, match=f"s has no line {at}"):
            await run_script.engine.sessions.fork("s", at=at)
    with pytest.raises(NotFound, match="no session nobody"):
        await run_script.engine.sessions.fork("nobody")
    assert {session.session_id for session in await run_script.engine.sessions.list()} == {"s", "other"}
