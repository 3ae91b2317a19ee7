"""What is everywhere is in dialogs, too: the run can be stopped and the console left; the footer shows no dead key."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from console.app import Trackside
from console.launch import LaunchOptions
from console.ui.artifacts.save import SaveAs
from console.ui.shared.dialog import AT_ALL_TIMES, Dialog, Question
from console.ui.state.edit import EditValue
from tests.support.console.pilot import Cue, at_the_screen, listener, say, sees, shown, until
from tests.support.engines import Engines


async def keep(*_: Any) -> None:
    """Nowhere."""


def by(command_id: str) -> Callable[[Trackside], Awaitable[None]]:
    return lambda app: app.action_perform(command_id)


def with_screen(make: Callable[[], ModalScreen[Any]]) -> Callable[[Trackside], Awaitable[None]]:
    async def open_it(app: Trackside) -> None:
        await app.push_screen(make())

    return open_it


DIALOGS: dict[str, Callable[[Trackside], Awaitable[None]]] = {
    **{name: by(f"app.{name}") for name in ("help", "theme", "tour", "jump", "palette")},
    "history": by("prompt.history"),
    "question": with_screen(lambda: Question("Sure?", "Yes")),
    "save": with_screen(lambda: SaveAs("a.txt")),
    "value": with_screen(lambda: EditValue("key", "1", keep, 1, lambda: 0, print)),
}


async def under(pilot: Pilot[None], app: Trackside, name: str) -> ModalScreen[Any]:
    """Open a dialog while a run is at work."""
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")
    await until(pilot, lambda: app.services.situation.is_running)
    await DIALOGS[name](app)
    await until(pilot, lambda: isinstance(app.screen, ModalScreen))
    assert isinstance(app.screen, ModalScreen)
    return app.screen


@pytest.mark.parametrize("name", DIALOGS)
async def test_a_run_is_stopped_and_the_console_left_from_every_dialog(open_engine: Engines, name: str):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        dialog = await under(pilot, app, name)
        await pilot.press("ctrl+q")
        await sees(pilot, "A run is in progress. Quitting stops it")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is dialog)
        await pilot.press("f8")
        await until(pilot, lambda: not app.services.situation.is_running)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.controllers.quit.is_quitting)


def test_every_dialog_of_ours_is_one():
    # Of what leaving waits for, nothing is stopped any more.
    own = {each.__name__ for each in ModalScreen.__subclasses__() if each.__module__.startswith("console.")}
    assert own - {"QuitProgress"} == {Dialog.__name__}


async def test_a_value_that_was_changed_is_not_lost_without_asking(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await DIALOGS["value"](app)
        await pilot.press("2", "ctrl+q")
        await sees(pilot, "Your changes are not saved. f4 saves them, ^q again discards them.")
        assert not app.controllers.quit.is_quitting
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.controllers.quit.is_quitting)


@pytest.mark.parametrize("is_covered", [False, True], ids=["panes", "full screen"])
async def test_the_footer_under_a_dialog_shows_only_what_works_there(open_engine: Engines, is_covered: bool):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        if is_covered:
            await app.action_perform("app.sessions")
            await until(pilot, lambda: app.services.full_screen is not None)
        footer = (app.services.full_screen or app.main).footer
        await until(pilot, lambda: "app.help" in [key.command_id for key in footer.keys])
        await pilot.press("f1")
        await until(pilot, lambda: [key.key for key in footer.keys] == ["t", "esc", "^q"])
        await pilot.press("escape")
        await until(pilot, lambda: "app.help" in [key.command_id for key in footer.keys])


async def test_what_waits_for_the_panes_is_named(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+l")
        await until(pilot, lambda: app.services.full_screen is not None)
        await pilot.press("ctrl+n")
        await sees(pilot, "New event works on the main screen. Press esc to go back.")


async def test_help_over_the_panes_says_what_esc_does_there(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+l")
        await until(pilot, lambda: app.services.full_screen is not None)
        await pilot.press("f1", "end")
        await sees(pilot, "Go back one step, finally to the panes.")
        assert "twice there stops the run" not in shown(app)


async def test_where_nothing_was_said_it_is_said_how_to_begin(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, (60, 15)) as pilot:
        await sees(pilot, "No messages yet.", "Type below and press enter.")


async def test_keys_that_were_changed_are_heard_in_dialogs(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        app.set_keymap({AT_ALL_TIMES[0]: "f9"})
        await under(pilot, app, "help")
        await pilot.press("f9")
        await until(pilot, lambda: not app.services.situation.is_running)
