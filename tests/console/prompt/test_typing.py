"""Typing in the prompt: several lines, large pastes, and earlier messages."""

from typing import Any

from textual import events

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import at_both_sizes, at_the_screen, say, sees, until
from tests.support.engines import Engines, said

Size = tuple[int, int]


class Ear:
    """A runner that records its input exactly."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    @property
    def runner(self) -> Any:
        async def listens(ctx: Any):
            self.heard.append(ctx.input.to_text())
            yield said(f"That was number {len(self.heard)}.")

        return listens


@at_both_sizes
async def test_up_shows_the_history_and_down_the_draft(open_engine: Engines, size: Size):
    ear = Ear()
    app = Trackside(LaunchOptions(), lambda: open_engine(ear.runner))
    async with at_the_screen(app, size) as pilot:
        for number, text in enumerate(("first", "second"), 1):
            await say(pilot, text)
            await sees(pilot, f"That was number {number}.")
            await until(pilot, lambda: not app.situation.is_running)
        await pilot.press(*"draft", "up")
        assert app.main.prompt.text == "second"
        await pilot.press("up")
        assert app.main.prompt.text == "first"
        await pilot.press("down", "down")
        assert app.main.prompt.text == "draft"
        await pilot.press("up", "up", "end", *" again", "enter")
        await sees(pilot, "That was number 3.")
        assert ear.heard == ["first", "second", "first again"]


@at_both_sizes
async def test_large_paste_is_a_token_and_sent_whole(open_engine: Engines, size: Size):
    ear, pasted = Ear(), "\n".join(f"line {number} of many" for number in range(2_000))
    app = Trackside(LaunchOptions(), lambda: open_engine(ear.runner))
    async with at_the_screen(app, size) as pilot:
        await pilot.press(*"see: ")
        app.main.prompt.post_message(events.Paste(pasted))
        await sees(pilot, f"⟦pasted {len(pasted):,} characters⟧")
        assert len(app.main.prompt.text) < 60
        await pilot.press(*" done", "enter")
        await sees(pilot, "That was number 1.")
        assert ear.heard == [f"see: {pasted} done"]


@at_both_sizes
async def test_ctrl_j_begins_a_line_and_enter_sends_all_lines(open_engine: Engines, size: Size):
    ear = Ear()
    app = Trackside(LaunchOptions(), lambda: open_engine(ear.runner))
    async with at_the_screen(app, size) as pilot:
        rows = app.main.prompt.size.height
        await pilot.press(*"one", "ctrl+j", *"two", "ctrl+j", *"three")
        await until(pilot, lambda: app.main.prompt.size.height > rows)
        assert ear.heard == []
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert ear.heard == ["one\ntwo\nthree"]
        assert app.main.prompt.text == ""
