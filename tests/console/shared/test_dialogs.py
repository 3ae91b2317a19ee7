"""Dialogs: stop and quit work in each of them, and the footer shows only keys that work."""

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


async def save_nothing(*_: Any) -> None:
    """Save nothing."""


def by_command(command_id: str) -> Callable[[Trackside], Awaitable[None]]:
    return lambda app: app.action_perform(command_id)


def by_pushing(make: Callable[[], ModalScreen[Any]]) -> Callable[[Trackside], Awaitable[None]]:
    async def push(app: Trackside) -> None:
        await app.push_screen(make())

    return push


DIALOGS: dict[str, Callable[[Trackside], Awaitable[None]]] = {
    **{name: by_command(f"app.{name}") for name in ("help", "theme", "tour", "jump", "palette")},
    "history": by_command("prompt.history"),
    "question": by_pushing(lambda: Question("Sure?", "Yes")),
    "save": by_pushing(lambda: SaveAs("a.txt")),
    "value": by_pushing(lambda: EditValue("key", "1", save_nothing, 1, lambda: 0, print)),
}


async def open_dialog_during_a_run(pilot: Pilot[None], app: Trackside, name: str) -> ModalScreen[Any]:
    """Start a run and open a dialog."""
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")
    await until(pilot, lambda: app.services.situation.is_running)
    await DIALOGS[name](app)
    await until(pilot, lambda: isinstance(app.screen, ModalScreen))
    assert isinstance(app.screen, ModalScreen)
    return app.screen


@pytest.mark.parametrize("name", DIALOGS)
async def test_stop_and_quit_work_in_every_dialog(open_engine: Engines, name: str):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        dialog = await open_dialog_during_a_run(pilot, app, name)
        await pilot.press("ctrl+q")
        await sees(pilot, "A run is in progress. Quitting stops it")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is dialog)
        await pilot.press("f8")
        await until(pilot, lambda: not app.services.situation.is_running)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.controllers.quit.is_quitting)


def test_every_modal_screen_is_a_dialog():
    # QuitProgress is no Dialog: when it is shown, the run is already being stopped.
    modal_classes = {cls.__name__ for cls in ModalScreen.__subclasses__() if cls.__module__.startswith("console.")}
    assert modal_classes - {"QuitProgress"} == {Dialog.__name__}


async def test_quit_in_the_value_editor_asks_before_it_discards_changes(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await DIALOGS["value"](app)
        await pilot.press("2", "ctrl+q")
        await sees(pilot, "Your changes are not saved. f4 saves them, ^q again discards them.")
        assert not app.controllers.quit.is_quitting
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.controllers.quit.is_quitting)


@pytest.mark.parametrize("is_covered", [False, True], ids=["panes", "full screen"])
async def test_footer_shows_only_keys_that_work_in_the_dialog(open_engine: Engines, is_covered: bool):
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


async def test_command_of_the_main_screen_says_where_it_works(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+l")
        await until(pilot, lambda: app.services.full_screen is not None)
        await pilot.press("ctrl+n")
        await sees(pilot, "New event works on the main screen. Press esc to go back.")


async def test_help_on_a_full_screen_describes_esc_there(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+l")
        await until(pilot, lambda: app.services.full_screen is not None)
        await pilot.press("f1", "end")
        await sees(pilot, "Go back one step, finally to the panes.")
        assert "twice there stops the run" not in shown(app)


async def test_empty_conversation_says_how_to_start(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, (60, 15)) as pilot:
        await sees(pilot, "No messages yet.", "Type below and press enter.")


async def test_custom_keys_work_in_dialogs(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app) as pilot:
        app.set_keymap({AT_ALL_TIMES[0]: "f9"})
        await open_dialog_during_a_run(pilot, app, "help")
        await pilot.press("f9")
        await until(pilot, lambda: not app.services.situation.is_running)
