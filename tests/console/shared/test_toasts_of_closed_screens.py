"""A toast that names a key of one screen goes when that screen is left: elsewhere the key does something else."""

from typing import Any

import pytest

import console.ui.sessions.screen
from console.ui.state.screen import StateScreen
from tests.console.composer.test_composer_screen import composing
from tests.console.sessions.test_sessions_screen import TRIPS
from tests.console.sessions.test_sessions_screen import opened as sessions_opened
from tests.console.settings_form.test_form_screen import opened as with_form
from tests.console.state.test_state_screen import KEPT, on_key, parrot
from tests.console.state.test_state_screen import opened as states_opened
from tests.support.console.browser_data import begun, browsing
from tests.support.console.form_app import to_field, to_the_form
from tests.support.console.pilot import at_both_sizes, at_the_screen, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines

UNDO = "u undoes it"


@pytest.fixture(autouse=True)
def toasts_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """None goes because its time is over."""
    monkeypatch.setattr(RecordingConsole, "NOTIFICATION_TIMEOUT", 600.0)
    monkeypatch.setattr(console.ui.sessions.screen, "UNDO_SECONDS", 600.0)


async def left(pilot: Any, app: RecordingConsole, words: str) -> None:
    """Back at the panes, where these words are not to be seen."""
    await pilot.press("escape")
    await until(pilot, lambda: app.screen is app.main)
    await until(pilot, lambda: words not in shown(app))
    assert not any(words in toast.message for toast in app._notifications)


@at_both_sizes
async def test_who_leaves_the_state_browser_is_not_told_of_its_key(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        await on_key(pilot, await states_opened(pilot, app), "mood")
        await pilot.press("d")
        await sees(pilot, f"Deleted mood · {UNDO}")
        app.services.show_toast("this is for everywhere", seconds=60)
        await left(pilot, app, UNDO)
        await sees(pilot, "this is for everywhere")


async def test_who_goes_on_to_another_screen_is_not_told_of_the_key_either(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        await on_key(pilot, await states_opened(pilot, app), "mood")
        await pilot.press("d")
        await sees(pilot, f"Deleted mood · {UNDO}")
        await sessions_opened(pilot, app)
        await until(pilot, lambda: UNDO not in shown(app))


async def test_a_question_over_the_screen_leaves_its_words(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await states_opened(pilot, app)
        await on_key(pilot, screen, "mood")
        await pilot.press("d")
        await sees(pilot, f"Deleted mood · {UNDO}")
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not screen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert any(UNDO in toast.message for toast in app._notifications)


async def test_what_is_done_only_after_the_screen_was_left_names_no_key(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await states_opened(pilot, app)
        await pilot.press("escape")
        await until(pilot, lambda: not any(isinstance(each, StateScreen) for each in app.screen_stack))
        screen.show_key_toast("Deleted mood", UNDO)
        assert app.toasts[-1] == "Deleted mood"


@at_both_sizes
async def test_who_leaves_the_session_browser_is_not_told_of_its_key(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await sessions_opened(pilot, app)
        await pilot.press("d")
        await sees(pilot, "Deleted “", UNDO)
        await left(pilot, app, UNDO)


async def test_who_leaves_the_form_is_not_told_of_its_key(open_engine: Engines):
    app = with_form(open_engine)
    async with at_the_screen(app) as pilot:
        form = await to_the_form(pilot, app)
        await to_field(pilot, form, "loud")
        await pilot.press("space", "r")
        await sees(pilot, f"Reset Loud · {UNDO}")
        await left(pilot, app, UNDO)


async def test_who_leaves_the_composer_is_not_told_of_its_key(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        screen = await composing(pilot, app)
        await pilot.press(*"hello")
        screen.action_anew()
        await sees(pilot, "All fields are cleared · ^t again restores them")
        await left(pilot, app, "again restores them")
