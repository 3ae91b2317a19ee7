"""A pane that breaks says so in its place; the other panes, the run and the keys go on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.commands.key_labels import with_keys
from console.model.commands.table import BY_ID
from console.ui.conversation.pane import Conversation
from console.ui.inspector.pane import Inspector
from console.ui.main.header import Header
from console.ui.main.layout import LayoutController
from console.ui.main.ribbon import RibbonBar
from console.ui.main.runs_list import RunsList
from console.ui.main.tabs import PaneTabs
from console.ui.prompt.prompt import Prompt
from console.ui.queue.pane import Queue
from console.ui.shared.crash_guard import LINE_FAILED_TEXT, PANE_FAILED_TEXT, PaneGuard
from console.ui.shared.footer import Footer
from console.ui.shared.list import RowList
from console.ui.stream.lines import StreamLines
from console.ui.stream.pane import StreamPane
from tests.support.console.pilot import Cue, at_the_screen, listener, say, sees, shown, until
from tests.support.engines import Engines

pytestmark = pytest.mark.usefixtures("every_frame")

WITH_KEYS: list[tuple[type[Widget], str, str]] = [
    (Conversation, "render_line", "conversation"),
    (StreamLines, "render_line", "stream"),
    (RowList, "render_line", "inspector"),
    (RunsList, "render_line", "rail"),
    (Prompt, "render_line", "prompt"),
    (Queue, "render_line", "queue"),
]
"""What draws, by which method, and the pane it belongs to."""
TOLD: list[tuple[type[Widget], str, str]] = [
    (Conversation, "show", "conversation"),
    (StreamPane, "on_batch", "stream"),
    (StreamPane, "show", "stream"),
    (Inspector, "show_run", "inspector"),
    (Inspector, "show", "inspector"),
    (Queue, "watch_items", "queue"),
]
KEYS = [
    ("conversation", "action_rows", "up"),
    ("stream", "action_move", "up"),
    ("inspector", "action_move", "up"),
    ("rail", "action_move", "up"),
    ("queue", "action_pause", "h"),
    ("prompt", "action_mode", "ctrl+t"),
]
LINES: list[tuple[type[Widget], str]] = [(Header, "header"), (RibbonBar, "ribbon"), (Footer, "footer")]


class Broken(Exception):
    """What a pane raises here; its words are hostile."""


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a method raise until it is mended."""

    def to_break(owner: type, name: str) -> None:
        def broken(self: Any, *_: Any, **__: Any) -> Any:
            raise Broken("[/b] \x1b[2J of the moon")

        monkeypatch.setattr(owner, name, broken)

    to_break.mend = monkeypatch.undo  # type: ignore[attr-defined]
    return to_break


def says(app: Trackside, words: str) -> bool:
    """Whether they are on the screen, also in a pane that is too narrow for them."""
    rows = [row.strip(" │›") for row in shown(app).splitlines()]
    columns = [[part.strip(" ›") for part in row.split("│")] for row in rows]
    joined = [" ".join(row[place] for row in columns if place < len(row)) for place in range(3)]
    return words in shown(app) or any(words in column for column in joined)


def at_work(open_engine: Engines, cue: Cue) -> Trackside:
    return Trackside(LaunchOptions(), lambda: open_engine(listener(cue, turns=3)))


async def with_something_in_every_pane(pilot: Pilot[None]) -> None:
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")
    await say(pilot, "be brief")
    await sees(pilot, "1 queued")


def failed(app: Trackside) -> list[str]:
    return [name for name, pane in app.main.panes.items() if pane.failure is not None]


