"""A pane that fails says so in its place; the other panes, the run and the keys continue."""

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

DRAWING_METHODS: list[tuple[type[Widget], str, str]] = [
    (Conversation, "render_line", "conversation"),
    (StreamLines, "render_line", "stream"),
    (RowList, "render_line", "inspector"),
    (RunsList, "render_line", "rail"),
    (Prompt, "render_line", "prompt"),
    (Queue, "render_line", "queue"),
]
"""Each widget that draws, its method, and the name of its pane."""
UPDATE_METHODS: list[tuple[type[Widget], str, str]] = [
    (Conversation, "show", "conversation"),
    (StreamPane, "on_batch", "stream"),
    (StreamPane, "show", "stream"),
    (Inspector, "show_run", "inspector"),
    (Inspector, "show", "inspector"),
    (Queue, "watch_items", "queue"),
]
KEY_ACTIONS = [
    ("conversation", "action_rows", "up"),
    ("stream", "action_move", "up"),
    ("inspector", "action_move", "up"),
    ("rail", "action_move", "up"),
    ("queue", "action_pause", "h"),
    ("prompt", "action_mode", "ctrl+t"),
]
LINE_WIDGETS: list[tuple[type[Widget], str]] = [(Header, "header"), (RibbonBar, "ribbon"), (Footer, "footer")]


class Broken(Exception):
    """Raised by the methods that a test breaks. Its message contains markup and an escape sequence."""


