"""The whole screen in ASCII, from the start or switched while it runs."""

from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from console.app import Trackside
from console.widgets.plain import PLAIN
from tests.console.driving import SIZES, WIDE, Cue, at_the_screen, say, sees, shown, until
from tests.console.telling import telling
from tests.support import Engines

ALL_SIZES = [*SIZES, (120, 40), (60, 15)]


def strange(app: Trackside) -> dict[str, str]:
    """Each character that is not ASCII, with the line that it stands in."""
    return {letter: line for line in shown(app).split("\n") for letter in line if not letter.isascii()}


async def everywhere(pilot: Pilot[Any], app: Trackside, cue: Cue) -> None:
    """Through all that can be seen: every pane, every tab, what lies over them, and toasts."""
    await sees(pilot, "send")
    assert strange(app) == {}
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")
    await say(pilot, "be brief")
    await sees(pilot, "1 queued")
    assert strange(app) == {}
    for pane in app.main.panes:
        app.main.go_to(pane)
        await until(pilot, lambda pane=pane: app.main.where() == pane)
        await pilot.pause()
        assert strange(app) == {}
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.pause()
        assert strange(app) == {}
        await pilot.press("end")
        await pilot.pause()
        assert strange(app) == {}
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
    app.main.go_to("inspector")
    await until(pilot, lambda: app.main.where() == "inspector")
    for key in "2345671":
        await pilot.press(key)
        await pilot.pause()
        assert strange(app) == {}
    app.main.go_to("stream")
    await until(pilot, lambda: app.main.where() == "stream")
    for key in ("k", "m", "r", "y", "escape", "slash", "escape", "f7"):
        await pilot.press(key)
        await pilot.pause()
        assert strange(app) == {}
    await pilot.press("ctrl+p")
    await until(pilot, lambda: app.screen is not app.main)
    await sees(pilot, "run: ")
    assert strange(app) == {}
    await pilot.press("escape")
    cue.go()
    await until(pilot, lambda: app.screen is app.main)
    app.main.go_to("prompt")
    await sees(pilot, "Then you said: be brief", "injected")
    assert strange(app) == {}
    cue.go()
    await until(pilot, lambda: not app.situation.is_running)
    await sees(pilot, "completed")
    assert strange(app) == {}


@pytest.mark.parametrize("size", ALL_SIZES)
async def test_opened_in_ascii_nothing_else_is_ever_drawn(open_engine: Engines, size: tuple[int, int]):
    cue = Cue()
    app = telling(open_engine, cue, ascii_only=True)
    async with at_the_screen(app, size) as pilot:
        await everywhere(pilot, app, cue)


async def test_it_is_switched_while_it_runs_and_back(open_engine: Engines):
    app = telling(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        await pilot.pause()
        drawn = shown(app)
        assert {"╭", "▌", "●", "▲"} <= set(drawn)
        await app.action_perform("app.ascii")
        await until(pilot, lambda: not strange(app))
        assert "+-" in shown(app)
        await app.action_perform("app.ascii")
        await until(pilot, lambda: shown(app) == drawn)


async def test_what_people_and_runners_wrote_keeps_its_letters(open_engine: Engines):
    app = telling(open_engine, ascii_only=True)
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "grüße 日本")
        await sees(pilot, "You said: grüße 日本")
        assert set(strange(app)) == set("üß日本")


def test_every_character_is_replaced_by_as_many_columns():
    for code, plain in PLAIN.items():
        assert plain.isascii()
        assert cell_len(plain) == cell_len(chr(code)), chr(code)
