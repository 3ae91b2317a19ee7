"""Toasts are below the header and never cover the prompt or the queue, whatever their number and length."""

import pytest
from textual.widgets import Button, Static
from textual.widgets._toast import Toast

from console.app import Trackside
from console.launch import LaunchOptions
from console.ui.shared.dialog import Question
from tests.support.console.pilot import Cue, at_the_screen, listener, say, sees, until
from tests.support.console.regions import visible_region
from tests.support.engines import Engines

SIZES = [(160, 45), (140, 20), (120, 35), (100, 30), (80, 24), (60, 15)]
LONG_TEXT = "this is a long text, as an error of a runner may be, and it needs many lines in any size of toast; " * 5


@pytest.mark.parametrize("size", SIZES)
async def test_toasts_never_cover_prompt_queue_header_or_footer(open_engine: Engines, size: tuple[int, int]):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        for text in ("be brief", "be kind", "be gone"):
            await say(pilot, text)
        await sees(pilot, "3 queued")
        await pilot.press(*"a line", "ctrl+j", *"and another")
        for number in range(4):
            app.services.show_toast(f"{number}: {LONG_TEXT}", severity="error")
        await until(pilot, lambda: len(app.screen.query(Toast)) == 4)
        await until(pilot, lambda: any(visible_region(toast).area for toast in app.screen.query(Toast)))

        toasts = [region for toast in app.screen.query(Toast) if (region := visible_region(toast)).area]
        for pane in (app.main.prompt, app.main.queue, app.main.header, app.main.footer):
            assert visible_region(pane).area
            assert not any(toast.overlaps(visible_region(pane)) for toast in toasts), pane


@pytest.mark.parametrize("size", SIZES)
async def test_single_long_toast_is_fully_visible(open_engine: Engines, size: tuple[int, int]):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        app.services.show_toast(LONG_TEXT)
        await until(
            pilot, lambda: bool(app.screen.query(Toast)) and bool(visible_region(app.screen.query_one(Toast)).area)
        )
        toast = app.screen.query_one(Toast)
        await until(pilot, lambda: visible_region(toast).size == toast.outer_size)


@pytest.mark.parametrize("size", SIZES)
async def test_earlier_toasts_do_not_cover_a_question(open_engine: Engines, size: tuple[int, int]):
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(Cue())))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        app.services.show_toast("this is the first toast")
        app.services.show_toast("and the second", severity="error")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, Question) and len(app.screen.query(Toast)) == 2)
        await until(pilot, lambda: all(visible_region(toast).area for toast in app.screen.query(Toast)))

        toasts = [visible_region(toast) for toast in app.screen.query(Toast)]
        await until(pilot, lambda: not any(visible_region(toast).area for toast in app.main.query(Toast)))
        assert not any(toast.overlaps(app.main.footer.region) for toast in toasts)
        for part in (*app.screen.query(Static).exclude("Toast"), *app.screen.query(Button)):
            assert not any(toast.overlaps(visible_region(part)) for toast in toasts), part
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await until(pilot, lambda: all(visible_region(toast).area for toast in app.main.query(Toast)))
