"""On the whole screen: editor, history of the prompt, saved themes, the user's own keys, and the tour."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot
from textual.widgets import Static

from console.launch import LaunchOptions
from console.model.commands.key_labels import with_keys
from console.model.commands.tour import STEPS
from console.model.preferences.file import parse
from console.model.preferences.store import Preferences, SavedChoices
from console.model.text.word_match import matching, spans
from console.ui.help.jump import JumpMode
from console.ui.help.screen import Help
from tests.console.pictures.open_scene import open_scene
from tests.support.console.pilot import (
    SIZES,
    WIDE,
    Cue,
    at_both_sizes,
    at_the_screen,
    listener,
    say,
    sees,
    shown,
    until,
)
from tests.support.console.recorded_toasts import RecordingConsole, recording_console
from tests.support.engines import Engines


def console_with_preferences(
    open_engine: Engines, text: str = "", saved: SavedChoices | None = None
) -> RecordingConsole:
    """Return a console with this console.yaml and these saved choices."""
    preferences = Preferences(parse(text, "console.yaml"), saved or SavedChoices())
    return RecordingConsole(LaunchOptions(preferences=preferences), lambda: open_engine(listener(Cue())))


async def start_run(pilot: Pilot[Any]) -> None:
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")


# The editor


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that there is a terminal to suspend."""
    monkeypatch.setattr(HeadlessDriver, "can_suspend", True)


def editor_command(tmp_path: Path, code: str) -> str:
    """Return the command of an editor that runs this code; `file` is the edited file."""
    script = tmp_path / "editor.py"
    script.write_text(f"import sys, pathlib\nfile = pathlib.Path(sys.argv[-1])\n{code}\n")
    return f"{sys.executable} {script}"


async def test_editor_is_not_started_without_a_terminal(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await pilot.press(*"this", "ctrl+g")
        await until(pilot, lambda: any("needs a terminal" in told for told in app.toasts))
        assert app.main.prompt.text == "this"


@pytest.mark.usefixtures("terminal")
async def test_text_from_the_editor_replaces_the_prompt(
    open_engine: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor_command(tmp_path, "file.write_text(file.read_text() + ' and\\nmore\\n')"))
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await pilot.press(*"this", "ctrl+g")
        await until(pilot, lambda: app.main.prompt.text == "this and\nmore")
        assert app.main.where() == "prompt"


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("typed", ["this", ""])
async def test_message_that_returns_during_editing_is_put_before_the_edited_text(
    open_engine: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
):
    os.mkfifo(pipe := tmp_path / "pipe")  # the editor ends when the test writes to the pipe
    code = f"pathlib.Path({str(pipe)!r}).read_text()\nfile.write_text(file.read_text() + ' and more')"
    monkeypatch.setenv("VISUAL", editor_command(tmp_path, code))
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await until(pilot, lambda: app.controllers.drafts.is_open)
        app.main.prompt.load(typed)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: app.controllers.prompt.is_editor_open)
        app.main.prompt.restore_text("sent too early")
        await asyncio.to_thread(pipe.write_text, "go")
        await until(pilot, lambda: app.main.prompt.text == f"sent too early\n{typed} and more")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-editor -w", "which was not found"),
        ("'open", "is not a valid command"),
        ("false", "ended with status 1"),
    ],
)
async def test_failed_editor_leaves_the_message_unchanged(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, command: str, words: str
):
    monkeypatch.setenv("VISUAL", command)
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await pilot.press(*"this", "ctrl+g")
        await until(pilot, lambda: any(words in told for told in app.toasts))
        assert app.main.prompt.text == "this"


# History of the prompt


def test_search_needs_every_word_in_any_order():
    texts = ["Plan a day in Kyoto", "plan B", "a day off"]
    assert matching(texts, "DAY plan") == ["Plan a day in Kyoto"]
    assert matching(texts, "") == texts
    assert list(spans("Plan a day", "day p")) == [(7, 10), (0, 1)]


