"""A toast that names a key of a screen is removed with the screen: elsewhere the key does something else."""

from typing import Any

import pytest

import console.ui.sessions.screen
from console.ui.state.screen import StateScreen
from tests.support.console.browser_data import begun, browsing
from tests.support.console.composer_app import open_composer
from tests.support.console.form_app import to_field, to_the_form
from tests.support.console.form_runners import console_with_form
from tests.support.console.pilot import at_both_sizes, at_the_screen, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.console.sessions_browser import TRIPS, open_session_browser
from tests.support.console.state_browser import SESSION_WITH_STATE, move_to_key, open_state_browser, parrot
from tests.support.engines import Engines

UNDO_HINT = "u undoes it"


@pytest.fixture(autouse=True)
def toasts_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """No toast expires during a test."""
    monkeypatch.setattr(RecordingConsole, "NOTIFICATION_TIMEOUT", 600.0)
    monkeypatch.setattr(console.ui.sessions.screen, "UNDO_SECONDS", 600.0)


async def leave_and_check_removed(pilot: Any, app: RecordingConsole, text: str) -> None:
    """Go back to the panes, and check that no toast there contains the text."""
    await pilot.press("escape")
    await until(pilot, lambda: app.screen is app.main)
    await until(pilot, lambda: text not in shown(app))
    assert not any(text in toast.message for toast in app._notifications)


@at_both_sizes
async def test_toast_with_a_key_is_removed_with_the_state_browser(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        await move_to_key(pilot, await open_state_browser(pilot, app), "mood")
        await pilot.press("d")
        await sees(pilot, f"Deleted mood · {UNDO_HINT}")
        app.services.show_toast("valid on every screen", seconds=60)
        await leave_and_check_removed(pilot, app, UNDO_HINT)
        await sees(pilot, "valid on every screen")


async def test_toast_with_a_key_is_removed_when_another_screen_opens(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        await move_to_key(pilot, await open_state_browser(pilot, app), "mood")
        await pilot.press("d")
        await sees(pilot, f"Deleted mood · {UNDO_HINT}")
        await open_session_browser(pilot, app)
        await until(pilot, lambda: UNDO_HINT not in shown(app))


async def test_dialog_over_the_screen_keeps_its_toast(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "mood")
        await pilot.press("d")
        await sees(pilot, f"Deleted mood · {UNDO_HINT}")
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not screen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert any(UNDO_HINT in toast.message for toast in app._notifications)


async def test_toast_shown_after_the_screen_was_left_names_no_key(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await pilot.press("escape")
        await until(pilot, lambda: not any(isinstance(other, StateScreen) for other in app.screen_stack))
        screen.show_key_toast("Deleted mood", UNDO_HINT)
        assert app.toasts[-1] == "Deleted mood"


@at_both_sizes
async def test_toast_with_a_key_is_removed_with_the_session_browser(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await sees(pilot, "Deleted “", UNDO_HINT)
        await leave_and_check_removed(pilot, app, UNDO_HINT)


async def test_toast_with_a_key_is_removed_with_the_form(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_screen(app) as pilot:
        form = await to_the_form(pilot, app)
        await to_field(pilot, form, "loud")
        await pilot.press("space", "r")
        await sees(pilot, f"Reset Loud · {UNDO_HINT}")
        await leave_and_check_removed(pilot, app, UNDO_HINT)


async def test_toast_with_a_key_is_removed_with_the_composer(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        screen = await open_composer(pilot, app)
        await pilot.press(*"hello")
        screen.action_anew()
        await sees(pilot, "All fields are cleared · ^t again restores them")
        await leave_and_check_removed(pilot, app, "again restores them")
