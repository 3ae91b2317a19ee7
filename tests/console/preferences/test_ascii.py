"""The panes in ASCII, from the start or switched while they are shown. Other screens: shared/test_every_screen.py."""

import pytest
from rich.cells import cell_len

from console.model.commands.table import COMMANDS
from console.ui.terminal.ascii_filter import ASCII
from tests.support.console.drawn_screen import strange
from tests.support.console.pilot import WIDE, Cue, at_the_screen, say, sees, shown, until
from tests.support.console.recorded_toasts import recording_console
from tests.support.engines import Engines


@pytest.mark.parametrize("size", [(120, 40), (60, 15)])
async def test_console_started_in_ascii_draws_only_ascii(open_engine: Engines, size: tuple[int, int]):
    cue = Cue()
    app = recording_console(open_engine, cue, ascii_only=True)
    async with at_the_screen(app, size) as pilot:
        await sees(pilot, "send")
        assert strange(app) == {}
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        for pane in app.main.panes:
            app.main.go_to(pane)
            await until(pilot, lambda pane=pane: app.main.where() == pane)
            await pilot.press("f7")
            await sees(pilot, "The run is not paused")
            assert strange(app) == {}
        await pilot.press("ctrl+p")
        await sees(pilot, min(command.palette for command in COMMANDS if command.palette))
        assert strange(app) == {}
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        app.main.go_to("prompt")
        cue.go()
        await sees(pilot, "Then you said: be brief", "delivered")
        cue.go()
        await sees(pilot, "completed")
        assert strange(app) == {}


async def test_ascii_can_be_switched_on_and_off_during_a_run(open_engine: Engines):
    app = recording_console(open_engine)
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


async def test_messages_keep_their_letters_in_ascii_mode(open_engine: Engines):
    app = recording_console(open_engine, ascii_only=True)
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "grüße 日本")
        await sees(pilot, "You said: grüße 日本")
        assert {letter for letter in shown(app) if not letter.isascii()} == set("üß日本")


def test_every_replacement_has_the_width_of_its_character():
    for code, replacement in ASCII.items():
        assert replacement.isascii()
        assert cell_len(replacement) == cell_len(chr(code)), chr(code)
