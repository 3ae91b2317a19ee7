"""Jump mode: the labels on the screen and the targets that they lead to."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.launch import LaunchOptions
from console.model.commands.jump_labels import LETTERS, Label, make_labels, place_labels
from console.ui.help.jump import JumpMode
from console.ui.help.screen import Help
from console.ui.shared.list import RowList
from tests.console.pictures.open_scene import open_scene
from tests.support.console.drawn_screen import strange
from tests.support.console.pilot import WIDE, Cue, at_the_screen, listener, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole, recording_console
from tests.support.engines import Engines


@pytest.mark.parametrize("count", [0, 1, 26, 27, 51, 52, 100, 300, 676])
def test_every_target_has_a_label_and_no_label_begins_another(count: int):
    made = make_labels(count)
    assert len(made) == len(set(made)) == count
    assert not [one for one in made for other in made if one != other and other.startswith(one)]
    assert {len(one) for one in made} <= {1, 2}


def test_as_many_labels_as_possible_are_single_letters():
    assert all(len(one) == 1 for one in make_labels(len(LETTERS)))
    assert sum(len(one) == 1 for one in make_labels(len(LETTERS) + 1)) == len(LETTERS) - 1


async def jump_to(pilot: Pilot[Any], app: RecordingConsole, row: str, widget: str, nth: int = 0) -> None:
    """Open jump mode and type the nth label in the row with this text in a widget of this class."""
    await sees(pilot, row)
    y = next(y for y, line in enumerate(shown(app).split("\n")) if row in line)
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(app.screen, JumpMode))
    found = [
        label for label, target in app.screen._targets
        if target.offset.y == y and widget in {kind.__name__ for kind in type(target.widget).__mro__}
    ]  # fmt: skip
    assert found, f"no label on {row!r}:\n{shown(app)}"
    await pilot.press(*found[nth])
    await until(pilot, lambda: not isinstance(app.screen, JumpMode))


async def test_labels_lead_to_panes_and_rows(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello", "next pull")  # the ribbon moves everything below it
        await jump_to(pilot, app, "message.completed", "StreamLines")
        await until(pilot, lambda: app.main.where() == "stream" and app.services.updater.as_of == 2)
        await jump_to(pilot, app, "Runs", "RunsList")
        await until(pilot, lambda: app.main.where() == "rail")
        await jump_to(pilot, app, "Transcript", "TabStrip", 2)
        await until(pilot, lambda: app.main.inspector.tab == "transcript")
        await jump_to(pilot, app, "f1 help", "Footer", -1)
        await sees(pilot, "Help · ")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await jump_to(pilot, app, "steer ▸", "Prompt")
        await until(pilot, lambda: app.main.where() == "prompt")


async def test_labels_lead_to_the_tabs_of_a_narrow_screen(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, (80, 24)) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpMode))
        label = [label for label, target in app.screen._targets if type(target.widget).__name__ == "PaneTabs"][1]
        await pilot.press(*label)
        await until(pilot, lambda: app.main.where() == "stream")


@pytest.mark.parametrize("key", ["escape", "ctrl+o", "1"])
async def test_any_other_key_closes_jump_mode_without_a_change(open_engine: Engines, key: str):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await pilot.press(*"typed", "ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpMode))
        await pilot.press(key)
        await until(pilot, lambda: app.screen is app.main)
        assert (app.main.prompt.text, app.main.where()) == ("typed", "prompt")


async def test_first_of_two_letters_is_kept_until_backspace(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpMode))
        two = next(label for label, _ in app.screen._targets if len(label) == 2)
        await pilot.press(two[0])
        await until(pilot, lambda: app.screen._labels.typed == two[0])
        await pilot.press("backspace")
        await until(pilot, lambda: app.screen._labels.typed == "")
        assert isinstance(app.screen, JumpMode)


async def test_label_leads_to_the_row_it_was_shown_on_although_new_rows_arrive(open_engine: Engines):
    cue = Cue()
    app = RecordingConsole(LaunchOptions(), lambda: open_engine(listener(cue, turns=9)))
    async with at_the_screen(app, (160, 20)) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        for _ in range(3):
            cue.go()
        await until(pilot, lambda: app.services.updater.view.status.entries >= 14)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpMode))
        last = app.services.updater.view.status.entries
        rows = [
            (target.offset.y, label)
            for label, target in app.screen._targets
            if type(target.widget).__name__ == "StreamLines"
        ]
        cue.go()
        await until(pilot, lambda: bool(app.active_session._new_entries))
        await pilot.press(*max(rows)[1])
        await until(pilot, lambda: app.services.updater.as_of == last)
        await until(pilot, lambda: app.services.updater.view.status.entries > last)


@pytest.mark.parametrize("name", ["sessions", "states", "artifacts", "runners", "form", "composer"])
async def test_jump_mode_works_on_every_small_screen_in_ascii(name: str, tmp_path: Path):
    async with open_scene(name, tmp_path, (60, 15)) as driver:
        driver.app.controllers.preferences.action_ascii()
        before = driver.app.screen
        await driver.press("ctrl+o")
        assert isinstance(driver.app.screen, JumpMode)
        assert strange(driver.app) == {}
        label, target = driver.app.screen._targets[2]
        await driver.press(*label)
        assert driver.app.screen is before
        assert before.focused is target.widget or not target.widget.focusable
        await driver.press("ctrl+o")
        label, _ = driver.app.screen._targets[-1]
        await driver.press(*label)
        assert isinstance(driver.app.screen, Help)


async def test_typed_text_and_headings_have_no_labels(tmp_path: Path):
    async with open_scene("sessions_found", tmp_path, WIDE) as driver:
        screen = driver.app.screen
        rows = driver.screen_text.split("\n")
        await driver.press("ctrl+o")
        targets = [target for _, target in driver.app.screen._targets]
        in_side = [target.offset for target in targets if target.widget is screen.side]
        listed = [target.offset.y for target in targets if target.widget is screen.list]
        assert len(in_side) == 1, "only the side itself is a target"
        assert not any("Messages" in rows[y] or "Sessions by title" in rows[y] for y in listed[1:])
        assert len(listed) == len([row for row in screen.list.source._items if not row.is_heading]) + 1
        assert screen.search.value in driver.screen_text.split("\n")[screen.search.region.y]


@pytest.mark.parametrize("name", ["sessions_details", "states", "artifacts", "runners", "form"])
async def test_empty_rows_have_no_labels(name: str, tmp_path: Path):
    async with open_scene(name, tmp_path, WIDE) as driver:
        before = driver.screen_text.split("\n")
        await driver.press("ctrl+o")
        rows = [target for _, target in driver.app.screen._targets if isinstance(target.widget, RowList)]
        assert rows
        for place, widget in {(target.offset, target.widget) for target in rows}:
            if place != widget.region.offset:  # the label of the whole list
                assert before[place.y][place.x : widget.region.right].strip(), f"row {place.y} is empty"


@pytest.mark.parametrize("ascii_only", [False, True])
async def test_labels_are_visible_without_colours(open_engine: Engines, ascii_only: bool):
    app = recording_console(open_engine, ascii_only=ascii_only)
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello", "next pull", "State", "Transcript")
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpMode))
        await until(pilot, lambda: "[f]" in shown(app))
        targets = app.screen._targets
        assert [label for label, _ in targets if f"[{label}]" not in shown(app)] == []
        reversed_texts = {
            segment.text for strip in app.screen._compositor.render_strips() for segment in strip
            if segment.style is not None and segment.style.reverse
        }  # fmt: skip
        assert reversed_texts == {f"[{label}]" for label, _ in targets}


def test_labels_that_are_too_close_have_no_brackets():
    def drawn(row: str, *labels: Label) -> str:
        shown = row
        for start, text in place_labels(labels, len(row), lambda at: row[at] == " "):
            shown = shown[:start] + text + shown[start + len(text) :]
        return shown

    assert drawn("Event   State", Label(0, "a", 0), Label(8, "b", 0)) == "[a]nt [b]tate"
    assert drawn(" Event", Label(1, "a", 1)) == "[a]ent"
    assert drawn("  Event", Label(2, "a", 2)) == " [a]ent"
    assert drawn("1 2 3", Label(0, "a", 0), Label(2, "b", 0), Label(4, "c", 0)) == "a[b]c"
    assert drawn("abcdef", Label(5, "xy", 0)) == "ab[xy]"
    assert drawn("abc", Label(0, "x", 0), Label(2, "y", 0)) == "xby"
