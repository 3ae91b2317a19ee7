"""Holding a run at work: where it stands, what it is answered instead, and how it goes on."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from textual.pilot import Pilot

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
GREY = '{"result": {"sky": "grey"}}'


@pytest.fixture
async def tool_engines(open_engine: Engines) -> AsyncIterator[ToolEngines]:
    opened = ToolEngines(open_engine)
    yield opened
    await opened.close()


def asker(cue: Cue, times: int = 1) -> Any:
    """A runner that pulls, and then asks the tool and says what it answered."""

    async def asks(ctx: Any):
        yield said("Ready.")
        for _ in range(times):
            await cue.wait()
            pulled = await ctx.api.steering_pull()
            for item in pulled.items:
                yield said(f"You said: {item.input.to_text()}")
            answer = await ctx.api.call_tool("weather", {"place": "here"})
            yield said(f"The sky is {answer['sky']}.")
        await cue.wait()
        yield done()

    return asks


async def held_at_pull(pilot: Pilot[None], cue: Cue) -> None:
    """F6, and the run comes to its pull."""
    await say(pilot, "hello")
    await sees(pilot, "Ready.")
    await pilot.press("f6")
    await sees(pilot, "will pause at its next")
    cue.go()
    await sees(pilot, "‖ paused 0 ms at steering")


async def over(app: Trackside) -> FinishedRun:
    view = app.services.updater.view
    assert view is not None
    return await wait_for_run(app.active_session.engine, view.run_id)


def reply_of(run: FinishedRun) -> Any:
    """What the tool call was answered, as the journal has it."""
    (call_id,) = [one.data["call_id"] for one in run.all("call.requested") if one.data["action"] == "call_tool"]
    (reply,) = [one.data["reply"] for one in run.all("call.replied") if one.data["call_id"] == call_id]
    return reply


@at_both_sizes
async def test_what_is_typed_while_it_is_held_at_a_pull_lands_when_it_goes_on(tool_engines: ToolEngines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(asker(cue)))
    async with at_the_screen(app, size) as pilot:
        await held_at_pull(pilot, cue)
        await sees(pilot, "steer ▸ delivered now")
        await say(pilot, "look up")
        await until(pilot, lambda: bool(app.main.queue.items))
        assert await waiting(app) == [("look up", "steer", "queued")]
        await pilot.press("f6")
        await sees(pilot, "You said: look up", "The sky is blue.")
        assert not app.services.situation.is_paused
        cue.go()
        await sees(pilot, "completed")
        assert [entry.data["how"] for entry in (await over(app)).all("pause.ended")] == ["continue"]


@at_both_sizes
async def test_a_call_that_is_answered_by_hand_is_never_made(tool_engines: ToolEngines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(asker(cue)))
    async with at_the_screen(app, size) as pilot:
        await held_at_pull(pilot, cue)
        await pilot.press("f7")
        await sees(pilot, "‖ paused", "call_tool")
        await pilot.press("f4")
        await sees(pilot, "a reply from here replaces the call")
        await pilot.press("f7", *GREY, "f4")
        await sees(pilot, "The reply is replaced.")
        await pilot.press("f6")
        await sees(pilot, "The sky is grey.")
        assert tool_engines.tool.calls == []

        cue.go()
        await sees(pilot, "completed")
        run = await over(app)
        assert run.one("pause.edited").data["edit"] == {"result": {"sky": "grey"}}
        assert reply_of(run) == {"result": {"sky": "grey"}}


@at_both_sizes
async def test_an_answer_can_be_changed_after_it_came_and_the_inspector_shows_both(
    tool_engines: ToolEngines, size: Size
):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(asker(cue)))
    async with at_the_screen(app, size) as pilot:
        await held_at_pull(pilot, cue)
        await pilot.press("f7")
        await until(pilot, lambda: app.services.situation.can_edit_reply)
        await pilot.press("f7")
        await until(pilot, lambda: bool(tool_engines.tool.calls))
        await sees(pilot, "reply")
        await pilot.press("f4")
        await sees(pilot, '"sky": "blue"', "f4 use this reply  esc cancel")
        await pilot.press("f7", *"no JSON", "f4")
        await sees(pilot, "Not JSON")
        await pilot.press("f7", *GREY, "f4")
        await pilot.press("f6")
        await sees(pilot, "The sky is grey.")

        cue.go()
        await sees(pilot, "completed")
        run = await over(app)
        assert len(tool_engines.tool.calls) == 1
        assert reply_of(run) == {"result": {"sky": "grey"}}

        await go_to(pilot, app, "stream")
        await narrow(pilot, app, "kind:pause.edited")
        await pilot.press("g", "enter")
        await sees(pilot, f"#{run.one('pause.edited').position}", "pause.edited", "blue", "grey")


@at_both_sizes
async def test_b_holds_at_each_call_of_the_kind_that_the_cursor_is_on(tool_engines: ToolEngines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(asker(cue, times=2)))
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
async def test_b_holds_at_each_result_of_the_kind_that_the_cursor_is_on(tool_engines: ToolEngines, size: Size):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(asker(cue, times=2)))
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


async def test_where_nothing_can_be_held_the_reason_is_said(tool_engines: ToolEngines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: tool_engines(asker(cue)))
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
