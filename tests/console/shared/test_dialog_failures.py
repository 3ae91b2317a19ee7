"""A dialog or full screen that fails is closed with a toast; the panes and the run continue."""

from collections.abc import Iterator
from typing import Any

import pytest
from textual.widgets import Static

from console.app import Trackside
from console.launch import LaunchOptions
from console.ui.help.screen import Help
from console.ui.main.edit_reply import EditReply
from console.ui.sessions.screen import SessionsScreen
from console.ui.shared.dialog import Question
from console.ui.shared.full_screen import FullScreen
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, listener, say, sees, until
from tests.support.engines import Engines

pytestmark = pytest.mark.usefixtures("every_frame")

HOSTILE = "no [/such] \x1b[31mthing"
FAILURE_TEXT = "failed and was closed: ValueError: no [/such]"
Size = tuple[int, int]


def fail(self: Any = None, *_: Any, **__: Any) -> Any:
    raise ValueError(HOSTILE)


class FailingWidget(Static):
    """A widget whose drawing fails."""

    def render(self) -> Any:
        fail()


@pytest.fixture
def app(open_engine: Engines) -> Trackside:
    return Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))


async def start_run(pilot: Any) -> None:
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")


async def check_console_still_works(app: Trackside, pilot: Any) -> None:
    """Check that the failure is reported, the panes are visible, and keys work as before."""
    await sees(pilot, FAILURE_TEXT)
    await until(pilot, lambda: app.screen is app.main)
    app.main.go_to("prompt")
    await until(pilot, lambda: app.main.where() == "prompt")
    await say(pilot, "be brief")
    await sees(pilot, "be brief", "1 queued")
    assert app.controllers.quit.crash is None


@at_both_sizes
async def test_question_whose_answer_fails_is_closed(app: Trackside, size: Size, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Question, "action_answer", fail)
    async with at_the_screen(app, size) as pilot:
        await start_run(pilot)
        await pilot.press("ctrl+q")
        await sees(pilot, "A run is in progress.")
        await pilot.press("y")
        await check_console_still_works(app, pilot)


async def test_dialog_that_cannot_be_composed_is_closed(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Question, "compose", fail)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        await pilot.press("ctrl+q")
        await check_console_still_works(app, pilot)


async def test_dialog_that_cannot_be_drawn_is_closed(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    def composed(_: Question) -> Iterator[Static]:
        yield FailingWidget()

    monkeypatch.setattr(Question, "compose", composed)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        await pilot.press("ctrl+q")
        await check_console_still_works(app, pilot)


async def test_caller_that_waits_for_a_failed_dialog_gets_none(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(EditReply, "action_save", fail)
    answers: list[Any] = []

    async def ask() -> None:
        class PausedRun:
            edit = original = action = None
            location = "steering"

        answers.append(await app.push_screen_wait(EditReply(PausedRun())))  # type: ignore[arg-type]

    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        app.services.run_in_background(ask())
        await sees(pilot, "f4 use this reply")
        await pilot.press("f4")
        await check_console_still_works(app, pilot)
        assert answers == [None]


@at_both_sizes
@pytest.mark.parametrize("method", ["on_mount", "tick", "action_search", "compose"])
async def test_full_screen_that_fails_is_closed(
    app: Trackside, size: Size, method: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(SessionsScreen, method, fail, raising=False)
    async with at_the_screen(app, size) as pilot:
        await start_run(pilot)
        await pilot.press("ctrl+l")
        if method == "action_search":
            await until(pilot, lambda: isinstance(app.screen, FullScreen))
            await pilot.press("slash")
        await check_console_still_works(app, pilot)


async def test_dialog_over_a_failed_full_screen_is_closed_too(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, Help))
        monkeypatch.setattr(SessionsScreen, "tick", fail)
        await check_console_still_works(app, pilot)


async def test_report_of_a_failed_dialog_can_be_copied(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Question, "action_answer", fail)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        await pilot.press("ctrl+p", *"copy the report")
        await sees(pilot, "Not available: No pane has failed.")
        await pilot.press("escape", "ctrl+q")
        await sees(pilot, "A run is in progress.")
        await pilot.press("y")
        await check_console_still_works(app, pilot)
        await pilot.press("ctrl+p", *"copy the report", "enter")
        await until(pilot, lambda: app.clipboard.startswith("QuitQuestion failed\nTrackside"))
        assert "\x1b" not in app.clipboard
