"""Letters over all that is seen: which there are, and where they lead."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.launch import LaunchOptions
from console.model.commands.jump_labels import LETTERS, Label, make_labels, place_labels
from console.ui.help.jump import JumpMode
from console.ui.help.screen import Help
from console.ui.shared.list import RowList
from tests.console.shared.test_every_screen import played
from tests.support.console.drawn_screen import strange
from tests.support.console.pilot import WIDE, Cue, at_the_screen, listener, say, sees, shown, until
from tests.support.console.recorded_toasts import Telling, telling
from tests.support.engines import Engines


@pytest.mark.parametrize("count", [0, 1, 26, 27, 51, 52, 100, 300, 676])
def test_there_are_labels_for_all_and_none_begins_another(count: int):
    made = make_labels(count)
    assert len(made) == len(set(made)) == count
    assert not [one for one in made for other in made if one != other and other.startswith(one)]
    assert {len(one) for one in made} <= {1, 2}


def test_one_letter_is_enough_for_as_many_as_possible():
    assert all(len(one) == 1 for one in make_labels(len(LETTERS)))
    assert sum(len(one) == 1 for one in make_labels(len(LETTERS) + 1)) == len(LETTERS) - 1


async def jump_to(pilot: Pilot[Any], app: Telling, row: str, widget: str, nth: int = 0) -> None:
    """Press ^o, and the letters on the row with these words, in a widget of this kind; of several, the nth."""
    await sees(pilot, row)
    y = next(y for y, line in enumerate(shown(app).split("\n")) if row in line)
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(app.screen, JumpMode))
    found = [
        label for label, spot in app.screen._targets
        if spot.offset.y == y and widget in {kind.__name__ for kind in type(spot.widget).__mro__}
    ]  # fmt: skip
    assert found, f"no letters on {row!r}:\n{shown(app)}"
    await pilot.press(*found[nth])
    await until(pilot, lambda: not isinstance(app.screen, JumpMode))


async def test_a_letter_leads_to_a_pane_and_to_a_row(open_engine: Engines):
    app = telling(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello", "next pull")  # the ribbon moves all that is below it
        await jump_to(pilot, app, "message.completed", "StreamLines")
        await until(pilot, lambda: app.main.where() == "stream" and app.hearing.as_of == 2)
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


async def test_where_there_is_little_room_a_letter_leads_to_the_other_panes(open_engine: Engines):
    app = telling(open_engine)
    async with at_the_screen(app, (80, 24)) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpMode))
        label = [label for label, spot in app.screen._targets if type(spot.widget).__name__ == "PaneTabs"][1]
        await pilot.press(*label)
        await until(pilot, lambda: app.main.where() == "stream")


@pytest.mark.parametrize("key", ["escape", "ctrl+o", "1"])
async def test_any_other_key_leaves_everything_as_it_was(open_engine: Engines, key: str):
    app = telling(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await pilot.press(*"typed", "ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpMode))
        await pilot.press(key)
        await until(pilot, lambda: app.screen is app.main)
        assert (app.main.prompt.text, app.main.where()) == ("typed", "prompt")


async def test_the_first_of_two_letters_leaves_those_it_can_mean(open_engine: Engines):
    app = telling(open_engine)
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


async def test_a_row_that_would_have_moved_by_then_is_the_one_that_was_meant(open_engine: Engines):
    cue = Cue()
    app = Telling(LaunchOptions(), lambda: open_engine(listener(cue, turns=9)))
    async with at_the_screen(app, (160, 20)) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        for _ in range(3):
            cue.go()
        await until(pilot, lambda: app.hearing.view.status.entries >= 14)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpMode))
        last = app.hearing.view.status.entries
        rows = [
            (spot.offset.y, label) for label, spot in app.screen._targets if type(spot.widget).__name__ == "StreamLines"
        ]
        cue.go()
        await until(pilot, lambda: bool(app.stage._fresh))
        await pilot.press(*max(rows)[1])
        await until(pilot, lambda: app.hearing.as_of == last)
        await until(pilot, lambda: app.hearing.view.status.entries > last)


@pytest.mark.parametrize("name", ["sessions", "states", "artifacts", "runners", "form", "composer"])
async def test_letters_lead_about_in_every_screen_however_small_and_in_ascii(name: str, tmp_path: Path):
    async with played(name, tmp_path, (60, 15)) as studio:
        studio.app.action_ascii()
        before = studio.app.screen
        await studio.press("ctrl+o")
        assert isinstance(studio.app.screen, JumpMode)
        assert strange(studio.app) == {}
        label, spot = studio.app.screen._targets[2]
        await studio.press(*label)
        assert studio.app.screen is before
        assert before.focused is spot.widget or not spot.widget.focusable
        await studio.press("ctrl+o")
        label, _ = studio.app.screen._targets[-1]
        await studio.press(*label)
        assert isinstance(studio.app.screen, Help)


async def test_no_letter_lies_on_what_is_typed_nor_where_there_is_nothing_to_go_to(tmp_path: Path):
    async with played("sessions_found", tmp_path, WIDE) as studio:
        screen = studio.app.screen
        rows = studio.screen_text.split("\n")
        await studio.press("ctrl+o")
        places = [spot for _, spot in studio.app.screen._targets]
        told = [spot.offset for spot in places if spot.widget is screen.side]
        listed = [spot.offset.y for spot in places if spot.widget is screen.list]
        assert len(told) == 1, "only to the side itself"
        assert not any("Lines" in rows[y] or "Sessions by title" in rows[y] for y in listed[1:])
        assert len(listed) == len([row for row in screen.list.source._items if not row.is_heading]) + 1
        assert screen.search.value in studio.screen_text.split("\n")[screen.search.region.y]


@pytest.mark.parametrize("name", ["sessions_details", "states", "artifacts", "runners", "form"])
async def test_no_letter_lies_on_an_empty_row(name: str, tmp_path: Path):
    async with played(name, tmp_path, WIDE) as studio:
        before = studio.screen_text.split("\n")
        await studio.press("ctrl+o")
        rows = [spot for _, spot in studio.app.screen._targets if isinstance(spot.widget, RowList)]
        assert rows
        for place, widget in {(spot.offset, spot.widget) for spot in rows}:
            if place != widget.region.offset:  # which leads to all of it
                assert before[place.y][place.x : widget.region.right].strip(), f"row {place.y} is empty"


@pytest.mark.parametrize("ascii_only", [False, True])
async def test_a_label_is_told_from_the_text_without_a_colour(open_engine: Engines, ascii_only: bool):
    app = telling(open_engine, ascii_only=ascii_only)
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello", "next pull", "State", "Transcript")
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpMode))
        await until(pilot, lambda: "[f]" in shown(app))
        places = app.screen._targets
        assert [label for label, _ in places if f"[{label}]" not in shown(app)] == []
        turned = {
            segment.text for strip in app.screen._compositor.render_strips() for segment in strip
            if segment.style is not None and segment.style.reverse
        }  # fmt: skip
        assert turned == {f"[{label}]" for label, _ in places}


def test_labels_that_are_too_near_for_brackets_are_letters_alone():
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
