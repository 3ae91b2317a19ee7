"""Pausing a run: breakpoints, steps, edited replies, and steering while it is paused."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import (
    Cue,
    at_both_sizes,
    at_the_screen,
    go_to,
    narrow,
    say,
    sees,
    shown,
    until,
    waiting,
)
from tests.support.engines import Engines, FinishedRun, done, said, wait_for_run
from tests.support.paused_runs import ToolEngines

Size = tuple[int, int]
GREY_REPLY = '{"result": {"sky": "grey"}}'


@pytest.fixture
async def tool_engines(open_engine: Engines) -> AsyncIterator[ToolEngines]:
    opened = ToolEngines(open_engine)
    yield opened
    await opened.close()


def tool_caller(cue: Cue, times: int = 1) -> Any:
    """Make a runner that, on cue, pulls steering messages, calls the tool and sends a message with its reply."""

    async def calls_tool(ctx: Any):
        yield said("Ready.")
        for _ in range(times):
            await cue.wait()
            pulled = await ctx.api.steering_pull()
            for item in pulled.items:
                yield said(f"You said: {item.input.to_text()}")
            reply = await ctx.api.call_tool("weather", {"place": "here"})
            yield said(f"The sky is {reply['sky']}.")
        await cue.wait()
        yield done()

    return calls_tool


async def pause_at_pull(pilot: Pilot[None], cue: Cue) -> None:
    """Start a run, press f6, and wait until the run pauses at its pull."""
    await say(pilot, "hello")
    await sees(pilot, "Ready.")
    await pilot.press("f6")
    await sees(pilot, "will pause at its next")
    cue.go()
    await sees(pilot, "‖ paused 0 ms at steering")


async def load_run(app: Trackside) -> FinishedRun:
    """Wait until the shown run has ended, and return it with its journal."""
    view = app.services.updater.view
    assert view is not None
    return await wait_for_run(app.active_session.engine, view.run_id)


def reply_of(run: FinishedRun) -> Any:
    """Return the reply to the tool call from the journal."""
    (call_id,) = [entry.data["call_id"] for entry in run.all("call.requested") if entry.data["action"] == "call_tool"]
    (reply,) = [entry.data["reply"] for entry in run.all("call.replied") if entry.data["call_id"] == call_id]
    return reply


@at_both_sizes
async def test_message_sent_while_paused_at_a_pull_is_delivered_on_continue(tool_engines: ToolEngines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(tool_caller(cue)))
    async with at_the_screen(app, size) as pilot:
        await pause_at_pull(pilot, cue)
        await sees(pilot, "steer ▸ delivered now")
        await say(pilot, "look up")
        await until(pilot, lambda: bool(app.main.queue.items))
        assert await waiting(app) == [("look up", "steer", "queued")]
        await pilot.press("f6")
        await sees(pilot, "You said: look up", "The sky is blue.")
        assert not app.services.situation.is_paused
        cue.go()
        await sees(pilot, "completed")
        assert [entry.data["how"] for entry in (await load_run(app)).all("pause.ended")] == ["continue"]


async def test_toast_of_a_requested_pause_is_removed_when_the_run_has_paused(tool_engines: ToolEngines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(tool_caller(cue)))
    async with at_the_screen(app) as pilot:
        await pause_at_pull(pilot, cue)
        assert not any("will pause" in toast.message for toast in app._notifications)


@at_both_sizes
async def test_call_with_a_reply_from_the_user_is_not_made(tool_engines: ToolEngines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(tool_caller(cue)))
    async with at_the_screen(app, size) as pilot:
        await pause_at_pull(pilot, cue)
        await pilot.press("f7")
        await sees(pilot, "‖ paused", "call_tool")
        await pilot.press("f4")
        await sees(pilot, "a reply from here replaces the call")
        await pilot.press("f7", *GREY_REPLY, "f4")
        await sees(pilot, "The reply is replaced.")
        await pilot.press("f6")
        await sees(pilot, "The sky is grey.")
        assert tool_engines.tool.calls == []

        cue.go()
        await sees(pilot, "completed")
        run = await load_run(app)
        assert run.one("pause.edited").data["edit"] == {"result": {"sky": "grey"}}
        assert reply_of(run) == {"result": {"sky": "grey"}}


async def pause_at_reply(pilot: Pilot[None], app: Trackside, tool_engines: ToolEngines, cue: Cue) -> None:
    """Start a run, and step until it is paused at the reply of its call."""
    await pause_at_pull(pilot, cue)
    await pilot.press("f7")
    await until(pilot, lambda: app.services.situation.can_edit_reply)
    await pilot.press("f7")
    await until(pilot, lambda: bool(tool_engines.tool.calls))
    await sees(pilot, "reply")


async def test_reply_with_a_secret_is_edited_with_its_mark(tool_engines: ToolEngines):
    cue = Cue()
    tool_engines.tool.answer = {"sky": "sesame-77"}
    app = Trackside(LaunchOptions(), lambda: tool_engines(tool_caller(cue)))
    async with at_the_screen(app, (120, 40)) as pilot:
        await pause_at_reply(pilot, app, tool_engines, cue)
        await pilot.press("f4")
        await sees(pilot, '"sky": "‹secret api_key›"')
        assert "sesame-77" not in shown(app)
        area = app.screen.query_one("#answer", TextArea)
        area.text = '{"result": {"sky": "dark: ‹secret api_key›"}}'
        await pilot.press("f4", "f6")
        await sees(pilot, "The sky is dark: ‹secret api_key›.")
        cue.go()
        await sees(pilot, "completed")
        assert "sesame-77" not in shown(app)


async def test_reply_that_is_too_large_for_the_editor_is_refused(tool_engines: ToolEngines):
    cue = Cue()
    tool_engines.tool.answer = {"sky": "blue", "rest": ["x" * 1_000] * 600}
    app = Trackside(LaunchOptions(), lambda: tool_engines(tool_caller(cue)))
    async with at_the_screen(app, (120, 40)) as pilot:
        await pause_at_reply(pilot, app, tool_engines, cue)
        await pilot.press("f4")
        await sees(pilot, "The reply is larger than 512 KiB, too large to edit. f6 sends it as it is.")
        await pilot.press("f6")
        await sees(pilot, "The sky is blue.")
        cue.go()


@at_both_sizes
async def test_reply_can_be_edited_after_the_call_and_the_inspector_shows_both_versions(
    tool_engines: ToolEngines, size: Size
):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(tool_caller(cue)))
    async with at_the_screen(app, size) as pilot:
        await pause_at_pull(pilot, cue)
        await pilot.press("f7")
        await until(pilot, lambda: app.services.situation.can_edit_reply)
        await pilot.press("f7")
        await until(pilot, lambda: bool(tool_engines.tool.calls))
        await sees(pilot, "reply")
        await pilot.press("f4")
        await sees(pilot, '"sky": "blue"', "f4 use this reply  esc cancel")
        await pilot.press("f7", *"no JSON", "f4")
        await sees(pilot, "Not JSON")
        await pilot.press("f7", *GREY_REPLY, "f4")
        await pilot.press("f6")
        await sees(pilot, "The sky is grey.")

        cue.go()
        await sees(pilot, "completed")
        run = await load_run(app)
        assert len(tool_engines.tool.calls) == 1
        assert reply_of(run) == {"result": {"sky": "grey"}}

        await go_to(pilot, app, "stream")
        await narrow(pilot, app, "kind:pause.edited")
        await pilot.press("g", "enter")
        await sees(pilot, f"#{run.one('pause.edited').position}", "pause.edited", "blue", "grey")


@at_both_sizes
async def test_b_sets_a_breakpoint_on_the_kind_of_call_under_the_cursor(tool_engines: ToolEngines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(tool_caller(cue, times=2)))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        cue.go()
        await sees(pilot, "The sky is blue.")
        await go_to(pilot, app, "stream")
        await narrow(pilot, app, "kind:call.requested weather")
        await pilot.press("g", "b")
        await sees(pilot, "Breakpoint set: the run pauses before each call_tool")
        cue.go()
        await sees(pilot, "‖ paused")
        assert len(tool_engines.tool.calls) == 1
        await pilot.press("f6")
        await until(pilot, lambda: len(tool_engines.tool.calls) == 2)


@at_both_sizes
async def test_b_sets_a_breakpoint_on_the_kind_of_result_under_the_cursor(tool_engines: ToolEngines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(tool_caller(cue, times=2)))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "Ready.")
        await go_to(pilot, app, "stream")
        await narrow(pilot, app, "kind:message.completed")
        await pilot.press("g", "b")
        await sees(pilot, "Breakpoint set: the run pauses before each message.completed")
        cue.go()
        await sees(pilot, "‖ paused")
        await pilot.press("f4")
        await sees(pilot, "Only the reply of a model or a tool can be edited.")
        assert "The sky is blue." not in shown(app)
        await pilot.press("escape", "f6")
        await sees(pilot, "The sky is blue.")


async def test_debug_keys_give_the_reason_if_they_do_nothing(tool_engines: ToolEngines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(tool_caller(cue)))
    async with at_the_screen(app) as pilot:
        await pilot.press("f6")
        await sees(pilot, "No run in progress.")
        await say(pilot, "hello")
        await sees(pilot, "Ready.")
        await pilot.press("f7")
        await sees(pilot, "The run is not paused. f6 pauses it at its next steering point.")
        await go_to(pilot, app, "stream")
        await pilot.press("g", "b")
        await sees(pilot, "is not a breakpoint location")
