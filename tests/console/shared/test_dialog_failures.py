"""A dialog or another screen over the panes that breaks is closed and says so; the panes and the run go on."""

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
SAID = "failed and was closed: ValueError: no [/such]"
Size = tuple[int, int]


def breaks(self: Any = None, *_: Any, **__: Any) -> Any:
    raise ValueError(HOSTILE)


class Unhappy(Static):
    """Cannot be drawn."""

    def render(self) -> Any:
        breaks()


@pytest.fixture
def app(open_engine: Engines) -> Trackside:
    return Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))


async def at_work(pilot: Any) -> None:
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")


async def lives_on(app: Trackside, pilot: Any) -> None:
    """It was told, the panes are seen, and keys do what they always do."""
    await sees(pilot, SAID)
    await until(pilot, lambda: app.screen is app.main)
    app.main.go_to("prompt")
    await until(pilot, lambda: app.main.where() == "prompt")
    await say(pilot, "be brief")
    await sees(pilot, "be brief", "1 queued")
    assert app.controllers.quit.crash is None


@at_both_sizes
async def test_a_question_that_cannot_take_its_answer(app: Trackside, size: Size, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Question, "action_answer", breaks)
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot)
        await pilot.press("ctrl+q")
        await sees(pilot, "A run is in progress.")
        await pilot.press("y")
        await lives_on(app, pilot)


async def test_a_dialog_that_cannot_be_put_together(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Question, "compose", breaks)
    async with at_the_screen(app) as pilot:
        await at_work(pilot)
        await pilot.press("ctrl+q")
        await lives_on(app, pilot)


async def test_a_dialog_that_cannot_be_drawn(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    def composed(_: Question) -> Iterator[Static]:
        yield Unhappy()

    monkeypatch.setattr(Question, "compose", composed)
    async with at_the_screen(app) as pilot:
        await at_work(pilot)
        await pilot.press("ctrl+q")
        await lives_on(app, pilot)


async def test_who_waits_for_the_answer_of_a_dialog_gets_none(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(EditReply, "action_save", breaks)
    answers: list[Any] = []

    async def ask() -> None:
        class Held:
            edit = original = action = None
            location = "steering"

        answers.append(await app.push_screen_wait(EditReply(Held())))  # type: ignore[arg-type]

    async with at_the_screen(app) as pilot:
        await at_work(pilot)
        app.services.run_in_background(ask())
        await sees(pilot, "f4 use this reply")
        await pilot.press("f4")
        await lives_on(app, pilot)
        assert answers == [None]


@at_both_sizes
@pytest.mark.parametrize("broken", ["on_mount", "tick", "action_search", "compose"])
async def test_a_full_screen_that_breaks(app: Trackside, size: Size, broken: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(SessionsScreen, broken, breaks, raising=False)
    async with at_the_screen(app, size) as pilot:
        await at_work(pilot)
        await pilot.press("ctrl+l")
        if broken == "action_search":
            await until(pilot, lambda: isinstance(app.screen, FullScreen))
            await pilot.press("slash")
        await lives_on(app, pilot)


async def test_what_lies_over_a_screen_that_breaks_goes_with_it(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    async with at_the_screen(app) as pilot:
        await at_work(pilot)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, SessionsScreen))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, Help))
        monkeypatch.setattr(SessionsScreen, "tick", breaks)
        await lives_on(app, pilot)


async def test_its_report_can_be_copied(app: Trackside, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Question, "action_answer", breaks)
    async with at_the_screen(app) as pilot:
        await at_work(pilot)
        await pilot.press("ctrl+p", *"copy the report")
        await sees(pilot, "Not available: No pane has failed.")
        await pilot.press("escape", "ctrl+q")
        await sees(pilot, "A run is in progress.")
        await pilot.press("y")
        await lives_on(app, pilot)
        await pilot.press("ctrl+p", *"copy the report", "enter")
        await until(pilot, lambda: app.clipboard.startswith("QuitQuestion failed\nTrackside"))
        assert "\x1b" not in app.clipboard
