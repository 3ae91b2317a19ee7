"""The first minute in the console: first message, steering, stop, a slow or failed start, and the example message."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual import events

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.preferences.color_themes import PALETTES
from console.ui.prompt.drafts import FIRST_MESSAGE
from tests.console.pictures.open_scene import open_scene
from tests.support.console.drawn_screen import weak
from tests.support.console.pilot import Cue, at_both_sizes, listener, shown, until
from tests.support.engines import Engines


@at_both_sizes
async def test_first_message_starts_a_run_and_the_second_steers_it(open_engine: Engines, size: tuple[int, int]):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue)))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.active_session.is_open)
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: "You said: hello" in shown(app))
        assert "running" in shown(app)

        await pilot.press(*"be brief", "enter")
        await until(pilot, lambda: "be brief" in shown(app) and "1 queued" in shown(app))

        cue.go()
        await until(pilot, lambda: "Then you said: be brief" in shown(app) and "delivered" in shown(app))

        cue.go()
        await until(pilot, lambda: "completed" in shown(app))


async def test_stop_shows_the_undelivered_message_as_dropped(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with app.run_test(size=(160, 45)) as pilot:
        await until(pilot, lambda: app.active_session.is_open)
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: "You said: hello" in shown(app))
        await pilot.press(*"too late", "enter")
        await until(pilot, lambda: "1 queued" in shown(app))
        await pilot.press("f8")
        await until(pilot, lambda: "stopped by you" in shown(app))
        await until(pilot, lambda: "dropped" in shown(app))
        assert "too late" in shown(app)


async def test_keys_typed_before_the_engine_is_open_are_kept(open_engine: Engines):
    can_open = asyncio.Event()

    async def open_slowly() -> Any:
        await can_open.wait()
        return await open_engine(listener(Cue()))

    app = Trackside(LaunchOptions(), open_slowly)
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.press(*"early", "enter", *"bird")
        can_open.set()
        await until(pilot, lambda: "You said: early" in shown(app))
        assert app.main.prompt.text == "bird"


async def test_failed_start_is_shown_and_the_prompt_still_works():
    async def fail_to_open() -> Any:
        raise OSError("the database is unreachable [/b]")

    app = Trackside(LaunchOptions(), fail_to_open)
    async with app.run_test(size=(160, 45)) as pilot:
        await until(pilot, lambda: "is unreachable" in shown(app))
        await pilot.press(*"still typing")
        assert app.main.prompt.text == "still typing"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("hello there", "hello there"),
        (["tab", "shift+tab", "h", "i"], "hi"),
        (["backspace"], FIRST_MESSAGE[:-1]),
        (["end", *" now"], f"{FIRST_MESSAGE} now"),
        (["left", "X"], f"{FIRST_MESSAGE[:-1]}X{FIRST_MESSAGE[-1]}"),
        (["home", *"Do: "], f"Do: {FIRST_MESSAGE}"),
        (["ctrl+j", "x"], f"{FIRST_MESSAGE}\nx"),
        (["up", *"Do: "], f"Do: {FIRST_MESSAGE}"),
    ],
    ids=str,
)
async def test_typed_text_replaces_the_example_and_editing_keys_keep_it(keys: list[str], expected: str, tmp_path: Path):
    async with open_scene("first_run", tmp_path, (160, 45)) as driver:
        prompt = driver.app.main.prompt
        assert prompt.text == prompt.selected_text == FIRST_MESSAGE
        await driver.press(*keys)
        await driver.wait_until(lambda: prompt.text == expected)


async def test_pasted_text_replaces_the_example(tmp_path: Path):
    async with open_scene("first_run", tmp_path, (160, 45)) as driver:
        driver.app.post_message(events.Paste("two\nlines"))
        await driver.wait_until(lambda: driver.app.main.prompt.text == "two\nlines")


async def test_text_typed_in_the_conversation_replaces_the_example(tmp_path: Path):
    async with open_scene("first_run", tmp_path, (160, 45)) as driver:
        driver.app.main.go_to("conversation")
        await driver.press(*"hello")
        await driver.wait_until(lambda: driver.app.main.prompt.text == "hello")


async def test_attachment_is_added_to_the_example(tmp_path: Path):
    async with open_scene("first_run", tmp_path, (160, 45)) as driver:
        await driver.app.action_perform("app.attach")
        await driver.press(*"no")
        await driver.wait_until(lambda: driver.app.main.prompt.text == f"{FIRST_MESSAGE} @no")


async def test_enter_sends_the_example_unchanged(tmp_path: Path):
    async with open_scene("first_run", tmp_path, (160, 45)) as driver:
        prompt = driver.app.main.prompt
        await driver.press("enter")
        await driver.wait_until(lambda: prompt.text == "" and prompt.sent == [FIRST_MESSAGE])


@pytest.mark.parametrize(("keys", "kept"), [("", ""), ("My own words", "My own words")], ids=["untouched", "typed"])
async def test_choosing_another_runner_removes_the_welcome_card_and_its_example(keys: str, kept: str, tmp_path: Path):
    async with open_scene("first_run", tmp_path, (160, 45)) as driver:
        app, main = driver.app, driver.app.main
        await driver.press(*keys, "f3")
        await driver.wait_until(lambda: "Answers with" in driver.screen_text)
        await driver.press(*"echo", "enter")
        await driver.wait_until(lambda: app.screen is main and not main.card.display and main.prompt.text == kept)


async def test_example_is_readable_in_every_theme_and_not_copied_by_ctrl_c(tmp_path: Path):
    async with open_scene("first_run", tmp_path, (160, 45)) as driver:
        for theme in PALETTES:
            driver.app.controllers.preferences.use_theme(theme)
            await driver.wait_until_drawn()
            assert weak(driver.app) == {}, theme
        await driver.press("ctrl+c")
        await driver.wait_until(lambda: driver.app.main.prompt.selected_text == "")
        assert driver.app.clipboard == ""