@pytest.fixture
def break_method(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that makes a method raise until its `repair()` is called."""

    def patch_method(owner: type, name: str) -> None:
        def broken(self: Any, *_: Any, **__: Any) -> Any:
            raise Broken("[/b] \x1b[2J of the moon")

        monkeypatch.setattr(owner, name, broken)

    patch_method.repair = monkeypatch.undo  # type: ignore[attr-defined]
    return patch_method


def is_shown(app: Trackside, text: str) -> bool:
    """Return whether a text is on the screen, also if a narrow pane wraps it."""
    rows = [row.strip(" │›") for row in shown(app).splitlines()]
    columns = [[part.strip(" ›") for part in row.split("│")] for row in rows]
    joined = [" ".join(row[column] for row in columns if column < len(row)) for column in range(3)]
    return text in shown(app) or any(text in joined_column for joined_column in joined)


def make_console(open_engine: Engines, cue: Cue) -> Trackside:
    return Trackside(LaunchOptions(), lambda: open_engine(listener(cue, turns=3)))


async def fill_every_pane(pilot: Pilot[None]) -> None:
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")
    await say(pilot, "be brief")
    await sees(pilot, "1 queued")


def failed_panes(app: Trackside) -> list[str]:
    return [name for name, pane in app.main.panes.items() if pane.failure is not None]


async def test_pane_that_cannot_be_drawn_says_so_and_can_be_reloaded(open_engine: Engines, break_method: Any):
    cue = Cue()
    app = make_console(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await fill_every_pane(pilot)
        for owner, method, name in DRAWING_METHODS:
            pane: PaneGuard = app.main.panes[name]
            break_method(owner, method)
            for part in (pane, *pane.query(owner)):
                part.refresh()
            await until(pilot, lambda: is_shown(app, PANE_FAILED_TEXT) and is_shown(app, "Broken: [/b]"))
            assert failed_panes(app) == [name]
            assert "running" in shown(app)

            app.main.go_to(name)
            await until(pilot, lambda pane=pane: pane.has_focus)
            app.copy_to_clipboard("")
            await pilot.press("y")
            await until(pilot, lambda: "Traceback" in app.clipboard)
            assert "Broken" in app.clipboard
            assert "\x1b" not in app.clipboard

            break_method.repair()
            await pilot.press("r")
            await until(pilot, lambda: not failed_panes(app) and not is_shown(app, PANE_FAILED_TEXT))
        app.main.go_to("prompt")
        cue.go()
        await sees(pilot, "Then you said: be brief")


async def test_line_that_cannot_be_drawn_says_so_and_can_be_reloaded(open_engine: Engines, break_method: Any):
    app = make_console(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        await fill_every_pane(pilot)
        for owner, name in LINE_WIDGETS:
            break_method(owner, "render")
            getattr(app.main, name).refresh()
            await sees(pilot, with_keys(LINE_FAILED_TEXT), "You said: hello")
            break_method.repair()
            assert app.services.why_not(BY_ID["app.reload"]) is None
            await app.run_action("reload")
            await until(pilot, lambda: with_keys(LINE_FAILED_TEXT) not in shown(app))
            assert app.services.why_not(BY_ID["app.reload"]) == "No pane has failed."


async def test_failure_of_the_tabs_does_not_affect_the_panes(open_engine: Engines, break_method: Any):
    app = make_console(open_engine, Cue())
    async with at_the_screen(app, (80, 24)) as pilot:
        break_method(PaneTabs, "render")
        app.main.tabs.refresh()
        await sees(pilot, with_keys(LINE_FAILED_TEXT))
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")


async def test_failure_of_an_update_affects_only_its_pane(open_engine: Engines, break_method: Any):
    app = make_console(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        app.main.inspector.choose("state")
        await fill_every_pane(pilot)
        for owner, method, name in UPDATE_METHODS:
            break_method(owner, method)
            app.services.run_in_background(app.services.updater.reload())
            await say(pilot, "more")
            await until(pilot, lambda name=name: failed_panes(app) == [name])
            assert "running" in shown(app)
            break_method.repair()
            await app.run_action("reload")
            await until(pilot, lambda: not failed_panes(app))


@pytest.mark.parametrize("broken", ["conversation", "stream"])
async def test_failure_of_a_model_is_shown_by_its_pane(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, broken: str
):
    app = make_console(open_engine, Cue())
    async with at_the_screen(app) as pilot:

        def apply(*_: Any) -> None:
            raise Broken

        method = (
            "console.model.conversation.conversation.ConversationModel.apply"
            if broken == "conversation"
            else "console.model.run.view.RunView.apply"
        )
        with monkeypatch.context() as patch:
            patch.setattr(method, apply)
            await say(pilot, "hello")
            pane = app.main.conversation if broken == "conversation" else app.main.stream
            await until(pilot, lambda: pane.failure is not None)
        app.main.go_to(broken)
        await until(pilot, lambda: pane.has_focus)
        await pilot.press("r")
        await sees(pilot, "You said: hello", "run.started")
        assert pane.failure is None


async def test_failure_of_a_key_action_affects_only_its_pane(open_engine: Engines, break_method: Any):
    app = make_console(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        await fill_every_pane(pilot)
        for name, method, key in KEY_ACTIONS:
            pane = app.main.panes[name]
            break_method(next(kind for kind in type(pane).__mro__ if method in vars(kind)), method)
            app.main.go_to(name)
            await until(pilot, lambda pane=pane: pane.has_focus or pane.has_focus_within)
            await pilot.press(key)
            await until(pilot, lambda name=name: failed_panes(app) == [name])
            break_method.repair()
            await app.run_action("reload")
            await until(pilot, lambda: not failed_panes(app))


async def test_failure_of_a_mouse_handler_is_shown_by_its_pane(open_engine: Engines, break_method: Any):
    app = make_console(open_engine, Cue())
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "run.started")
        break_method(StreamLines, "on_click")
        await pilot.click(StreamLines, offset=(5, 3))
        await until(pilot, lambda: app.main.stream.failure is not None)
        break_method.repair()
        app.main.go_to("stream")
        await pilot.press("r")
        await sees(pilot, "run.started")
        await pilot.click(StreamLines, offset=(5, 2))
        await until(pilot, lambda: app.services.updater.as_of is not None)


async def test_failure_of_the_app_quits_with_a_report_and_keeps_the_draft(open_engine: Engines, break_method: Any):
    app = make_console(open_engine, Cue())

    async def run_until_crash() -> None:
        async with at_the_screen(app) as pilot:
            await say(pilot, "hello")
            await sees(pilot, "You said: hello")
            await pilot.press(*"half a thou")
            break_method(LayoutController, "action_zoom")
            await pilot.press("f2")
            await until(pilot, lambda: app.controllers.quit.crash is not None)

    with pytest.raises(Broken):
        await run_until_crash()
    first, second = app.controllers.quit.exit_messages
    assert first.startswith("The console failed (Broken: [/b] ␛[2J of the moon).")
    assert "Your unsent text is restored the next time." in first
    report = Path(second.removeprefix("The full report is in ").removesuffix("."))
    assert "Traceback" in await asyncio.to_thread(report.read_text, "utf-8")
    assert app.return_code == 1
    break_method.repair()

    again = make_console(open_engine, Cue())
    async with at_the_screen(again) as pilot:
        (run,) = await again.active_session.engine.runs.list()
        assert (run.status, run.status_reason) == ("cancelled", "cancelled")
        assert await again.active_session.engine.hosts() != []
        await until(pilot, lambda: again.main.prompt.text == "half a thou")