@at_both_sizes
async def test_sent_message_is_found_by_a_part_of_it(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run(pilot)
        await say(pilot, "be brief")
        await say(pilot, "use metric")
        await pilot.press(*"draft", "ctrl+r")
        await sees(pilot, "Sent before", "hello", "use metric")
        await pilot.press(*"bri")
        await until(pilot, lambda: app.screen.row == "be brief")
        await pilot.press("enter")
        await until(pilot, lambda: app.main.prompt.text == "be brief")
        await pilot.press("down", "down")
        await until(pilot, lambda: app.main.prompt.text == "draft")


async def test_message_sent_before_a_restart_is_found(open_engine: Engines):
    long = "word " * 100 + "end"
    first = recording_console(open_engine)
    async with at_the_screen(first, WIDE) as pilot:
        first.main.prompt.load(long)
        await pilot.press("enter")
        await sees(pilot, "running")
    again = recording_console(open_engine)
    async with at_the_screen(again, WIDE) as pilot:
        await until(pilot, lambda: again.main.prompt.sent == [long])
        await pilot.press("ctrl+r", "enter")
        await until(pilot, lambda: again.main.prompt.full_text == long)


@pytest.mark.parametrize(("ascii_only", "mark"), [(False, "›"), (True, ">")])
@at_both_sizes
async def test_selected_row_of_a_picker_has_a_mark(
    open_engine: Engines, ascii_only: bool, mark: str, size: tuple[int, int]
):
    app = recording_console(open_engine, ascii_only=ascii_only)
    async with at_the_screen(app, size) as pilot:
        await start_run(pilot)
        await say(pilot, "be brief")
        await pilot.press("ctrl+r")
        await sees(pilot, f"{mark} be brief", " hello ")
        await pilot.press("down")
        await sees(pilot, f"{mark} hello", " be brief ")
        assert f"{mark} be brief" not in shown(app)
        await pilot.press("escape")
        await app.action_perform("app.theme")
        await sees(pilot, f"{mark} dark", " light ")
        await pilot.press("down")
        await sees(pilot, f"{mark} light", " dark ")


async def test_empty_history_says_so(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await pilot.press("ctrl+r")
        await sees(pilot, "No earlier message.")
        await pilot.press("enter", "escape")
        await until(pilot, lambda: app.screen is app.main)


# Themes and ASCII


@pytest.mark.parametrize("size", SIZES)
async def test_theme_is_previewed_in_the_picker_and_esc_restores_the_old_one(
    open_engine: Engines, size: tuple[int, int]
):
    saved_choices = SavedChoices()
    app = console_with_preferences(open_engine, saved=saved_choices)
    async with at_the_screen(app, size) as pilot:
        assert app.theme == "dark"
        await app.action_perform("app.theme")
        await sees(pilot, "high-contrast-light")
        await pilot.press("down")
        await until(pilot, lambda: app.theme == "light")
        await pilot.press("escape")
        await until(pilot, lambda: app.theme == "dark" and app.screen is app.main)
        assert saved_choices.theme is None


async def test_chosen_theme_is_used_at_the_next_start(open_engine: Engines, tmp_path: Path):
    app = console_with_preferences(open_engine, saved=SavedChoices(tmp_path / "choices.json"))
    async with at_the_screen(app, WIDE) as pilot:
        await app.action_perform("app.theme")
        await sees(pilot, "Type to search")
        await pilot.press(*"nord", "enter")
        await until(pilot, lambda: app.theme == "nord")
        await app.action_perform("app.ascii")
    again = console_with_preferences(open_engine, saved=SavedChoices(tmp_path / "choices.json"))
    async with at_the_screen(again, WIDE) as pilot:
        assert again.theme == "nord"
        assert again.controllers.preferences.is_ascii
        await sees(pilot, "+- ")


async def test_choice_that_cannot_be_saved_is_reported_and_used_until_quit(open_engine: Engines, tmp_path: Path):
    (tmp_path / "file").touch()
    app = console_with_preferences(open_engine, saved=SavedChoices(tmp_path / "file" / "choices.json"))
    async with at_the_screen(app, WIDE) as pilot:
        app.controllers.preferences._choose_theme("light")
        await until(pilot, lambda: app.theme == "light")
        assert any("Not saved: " in told for told in app.toasts)


# The user's own keys


async def test_custom_key_replaces_the_default_key_and_is_shown(open_engine: Engines):
    app = console_with_preferences(
        open_engine,
        "keys:\n  app.pause: alt+a\n  app.continue: alt+a\n  stream.mark: M\n  prompt.mode: ctrl+y\n",
    )
    async with at_the_screen(app, WIDE) as pilot:
        await start_run(pilot)
        await sees(pilot, "alt+a pause", "^y after run")
        await pilot.press("f6")
        await pilot.press("alt+a")
        await until(pilot, lambda: app.toasts == ["The run will pause at its next steering point."])
        await pilot.press("ctrl+y")
        await until(pilot, lambda: app.main.prompt.mode == "after")
        app.main.go_to("stream")
        await until(pilot, lambda: app.main.where() == "stream")
        await pilot.press("M", "k")
        await sees(pilot, "◆")
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not app.main)
        await sees(pilot, "alt+a  Pause the run")


async def test_removed_key_does_nothing_and_texts_name_the_command_instead(
    open_engine: Engines,
):
    app = console_with_preferences(open_engine, "keys:\n  app.pause: null\n  app.continue: null\n  app.jump: []\n")
    async with at_the_screen(app, WIDE) as pilot:
        await start_run(pilot)
        await pilot.press("ctrl+o", "f6", "f7")
        await until(pilot, lambda: bool(app.toasts))
        assert app.toasts == [
            "The run is not paused. ^p “run: Pause at the next steering point” pauses it at its next steering point."
        ]
        assert not {"^o jump", "f6 pause"} & set(shown(app).split("  "))
        await pilot.press("f1")
        await sees(pilot, "Help · ")
        assert "Go to anything on the screen" not in shown(app)


async def test_texts_name_the_custom_keys(open_engine: Engines):
    app = console_with_preferences(
        open_engine, "keys:\n  app.pause: alt+a\n  app.help: alt+h\n  app.jump: alt+j\n  stream.mark: K"
    )
    async with at_the_screen(app, WIDE) as pilot:
        await start_run(pilot)
        await pilot.press("f7")
        await until(pilot, lambda: app.toasts == ["The run is not paused. alt+a pauses it at its next steering point."])
        await app.action_perform("app.tour")
        await pilot.press(*["enter"] * (len(STEPS) - 1))
        await sees(pilot, "alt+j jumps to anything on the screen, alt+h explains")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        for key, screen in (("alt+h", Help), ("alt+j", JumpMode)):
            await pilot.press(key)
            await until(pilot, lambda screen=screen: isinstance(app.screen, screen))
            await pilot.press(key)
            await until(pilot, lambda: app.screen is app.main)


async def test_command_without_a_default_key_can_get_one(open_engine: Engines):
    app = console_with_preferences(open_engine, "keys:\n  app.theme: alt+a\n  stream.only_tools: alt+o")
    async with at_the_screen(app, WIDE) as pilot:
        await start_run(pilot)
        await pilot.press("alt+o")
        await sees(pilot, "kind:tool.*")
        await pilot.press("alt+a")
        await sees(pilot, "high-contrast")


async def test_problems_of_the_file_are_shown(open_engine: Engines):
    app = console_with_preferences(open_engine, "keys:\n  app.puase: alt+a\n  app.stop: f6\n")
    async with at_the_screen(app, WIDE) as pilot:
        await sees(pilot, "console.yaml, line 2: Unknown command 'app.puase'; did you mean app.pause?", "1 more")


# The tour


@pytest.mark.parametrize("size", [(160, 45), (120, 35), (80, 24), (60, 15)])
async def test_tour_visits_the_panes_without_covering_them_and_returns_to_the_prompt(
    open_engine: Engines, size: tuple[int, int]
):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run(pilot)
        classes_before = app.main.classes
        await pilot.press(*"typed", "f1", "t")
        for step in STEPS:
            await sees(pilot, step.title, with_keys(step.text).split()[-1])
            assert app.main.where() == step.where
            pane, card = app.main.panes[step.where], app.screen.query_one(Static)
            await until(pilot, lambda pane=pane, card=card: pane.region.bottom <= card.region.y)
            assert pane.region.height >= 2
            assert card.region.bottom == size[1]
            await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main and app.main.where() == "prompt")
        assert app.main.prompt.text == "typed"
        assert (app.main.classes, app.main.footer.display) == (classes_before, True)
        await sees(pilot, "^p commands")


