"""Every key of every place has an effect: it changes the screen, or a reason is shown."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual.keys import key_to_character
from textual.widget import Widget
from textual.widgets import OptionList

from console.model.commands.table import Command, commands_of
from console.ui.composer.files import AttachmentList
from console.ui.shared.bindings import keys_of
from console.ui.shared.dialog import Dialog
from console.ui.shared.full_screen import FullScreen
from tests.console.pictures.open_scene import open_scene
from tests.support.console.scene_driver import SceneDriver

UP = {"up", "above", "earlier", "previous", "page_up", "half_up", "first", "turn_before", "previous_match", "next_mark"}
"""Moves that have no effect from the start position; all other keys are tried from there."""
TRIED_LAST = {
    "conversation.fork", "prompt.send", "queue.withdraw", "queue.edit", "sessions.delete", "states.delete",
    "states.clear", "states.whose", "states.history", "artifacts.whose", "composer.send", "composer.anew",
}  # fmt: skip
"""Keys that leave the place or remove something."""
Go = Callable[[SceneDriver], Awaitable[None]]


class Place(NamedTuple):
    """A place in which keys are tried."""

    scene: str
    go: Go
    """Goes to the place from anywhere."""
    end: Go
    """Goes to a position with rows above."""
    home: tuple[str, ...] = ("home",)
    """Keys that go to a position with rows below."""


async def do_nothing(_: SceneDriver) -> None:
    pass


def press_keys(*keys: str) -> Go:
    async def press(driver: SceneDriver) -> None:
        await driver.press(*keys)

    return press


def pane(name: str) -> Go:
    async def go(driver: SceneDriver) -> None:
        while driver.app.screen is not driver.app.main:
            await driver.app.pop_screen()
            await driver.wait_until_drawn()
        main = driver.app.main
        for one_pane in (main.stream, main.inspector):
            one_pane.close_line()
        main.go_to(name)
        await driver.wait_until_drawn()

    return go


async def go_to_context_tab(driver: SceneDriver) -> None:
    """Go to the inspector tab with the most rows."""
    await pane("inspector")(driver)
    if driver.app.main.inspector.tab != "context":
        driver.app.main.inspector.choose("context")
        await driver.wait_until_settled()


async def go_to_attachments(driver: SceneDriver) -> None:
    """Go to the list of files of an event."""
    await screen("app.compose", "#path")(driver)
    files = driver.app.screen.query_one(AttachmentList)
    await asyncio.to_thread(Path("more.txt").write_text, "and more")
    for name in {"notes.txt", "more.txt"} - {file.name for file in files.files}:
        await driver.press(*name, "enter")
        await driver.wait_until(lambda name=name: name in [file.name for file in files.files])
    files.focus()
    await driver.wait_until_drawn()


async def go_to_search_without_results(driver: SceneDriver) -> None:
    """Go to a search without a match."""
    await screen("app.sessions", "", "slash", *"xylophone", "enter")(driver)
    await driver.wait_until("No results for")


async def go_to_offered_paths(driver: SceneDriver) -> None:
    """Go to the prompt while paths are offered."""
    await pane("prompt")(driver)
    driver.app.main.prompt.load("")
    await driver.press(*"@no")
    await driver.wait_until("tab uses the path")


def screen(command: str, focus: str = "", *keys: str) -> Go:
    """Open a full screen, and go to a part of it."""

    async def go(driver: SceneDriver) -> None:
        app = driver.app
        if [app.screen, app.screen.focused] == opened:
            return  # unchanged except for the cursor
        await pane("prompt")(driver)
        await app.action_perform(command)
        await driver.wait_until(lambda: isinstance(app.screen, FullScreen))
        await wait_until_idle(driver)
        if focus:
            app.screen.query_one(focus).focus()
            await driver.wait_until_drawn()
        await driver.press(*keys)
        await wait_until_idle(driver)
        opened[:] = (app.screen, app.screen.focused)

    opened: list[Any] = []
    return go


async def wait_until_idle(driver: SceneDriver) -> None:
    """Wait until no work is pending, except for work that waits for a runner."""
    await driver.wait_until_drawn()
    with suppress(TimeoutError):
        async with asyncio.timeout(0.5):
            await driver.wait_for_reads()


PLACES = {
    "prompt": Place("queued", pane("prompt"), do_nothing),
    "queue": Place("queued", pane("queue"), press_keys("down")),
    "conversation": Place("completed", pane("conversation"), press_keys("end", "alt+up")),
    "stream": Place("completed", pane("stream"), press_keys("G", "k")),
    "inspector": Place("completed", go_to_context_tab, press_keys("end")),
    "rail": Place("completed", pane("rail"), press_keys("end")),
    "sessions": Place("sessions", screen("app.sessions"), press_keys("end")),
    "states": Place("states", screen("app.states"), press_keys("end")),
    "artifacts": Place("artifacts", screen("app.artifacts"), press_keys("end")),
    "runners": Place("runners", screen("app.runners"), press_keys("pagedown")),
    "form": Place("form", screen("app.settings"), press_keys("end")),
    "composer": Place("composer", screen("app.compose"), press_keys("down", "down")),
    "choice": Place("composer", screen("app.compose", "#event_type"), do_nothing),
    "files": Place("composer_event", go_to_attachments, press_keys("down"), ()),
    "field": Place("form", screen("app.settings", "", "slash", *"pace", "enter", "enter"), press_keys("down")),
    "paths": Place("path_offered", go_to_offered_paths, do_nothing, ()),
}
EMPTY_PLACES = {
    **{name: Place("idle", pane(name), do_nothing) for name in ("prompt", "conversation", "stream", "inspector")},
    "rail": Place("first_run", pane("rail"), do_nothing),
    "sessions": Place("sessions_not_found", go_to_search_without_results, do_nothing),
    "states": Place("states_empty", screen("app.states"), do_nothing),
    "artifacts": Place("no_artifacts", screen("app.artifacts"), do_nothing),
    "runners": Place("runners_none", screen("app.runners", "", *"zebra"), do_nothing),
}
"""The same places without data."""
FULL_SCREENS = {"sessions", "states", "artifacts", "runners", "form", "composer"}
MAX_CHECKS = 20
"""Checks before a key counts as without effect: the engine may take a moment."""
SIZE = (140, 22)
"""All panes side by side, with so few rows that the panes scroll."""


def keys_to_try(place: str) -> list[tuple[Command, str]]:
    """Return all keys of a place; those that leave it are last."""
    commands = sorted(commands_of(place), key=lambda command: command.id in TRIED_LAST)
    return [(command, key) for command in commands for key in keys_of(command)]


def observable_state(driver: SceneDriver) -> tuple[Any, ...]:
    """Return everything that a key could change."""
    app = driver.app
    focused: Widget | None = app.screen.focused
    cursors = getattr(focused, "cursor_location", None), [one.highlighted for one in app.screen.query(OptionList)]
    return (
        driver.screen_text,
        id(focused),
        len(app._notifications),
        app.clipboard,
        id(app.screen),
        cursors,
        app.main.prompt.mode,
    )


async def has_no_effect(driver: SceneDriver, key: str) -> bool:
    """Press a key, and return whether nothing has changed."""
    driver.app.clear_notifications()
    driver.app._clipboard = ""
    await wait_until_idle(driver)
    before = observable_state(driver)
    sent = key_to_character(key)
    await driver.press(sent if sent is not None and sent.isprintable() else key)
    for _ in range(MAX_CHECKS):
        await wait_until_idle(driver)
        if observable_state(driver) != before:
            return False
        await asyncio.sleep(0.01)
        await driver.tick()
    return True


async def keys_without_effect(place: Place, keys: list[tuple[Command, str]], folder: Path) -> str:
    """Try keys in a place, and name those without an effect."""
    async with open_scene(place.scene, folder, SIZE) as driver:
        without_effect: list[str] = []
        for command, key in keys:
            await place.go(driver)
            await driver.press(*place.home)
            if command.what in UP:
                await place.end(driver)
            if await has_no_effect(driver, key):
                without_effect.append(f"{command.id}: {key}")
        return ", ".join(without_effect)


@pytest.mark.parametrize("name", PLACES)
async def test_every_key_of_a_place_with_data_has_an_effect(name: str, tmp_path: Path):
    everywhere = keys_to_try("app") if name == "stream" or name in FULL_SCREENS else []
    keys = [*keys_to_try(name), *(one for one in everywhere if one[0].id != "app.quit")]
    assert await keys_without_effect(PLACES[name], keys, tmp_path) == ""


@pytest.mark.parametrize("name", EMPTY_PLACES)
async def test_every_key_of_an_empty_place_has_an_effect(name: str, tmp_path: Path):
    assert await keys_without_effect(EMPTY_PLACES[name], keys_to_try(name), tmp_path) == ""


async def test_every_key_of_a_dialog_has_an_effect(tmp_path: Path):
    without_effect: list[str] = []
    async with open_scene("completed", tmp_path, SIZE) as driver:
        for command in ("app.help", "app.theme", "app.tour", "app.jump", "prompt.history"):
            await pane("prompt")(driver)
            await driver.app.action_perform(command)
            await driver.wait_until_drawn()
            kinds = [kind for kind in type(driver.app.screen).__mro__ if kind.__module__.startswith("console.")]
            ours = [vars(kind) for kind in kinds if kind is not Dialog]  # its own keys end the run or the console
            for key in {key for kind in ours for one in kind.get("BINDINGS", ()) for key in one.key.split(",")}:
                await pane("prompt")(driver)
                await driver.app.action_perform(command)
                await driver.wait_until_drawn()
                await driver.press(*(("down",) if command in ("app.tour", "app.theme", "prompt.history") else ()))
                if await has_no_effect(driver, key):
                    without_effect.append(f"{command}: {key}")
    assert ", ".join(without_effect) == ""
