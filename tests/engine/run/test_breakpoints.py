"""Breakpoints at calls: before the call and before its reply, and replies that the user edits."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.access.held_calls import check_edited_reply
from engine.api import BreakpointError, NotFound, OwnedByOtherHost, PauseStage, StoreError
from engine.protocol import AgentAPIException
from engine.resources.interfaces import ResourceError
from tests.support.engines import Engines, done, journal_of, send, wait_for_run, wait_forever, waits
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.paused_runs import (
    EDITED_REPLY,
    TOOL_RESULT,
    ToolEngines,
    asks,
    final_text,
    pause_entries,
    wait_for_pause,
)

# Before a call


async def test_a_call_is_paused_before_it_is_made_and_made_when_continued(tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("tool",))

    held = await wait_for_pause(engine, run_id)
    assert (held.location, held.stage, held.call_id, held.action) == ("tool", PauseStage.BEFORE, "c1", "call_tool")
    assert held.arguments == {"tool_name": "weather", "parameters": {"place": "here"}}
    assert (held.original, held.edit, tool_engines.tool.calls) == (None, None, [])

    tool_engines.clock.advance(2.5)
    await engine.runs.continue_run(run_id)
    assert await engine.runs.current_pause(run_id) is None
    run = await wait_for_run(engine, run_id)
    assert final_text(run) == str(TOOL_RESULT)
    assert tool_engines.tool.calls == [{"place": "here"}]
    assert [
        (entry.source, entry.type) for entry in run.journal if entry.type.startswith(("breakpoint.", "pause.", "call."))
    ] == [
        ("user", "breakpoint.set"),
        ("runner", "call.requested"),
        ("host", "call.decided"),
        ("host", "pause.started"),
        ("user", "pause.ended"),
        ("host", "call.replied"),
    ]
    reach = {"when": "tool", "stage": "before", "call_id": "c1", "action": "call_tool"}
    assert run.one("breakpoint.set").data == {"when": "tool", "once": False}
    assert run.one("pause.started").data == reach
    assert run.one("pause.ended").data == {**reach, "seconds": 2.5, "how": "continue"}


async def test_call_with_an_edited_reply_is_not_made(tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("call_tool",))
    await wait_for_pause(engine, run_id)

    assert (await engine.runs.edit_reply(run_id, EDITED_REPLY)).edit == EDITED_REPLY
    assert (await engine.runs.current_pause(run_id)).edit == EDITED_REPLY, "an edit does not let the run go on"
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert final_text(run) == str(EDITED_REPLY["result"])
    assert tool_engines.tool.calls == []
    edited = run.one("pause.edited")
    assert edited.source == "user"
    assert edited.data == {"call_id": "c1", "original": None, "edit": EDITED_REPLY, "editor": "local"}
    assert run.one("call.replied").data == {"call_id": "c1", "reply": EDITED_REPLY}


async def test_a_step_makes_the_call_and_pauses_at_its_reply_which_can_be_edited(tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)

    await engine.runs.step(run_id)
    held = await wait_for_pause(engine, run_id, 2)
    assert (held.location, held.stage, held.call_id, held.original) == (
        "step",
        PauseStage.REPLY,
        "c1",
        {"result": TOOL_RESULT},
    )
    assert len(tool_engines.tool.calls) == 1
    await engine.runs.edit_reply(run_id, EDITED_REPLY, editor="ann")
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert final_text(run) == str(EDITED_REPLY["result"])
    assert run.one("pause.edited").data == {
        "call_id": "c1", "original": {"result": TOOL_RESULT}, "edit": EDITED_REPLY, "editor": "ann",
    }  # fmt: skip
    assert run.one("call.replied").data["reply"] == EDITED_REPLY
    assert [entry.data["how"] for entry in run.all("pause.ended")] == ["step", "continue"]


async def test_unedited_reply_is_passed_on_unchanged(tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    await engine.runs.step(run_id)
    await wait_for_pause(engine, run_id, 2)
    await engine.runs.continue_run(run_id)

    assert final_text(await wait_for_run(engine, run_id)) == str(TOOL_RESULT)
    assert len(tool_engines.tool.calls) == 1


async def test_a_later_edit_replaces_an_earlier_one_and_both_are_in_the_journal(tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    await engine.runs.edit_reply(run_id, {"result": "first"})
    await engine.runs.edit_reply(run_id, {"result": "second"})
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert final_text(run) == "second"
    assert [entry.data["edit"]["result"] for entry in run.all("pause.edited")] == ["first", "second"]


def test_changing_an_edited_reply_afterwards_has_no_effect():
    mine: dict[str, Any] = {"result": ["grey"]}
    edit = check_edited_reply("call_tool", mine)
    mine["result"].append("blue")

    assert edit == {"result": ["grey"]}


async def test_an_invalid_edit_is_refused_and_the_call_stays_paused(tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    with pytest.raises(BreakpointError, match="must be a JSON object, not list"):
        await engine.runs.edit_reply(run_id, [1])

    assert (await engine.runs.current_pause(run_id)).edit is None
    await engine.runs.continue_run(run_id)
    run = await wait_for_run(engine, run_id)
    assert final_text(run) == str(TOOL_RESULT)
    assert run.all("pause.edited") == []


@pytest.mark.parametrize(
    ("action", "reply", "words"),
    [
        ("state_get", None, "must be a JSON object, not NoneType"),
        ("state_get", {"value": float("nan")}, "cannot be sent: not JSON"),
        ("state_get", {"value": "x" * (16 << 20)}, "the limit is 16773120"),
        ("call_tool", {}, r"reply\.result: field required"),
        ("call_tool", {"result": 1, "extra": 2}, r"reply\.extra: unknown key"),
        ("invoke_llm", {"message": "hello"}, r"reply\.message: .*object|reply\.message: .*dictionary"),
        ("invoke_llm", {"message": {"content": "hello"}}, r"reply\.message\.role: field required"),
        ("invoke_llm", {"message": {"role": "assistant"}, "usage": 3}, r"reply\.usage: should be an object"),
        ("invoke_llm_stream", {}, "must have either message or frames"),
        ("invoke_llm_stream", {"message": {"role": "assistant"}, "frames": []}, "must have either message or frames"),
        ("invoke_llm_stream", {"frames": [{"chunk": {"content": "x"}}]}, r"reply\.frames\[0\]\.chunk\.role"),
    ],
)
def test_edited_reply_is_checked_and_the_error_names_the_problem(action: str, reply: object, words: str):
    with pytest.raises(BreakpointError, match=words):
        check_edited_reply(action, reply)


async def test_large_original_and_edit_are_stored_where_no_runner_can_read_them(
    tool_engines: ToolEngines,
):
    readable: list[str] = []

    async def asks_twice(ctx: Any) -> AsyncIterator[Any]:
        text = await ctx.api.call_tool("weather", {})
        entries = await ctx.api.run_events_page()
        (edited,) = (entry for entry in entries.items if entry.type == "pause.edited")
        for name in ("original_ref", "edit_ref"):
            try:
                await ctx.api.artifact_read(edited.data[name])
                readable.append(name)
            except AgentAPIException:
                pass
        yield done(text[:5])

    tool_engines.tool.answer = "a" * 40_000
    engine = await tool_engines(asks_twice)
    run_id = await send(engine, breakpoints=("tool#1",))
    await wait_for_pause(engine, run_id)
    await engine.runs.step(run_id)
    await wait_for_pause(engine, run_id, 2)
    await engine.runs.edit_reply(run_id, {"result": "b" * 50_000})
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    edited = run.one("pause.edited").data
    assert final_text(run) == "bbbbb"
    assert (edited["original_size"], edited["edit_size"], readable) == (40_013, 50_013, [])
    assert (await engine.runs.part(run_id, edited["original_ref"]))[:14] == b'{"result":"aaa'


async def test_a_failed_call_is_paused_with_its_error_and_can_be_given_a_reply(tool_engines: ToolEngines):
    tool_engines.tool.error = ResourceError("no signal")
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    await engine.runs.step(run_id)
    held = await wait_for_pause(engine, run_id, 2)
    assert held.original["error"]["message"] == "no signal"
    await engine.runs.edit_reply(run_id, EDITED_REPLY)
    await engine.runs.continue_run(run_id)

    assert final_text(await wait_for_run(engine, run_id)) == str(EDITED_REPLY["result"])


async def test_failed_call_without_an_edited_reply_fails(tool_engines: ToolEngines):
    tool_engines.tool.error = ResourceError("no signal")
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    await engine.runs.step(run_id)
    await wait_for_pause(engine, run_id, 2)
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert (run.row.status, run.finished["error"]) == ("failed", "AgentAPIException: no signal")
    assert run.one("call.replied").outcome == "failed"


async def test_a_call_that_the_gate_refuses_is_not_paused(tool_engines: ToolEngines):
    async def oversteps(ctx: Any) -> AsyncIterator[Any]:
        try:
            await ctx.api.call_tool("launch", {})
        except AgentAPIException as refusal:
            yield done(refusal.error.code)

    engine = await tool_engines(oversteps)
    run = await wait_for_run(engine, await send(engine, breakpoints=("tool",)))
    assert final_text(run) == "unauthorized"
    assert run.all("pause.started") == []


async def test_secrets_are_masked_in_a_paused_call_and_the_tool_gets_them(tool_engines: ToolEngines):
    async def unlocks(ctx: Any) -> AsyncIterator[Any]:
        yield done(str(await ctx.api.call_tool("weather", {"word": ctx.config["api_key"]})))

    engine = await tool_engines(unlocks)
    run_id = await send(engine, breakpoints=("tool",))
    held = await wait_for_pause(engine, run_id)
    assert held.arguments["parameters"] == {"word": "‹secret api_key›"}
    await engine.runs.continue_run(run_id)
    await wait_for_run(engine, run_id)
    assert tool_engines.tool.calls == [{"word": "sesame-77"}]


async def test_paused_reply_is_shown_masked_and_an_edit_puts_the_secret_back(tool_engines: ToolEngines):
    seen: list[Any] = []

    async def unlocks(ctx: Any) -> AsyncIterator[Any]:
        seen.append(await ctx.api.call_tool("weather", {}))
        yield done()

    tool_engines.tool.answer = {"key": "sesame-77", "sky": "blue"}
    engine = await tool_engines(unlocks)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    await engine.runs.step(run_id)
    held = await wait_for_pause(engine, run_id, 2)
    assert held.original == {"result": {"key": "‹secret api_key›", "sky": "blue"}}

    mine = {"result": {"key": "‹secret api_key›", "old": "‹secret api_kex›"}}
    assert (await engine.runs.edit_reply(run_id, mine)).edit == mine
    await engine.runs.continue_run(run_id)
    run = await wait_for_run(engine, run_id)

    assert seen == [{"key": "sesame-77", "old": "‹secret api_kex›"}]
    assert "sesame-77" not in str(run.journal)


# Runs that cannot be paused


async def test_invalid_breakpoint_is_refused_before_anything_is_recorded(tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    with pytest.raises(BreakpointError, match="'tols' is not a breakpoint location"):
        await send(engine, breakpoints=("tols",))
    assert await engine.runs.list() == []


async def test_only_a_run_in_progress_can_be_paused(tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    run_id = await send(engine)
    await engine.runs.wait_for_end(run_id)
    for act in (
        engine.breakpoints.set(run_id, "tool"),
        engine.runs.continue_run(run_id),
        engine.runs.step(run_id),
        engine.runs.edit_reply(run_id, {}),
    ):
        with pytest.raises(BreakpointError, match=f"run {run_id} has ended"):
            await act
    assert (await engine.runs.current_pause(run_id), await engine.breakpoints.list(run_id)) == (None, ())
    with pytest.raises(NotFound):
        await engine.breakpoints.set("run_zzz", "tool")


async def test_a_run_that_is_not_paused_cannot_be_continued(tool_engines: ToolEngines):
    engine = await tool_engines(waits)
    run_id = await send(engine)
    for act in (engine.runs.continue_run(run_id), engine.runs.step(run_id), engine.runs.edit_reply(run_id, {})):
        with pytest.raises(BreakpointError, match="The run is not paused"):
            await act
    with pytest.raises(BreakpointError, match=r"No breakpoint is set at tool"):
        await engine.breakpoints.remove(run_id, "tool")
    assert await pause_entries(engine, run_id) == []


async def test_breakpoint_in_a_run_of_another_process_is_refused(tool_engines: ToolEngines):
    first = await tool_engines(waits)
    second = await tool_engines(waits)
    run_id = await send(first)
    with pytest.raises(OwnedByOtherHost, match=f"run {run_id} is in progress in another process"):
        await second.breakpoints.set(run_id, "tool")
    reader = await tool_engines(waits, mode="read")
    with pytest.raises(StoreError, match="opened to read"):
        await reader.breakpoints.set(run_id, "tool")


async def test_a_paused_call_of_a_run_that_is_cancelled_is_interrupted_and_not_made(tool_engines: ToolEngines):
    heard: list[str] = []

    async def listens(ctx: Any) -> AsyncIterator[Any]:
        try:
            await ctx.api.call_tool("weather", {})
        except AgentAPIException as refusal:
            heard.append(refusal.error.code)
        await wait_forever()
        yield

    engine = await tool_engines(listens)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    await engine.runs.cancel(run_id)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, heard, tool_engines.tool.calls) == ("cancelled", ["cancelled"], [])
    assert run.one("call.replied").data["error"]["message"] == "the run was stopped"
    assert [entry.position for entry in run.journal] == [*range(1, len(run.journal) + 1)]


async def test_closing_the_host_ends_a_pause_at_once(open_engine: Engines, tool_engines: ToolEngines):
    engine = await tool_engines(asks)
    run_id = await send(engine, breakpoints=("tool",))
    await wait_for_pause(engine, run_id)
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await tool_engines.close()

    reader = await open_engine(mode="read")
    run = await reader.runs.get(run_id)
    assert (run.status, run.metadata["error"]) == ("cancelled", "the host was closed")
    assert (await journal_of(reader, run_id))[-1].type == "run.finished"
    assert tool_engines.tool.calls == []