async def test_tour_is_offered_on_the_first_start(tmp_path: Path):
    async with open_scene("first_run", tmp_path, (60, 15)) as driver:
        assert "f1 t  a tour of 40 seconds" in driver.screen_text
        await driver.press("f1", "t")
        assert STEPS[0].title in driver.screen_text
        await driver.press("escape")
        assert "f1 t  a tour of 40 seconds" in driver.screen_text


async def test_esc_at_any_step_of_the_tour_returns_to_the_pane_before(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await start_run(pilot)
        app.main.go_to("inspector")
        await until(pilot, lambda: app.main.where() == "inspector")
        for steps in range(len(STEPS)):
            await app.action_perform("app.tour")
            await until(pilot, lambda: app.screen is not app.main)
            await pilot.press(*["enter"] * steps, "escape")
            await until(pilot, lambda: app.screen is app.main and app.main.where() == "inspector")


def test_tour_can_be_read_in_forty_seconds():
    words = sum(len(with_keys(step.text).split()) for step in STEPS)
    assert words / 4 <= 40, "at four words a second"


def test_tour_names_every_screen_that_a_key_opens():
    text = " ".join(step.text for step in STEPS)
    commands = ("app.sessions", "app.states", "app.runners", "app.settings", "app.compose", "app.palette", "app.help")
    assert [command for command in commands if f"{{{command}}}" not in text] == []