async def test_a_pane_that_cannot_be_drawn_says_so_and_is_reloaded(open_engine: Engines, breaks: Any):
    cue = Cue()
    app = at_work(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await with_something_in_every_pane(pilot)
        for owner, method, name in WITH_KEYS:
            pane: PaneGuard = app.main.panes[name]
            breaks(owner, method)
            for part in (pane, *pane.query(owner)):
                part.refresh()
            await until(pilot, lambda: says(app, PANE_FAILED_TEXT) and says(app, "Broken: [/b]"))
            assert failed(app) == [name]
            assert "running" in shown(app)

            app.main.go_to(name)
            await until(pilot, lambda pane=pane: pane.has_focus)
            app.copy_to_clipboard("")
            await pilot.press("y")
            await until(pilot, lambda: "Traceback" in app.clipboard)
            assert "Broken" in app.clipboard
            assert "\x1b" not in app.clipboard

            breaks.mend()
            await pilot.press("r")
            await until(pilot, lambda: not failed(app) and not says(app, PANE_FAILED_TEXT))
        app.main.go_to("prompt")
        cue.go()
        await sees(pilot, "Then you said: be brief")


async def test_a_line_that_cannot_be_drawn_says_so_and_the_palette_reloads_it(open_engine: Engines, breaks: Any):
    app = at_work(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        await with_something_in_every_pane(pilot)
        for owner, name in LINES:
            breaks(owner, "render")
            getattr(app.main, name).refresh()
            await sees(pilot, with_keys(LINE_FAILED_TEXT), "You said: hello")
            breaks.mend()
            assert app.services.why_not(BY_ID["app.reload"]) is None
            await app.run_action("reload")
            await until(pilot, lambda: with_keys(LINE_FAILED_TEXT) not in shown(app))
            assert app.services.why_not(BY_ID["app.reload"]) == "No pane has failed."


async def test_the_names_of_the_panes_may_fail_too(open_engine: Engines, breaks: Any):
    app = at_work(open_engine, Cue())
    async with at_the_screen(app, (80, 24)) as pilot:
        breaks(PaneTabs, "render")
        app.main.tabs.refresh()
        await sees(pilot, with_keys(LINE_FAILED_TEXT))
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")


async def test_a_pane_that_cannot_take_what_it_is_told_fails_alone(open_engine: Engines, breaks: Any):
    app = at_work(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        app.main.inspector.choose("state")
        await with_something_in_every_pane(pilot)
        for owner, method, name in TOLD:
            breaks(owner, method)
            app.services.run_in_background(app.services.updater.reload())
            await say(pilot, "more")
            await until(pilot, lambda name=name: failed(app) == [name])
            assert "running" in shown(app)
            breaks.mend()
            await app.run_action("reload")
            await until(pilot, lambda: not failed(app))


@pytest.mark.parametrize("broken", ["talk", "view"])
async def test_a_model_that_breaks_is_the_failure_of_the_pane_that_shows_it(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, broken: str
):
    app = at_work(open_engine, Cue())
    async with at_the_screen(app) as pilot:

        def apply(*_: Any) -> None:
            raise Broken

        where = (
            "console.model.conversation.conversation.ConversationModel.apply"
            if broken == "talk"
            else "console.model.run.view.RunView.apply"
        )
        with monkeypatch.context() as patch:
            patch.setattr(where, apply)
            await say(pilot, "hello")
            pane = app.main.conversation if broken == "talk" else app.main.stream
            await until(pilot, lambda: pane.failure is not None)
        app.main.go_to("conversation" if broken == "talk" else "stream")
        await until(pilot, lambda: pane.has_focus)
        await pilot.press("r")
        await sees(pilot, "You said: hello", "run.started")
        assert pane.failure is None


async def test_a_key_that_breaks_a_pane_breaks_nothing_else(open_engine: Engines, breaks: Any):
    app = at_work(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        await with_something_in_every_pane(pilot)
        for name, method, key in KEYS:
            pane = app.main.panes[name]
            breaks(next(kind for kind in type(pane).__mro__ if method in vars(kind)), method)
            app.main.go_to(name)
            await until(pilot, lambda pane=pane: pane.has_focus or pane.has_focus_within)
            await pilot.press(key)
            await until(pilot, lambda name=name: failed(app) == [name])
            breaks.mend()
            await app.run_action("reload")
            await until(pilot, lambda: not failed(app))


async def test_a_message_of_the_mouse_that_breaks_a_part_is_the_failure_of_its_pane(open_engine: Engines, breaks: Any):
    app = at_work(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "run.started")
        breaks(StreamLines, "on_click")
        await pilot.click(StreamLines, offset=(5, 3))
        await until(pilot, lambda: app.main.stream.failure is not None)
        breaks.mend()
        app.main.go_to("stream")
        await pilot.press("r")
        await sees(pilot, "run.started")
        await pilot.click(StreamLines, offset=(5, 2))
        await until(pilot, lambda: app.services.updater.as_of is not None)


async def test_what_breaks_in_the_app_itself_ends_it_with_a_report_and_keeps_what_was_typed(
    open_engine: Engines, breaks: Any
):
    app = at_work(open_engine, Cue())

    async def to_its_end() -> None:
        async with at_the_screen(app) as pilot:
            await say(pilot, "hello")
            await sees(pilot, "You said: hello")
            await pilot.press(*"half a thou")
            breaks(LayoutController, "action_zoom")
            await pilot.press("f2")
            await until(pilot, lambda: app.controllers.quit.crash is not None)

    with pytest.raises(Broken):
        await to_its_end()
    first, second = app.controllers.quit.exit_messages
    assert first.startswith("The console failed (Broken: [/b] ␛[2J of the moon).")
    assert "Your unsent text is restored the next time." in first
    report = Path(second.removeprefix("The full report is in ").removesuffix("."))
    assert "Traceback" in await asyncio.to_thread(report.read_text, "utf-8")
    assert app.return_code == 1
    breaks.mend()

    again = at_work(open_engine, Cue())
    async with at_the_screen(again) as pilot:
        (run,) = await again.active_session.engine.runs.list()
        assert (run.status, run.status_reason) == ("cancelled", "cancelled")
        assert await again.active_session.engine.hosts() != []
        await until(pilot, lambda: again.main.prompt.text == "half a thou")
