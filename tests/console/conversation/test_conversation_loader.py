"""A session is loaded in windows without gaps, upwards and downwards."""

import asyncio
from typing import Any

import pytest

import console.data.conversation_loader
from console.data.conversation_loader import WINDOW_ENTRIES, ConversationLoader
from console.model.conversation.blocks import (
    AgentMessage,
    Block,
    Event,
    Note,
    SteeringMessage,
    ToolCall,
    ToolResult,
    UserMessage,
)
from console.model.conversation.conversation import ConversationModel
from engine.api import EventEnvelope, Mode
from tests.support.console.journal_writer import Journal, conversation_of
from tests.support.engines import (
    Engines,
    ScriptRunner,
    declares,
    done,
    event,
    message,
    open_script_runner,
    said,
    send,
    state_updated,
    wait_for_entry,
    wait_forever,
)


def user_texts(conversation: ConversationModel) -> list[str]:
    return [block.text for block in conversation.blocks if isinstance(block, UserMessage)]


def shown(conversation: ConversationModel) -> list[Block]:
    return [block for block in conversation.blocks if not block.is_hidden]


def are_numbers_consecutive(conversation: ConversationModel) -> bool:
    first = conversation.blocks[0].number
    return [block.number for block in conversation.blocks] == list(range(first, first + len(conversation.blocks)))


async def run_twelve(stage: ScriptRunner) -> list[str]:
    """Twelve runs of one session; their ids."""
    return [(await stage(said(f"answer {n}"), done(), event=f"ask {n}")).run_id for n in range(12)]


async def test_earlier_runs_are_loaded_three_at_a_time(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    await run_twelve(stage)
    loader = ConversationLoader(stage.engine, "s")

    await loader.read_end()
    assert user_texts(loader.conversation) == ["ask 9", "ask 10", "ask 11"]
    for first in (6, 3, 0):
        await loader.read_earlier()
        assert user_texts(loader.conversation) == [f"ask {n}" for n in range(first, 12)]
    await loader.read_earlier()

    assert len(loader.conversation.run_ids) == 12
    assert are_numbers_consecutive(loader.conversation)


async def test_later_runs_are_loaded_from_a_run_in_the_middle(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    runs = await run_twelve(stage)
    loader = ConversationLoader(stage.engine, "s")

    await loader.read_at(runs[4])
    assert user_texts(loader.conversation) == ["ask 1", "ask 2", "ask 3", "ask 4"]
    assert loader.conversation.has_later
    while loader.conversation.has_later:
        await loader.read_later()
    await loader.read_earlier()

    assert user_texts(loader.conversation) == [f"ask {n}" for n in range(12)]
    assert loader.conversation.run_ids == tuple(runs)


async def test_concurrent_loads_read_different_windows(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    await run_twelve(stage)
    loader = ConversationLoader(stage.engine, "s")
    await loader.read_end()

    await asyncio.gather(loader.read_earlier(), loader.read_earlier())

    assert user_texts(loader.conversation) == [f"ask {n}" for n in range(3, 12)]


def tool(number: int) -> list[dict[str, Any]]:
    name = {"tool_call_id": f"c{number}", "tool_name": "look"}
    return [
        {"type": "tool.call.started", "data": name | {"parameters": {"n": number}}},
        {"type": "tool.call.completed", "data": name | {"result": f"saw {number}"}},
    ]


async def test_long_run_is_loaded_in_windows_before_the_run_above(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    await stage(said("before"), done(), event="short")
    long = await stage(*(each for n in range(700) for each in [*tool(n), said(f"step {n}")]), done(), event="long")
    loader = ConversationLoader(stage.engine, "s")

    await loader.read_end()
    assert loader.conversation.run_ids == (long.run_id,)
    assert len(loader.conversation.blocks) < WINDOW_ENTRIES
    while user_texts(loader.conversation) != ["short", "long"]:
        count = len(loader.conversation.blocks)
        await loader.read_earlier()
        assert 0 < len(loader.conversation.blocks) - count <= WINDOW_ENTRIES

    tools = [block for block in shown(loader.conversation) if isinstance(block, ToolCall)]
    assert [block.arguments for block in tools] == [f"n={n}" for n in range(700)]
    assert {block.result for block in tools} == {ToolResult.OK}
    assert all(block.microseconds is not None and block.since is not None for block in tools)


async def test_long_run_is_loaded_back_to_an_entry(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    long = await stage(*(said(f"step {n}") for n in range(3 * WINDOW_ENTRIES)), done(), event="long")
    loader = ConversationLoader(stage.engine, "s")

    await loader.read_at(long.run_id)
    assert user_texts(loader.conversation) == []  # the last run of a session is shown from its end

    await loader.read_back(long.run_id, WINDOW_ENTRIES)
    assert loader.conversation.blocks[0].position <= WINDOW_ENTRIES
    assert user_texts(loader.conversation) == []

    await loader.read_back(long.run_id, 1)
    assert user_texts(loader.conversation) == ["long"]
    assert are_numbers_consecutive(loader.conversation)


async def test_long_run_is_loaded_downwards_in_windows(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    first = await stage(said("before"), done(), event="short")
    await stage(*(each for n in range(700) for each in tool(n)), done(), event="long")
    loader = ConversationLoader(stage.engine, "s")

    await loader.read_at(first.run_id)
    while loader.conversation.has_later:
        count = len(loader.conversation.blocks)
        await loader.read_later()
        assert len(loader.conversation.blocks) - count <= WINDOW_ENTRIES

    tools = [block for block in shown(loader.conversation) if isinstance(block, ToolCall)]
    assert [block.summary for block in tools] == [f"saw {n}" for n in range(700)]


async def test_window_without_blocks_does_not_end_loading(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    quiet = [state_updated("n", n) for n in range(3 * WINDOW_ENTRIES)]
    await stage(said("first"), *quiet, said("last"), done())
    loader = ConversationLoader(stage.engine, "s")

    await loader.read_end()
    await loader.read_earlier()

    texts = [block.text_parts.text for block in loader.conversation.blocks if isinstance(block, AgentMessage)]
    assert (user_texts(loader.conversation), texts) == (["hi"], ["first", "last"])


async def test_fork_shows_inherited_lines_above_its_runs(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    await stage(said("**one**"), done(), event="first")
    fork = await stage.engine.sessions.fork("s")
    alone = ConversationLoader(stage.engine, fork.session_id)
    await alone.read_end()
    assert user_texts(alone.conversation) == ["first"]

    await stage(said("two"), done(), event=message("second", session=fork.session_id))
    loader = ConversationLoader(stage.engine, fork.session_id)
    await loader.read_end()
    await loader.read_earlier()
    await loader.read_earlier()

    assert user_texts(loader.conversation) == ["first", "second"]
    (note,) = [block for block in loader.conversation.blocks if isinstance(block, Note)]
    assert note.text == "forked here from “first”"
    assert [block.text_parts.text for block in loader.conversation.blocks if isinstance(block, AgentMessage)] == [
        "**one**",
        "two",
    ]
    assert len({block.key for block in loader.conversation.blocks}) == len(loader.conversation.blocks)


def member_joined(group: str = "travellers", **fields: Any) -> EventEnvelope:
    actor = {"actor_type": "user", "actor_id": "ann", "actor_name": "Ann"}
    subject = {"subject_type": "membership", "subject_id": f"{group}/ann"}
    given = {"conversation_id": "s", "actor": actor, "subject": subject, "data": {"group": group}}
    return event("group.member_joined", **given | fields)


def message_texts(conversation: ConversationModel) -> list[str]:
    """The texts of messages and events."""
    return [block.markdown() for block in shown(conversation) if isinstance(block, UserMessage | Event | AgentMessage)]


async def test_fork_shows_inherited_events_like_its_parent(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    for n in range(3):
        await stage(said(f"welcome {n}"), said("sit down"), done(), event=member_joined(f"group {n}"))
    await stage(said("yes"), done(), event="ready?")
    parent = ConversationLoader(stage.engine, "s")
    await parent.read_end()
    await parent.read_earlier()

    fork = await stage.engine.sessions.fork("s")
    again = await stage.engine.sessions.fork(fork.session_id)

    for session in (fork.session_id, again.session_id):
        loader = ConversationLoader(stage.engine, session)
        await loader.read_end()
        assert message_texts(loader.conversation) == message_texts(parent.conversation)
        kinds = [type(block).__name__ for block in loader.conversation.blocks]
        assert kinds[:4] == ["Event", "AgentMessage", "AgentMessage", "Event"]
        assert len({block.key for block in loader.conversation.blocks}) == len(loader.conversation.blocks)


@pytest.mark.parametrize("lines", range(2, 9))
async def test_inherited_event_is_shown_once_at_any_page_edge(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, lines: int
):
    stage = await open_script_runner(open_engine)
    for n in range(4):
        what = member_joined(f"group {n}") if n % 2 else f"message {n}"
        await stage(said(f"welcome {n}"), said("sit down"), done(), event=what)
    fork = await stage.engine.sessions.fork("s")
    whole, pages = ConversationLoader(stage.engine, fork.session_id), ConversationLoader(stage.engine, fork.session_id)
    await whole.read_end()

    monkeypatch.setattr(console.data.conversation_loader, "WINDOW_LINES", lines)
    await pages.read_end()
    for _ in range(10):
        await pages.read_earlier()

    assert message_texts(pages.conversation) == message_texts(whole.conversation)
    assert len(message_texts(whole.conversation)) == 12


async def test_fork_of_a_deleted_session_shows_its_own_lines(open_engine: Engines):
    stage = await open_script_runner(open_engine)
    await stage(said("welcome"), done(), event=member_joined())
    fork = await stage.engine.sessions.fork("s")
    await stage.engine.sessions.delete("s")
    loader = ConversationLoader(stage.engine, fork.session_id)

    await loader.read_end()

    assert message_texts(loader.conversation) == ["welcome"]


async def test_live_entries_continue_loaded_blocks(open_engine: Engines):
    async def works(ctx: Any):
        yield said("so far")
        await wait_forever()

    engine = await open_engine(works)
    run_id = await send(engine, "go")
    await wait_for_entry(engine, run_id, "message.completed")
    loader = ConversationLoader(engine, "s")
    await loader.read_end()

    journal = [entry async for entry in engine.runs.entries(run_id)]
    loader.conversation.apply(journal)  # loaded entries are skipped
    await engine.runs.stop(run_id)
    loader.conversation.apply([entry async for entry in engine.runs.entries(run_id)])

    assert [type(block).__name__ for block in loader.conversation.blocks] == ["UserMessage", "AgentMessage", "RunEnd"]


# Joining windows


def test_blocks_are_joined_across_windows() -> None:
    journal = Journal().began().tool(call_id="1", city="Kyoto")
    journal("steering.queued", {"item_id": "i", "text": "use metric"})
    journal("steering.pulled", {"items": ["i"]}, turn=2)
    journal("steering.injected", {"item_id": "i"}, turn=2)
    journal.answered("sun").finished(turn=2)
    whole = journal.conversation()

    for cut in range(1, len(journal.entries)):
        conversation = ConversationModel()
        conversation.run_blocks("run").set_start(0)
        conversation.apply(journal.entries[cut:])
        conversation.prepend(conversation_of(journal.entries[:cut]))
        assert [block.markdown() for block in shown(conversation)] == [block.markdown() for block in shown(whole)], cut
        assert are_numbers_consecutive(conversation)


def test_unanswered_tool_call_above_the_window_has_no_result() -> None:
    journal = Journal().began().tool().said("x").finished()
    conversation = conversation_of(journal.entries[2:])

    conversation.prepend(conversation_of(journal.entries[:2]))

    (found,) = [block for block in conversation.blocks if isinstance(block, ToolCall)]
    assert found.result is ToolResult.NONE


async def test_message_switched_to_steering_is_shown_with_its_text(open_engine: Engines):
    go = asyncio.Event()

    @declares(capabilities={"steering": True})
    async def listens(ctx: Any):
        await go.wait()
        await ctx.api.steering_pull()
        yield said("ok")
        yield done()

    engine = await open_engine(listens)
    run_id = await send(engine, "go")
    ticket = await engine.runs.submit(message("use metric"), after=True)
    await engine.queue.set_mode(str(ticket.item_id), Mode.STEER)
    go.set()
    await engine.runs.wait_for_end(run_id)

    loader = ConversationLoader(engine, "s")
    await loader.read_end()

    (steered,) = [block for block in loader.conversation.blocks if isinstance(block, SteeringMessage)]
    assert steered.text == "use metric"
