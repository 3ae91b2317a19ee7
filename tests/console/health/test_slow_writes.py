"""Slow and failed writes: unsaved values are marked as such and are never lost."""

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from console.ui.shared.dialog import Question
from console.ui.state.edit import EditValue
from console.ui.state.screen import StateScreen
from engine.store.database import Database
from engine.store.writer import Writer
from tests.support.console.browser_data import begun, browsing
from tests.support.console.database_lock import locked_database
from tests.support.console.form_app import at_the_form, kept, to_the_form
from tests.support.console.form_runners import console_with_form
from tests.support.console.pilot import SIZES, at_both_sizes, at_the_screen, becomes, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.console.sessions_browser import open_session_browser
from tests.support.console.state_browser import (
    SESSION_WITH_STATE,
    move_to_key,
    open_state_browser,
    parrot,
    stored_value,
    wait_for_editor,
)
from tests.support.engines import Engines

Size = tuple[int, int]


@pytest.fixture
def short_lock_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers and writers soon give up on a locked database."""
    defaults = Database.open.__func__.__kwdefaults__
    monkeypatch.setattr(Database.open.__func__, "__kwdefaults__", {**defaults, "busy": 0.1})
    monkeypatch.setattr(Writer.__init__, "__kwdefaults__", {"window_seconds": 0.004, "busy_seconds": 0.5})


@at_both_sizes
async def test_setting_is_marked_as_unsaved_until_it_is_on_disk(open_engine: Engines, size: Size):
    app = console_with_form(open_engine)
    async with at_the_form(app, size) as (pilot, _):
        async with locked_database(open_engine.db):
            await pilot.press("enter", *" there", "enter")
            await sees(pilot, "hello there", "1 value changed · not on disk yet")
            assert shown(app).count("not on disk yet") == 2, "also at the field"
            assert await kept(app) == {}
        await until(pilot, lambda: "not on disk yet" not in shown(app))
        assert any("hello there" in row and "changed" in row for row in shown(app).splitlines()), "at the field"
        assert await kept(app) == {"config": {"greeting": "hello there"}}


@pytest.mark.usefixtures("short_lock_timeout")
async def test_setting_that_could_not_be_saved_is_kept_and_saved_later(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, _):
        async with locked_database(open_engine.db):
            await pilot.press("enter", *" there", "enter")
            await until(pilot, lambda: any("try again" in words for words in app.toasts))
            await sees(pilot, "hello there", "not on disk yet", "is locked by another process")
            await pilot.press("ctrl+q")
            await sees(pilot, "Your settings are not on disk yet.")
            await pilot.press("escape")
            await until(pilot, lambda: "Your settings are" not in shown(app))
        await until(pilot, lambda: "not on disk yet" not in shown(app))
        await becomes(pilot, lambda: kept(app), {"config": {"greeting": "hello there"}})


@pytest.mark.usefixtures("short_lock_timeout")
async def test_unsaved_setting_is_still_there_when_the_form_is_reopened(open_engine: Engines):
    app = console_with_form(open_engine)
    async with at_the_form(app) as (pilot, _):
        async with locked_database(open_engine.db):
            await pilot.press("enter", *" there", "enter", "escape")
            await until(pilot, lambda: any("try again" in words for words in app.toasts))
            await to_the_form(pilot, app)
            await sees(pilot, "hello there", "not on disk yet")
        await becomes(pilot, lambda: kept(app), {"config": {"greeting": "hello there"}})


async def open_sessions(pilot: Pilot[None], app: RecordingConsole) -> None:
    await begun(pilot, app)
    await open_session_browser(pilot, app)


async def open_state_at_said(pilot: Pilot[None], app: RecordingConsole) -> None:
    await begun(pilot, app)
    await move_to_key(pilot, await open_state_browser(pilot, app), "said")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
@pytest.mark.parametrize(
    ("open_browser", "keys", "progress", "result"),
    [
        (open_sessions, ["r", *"Trip", "enter"], "Renaming to “Trip”…", "Trip"),
        (open_sessions, ["f"], "Forking…", "Forked; your next message"),
        (open_state_at_said, ["d"], "Deleting said…", "Deleted said"),
        (open_state_at_said, ["C"], "Clearing the scope…", "Cleared 1 key"),
    ],
)
async def test_browser_shows_the_progress_of_a_slow_write(
    open_engine: Engines,
    size: Size,
    open_browser: Callable[[Pilot[None], RecordingConsole], Awaitable[None]],
    keys: list[str],
    progress: str,
    result: str,
):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        await open_browser(pilot, app)
        async with locked_database(open_engine.db):
            await pilot.press(*keys)
            await sees(pilot, progress)
        await sees(pilot, result)
        await until(pilot, lambda: progress not in shown(app))


async def test_editor_shows_that_it_saves_and_handles_keys_meanwhile(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        await open_state_at_said(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditValue))
        app.screen.query_one(TextArea).text = "7"
        async with locked_database(open_engine.db):
            await pilot.press("f4")
            await sees(pilot, "Saving… not on disk yet")
            await pilot.press("escape")
            await sees(pilot, "esc again closes without waiting for it.")
        await sees(pilot, "Saved said")
        await until(pilot, lambda: not isinstance(app.screen, EditValue))


async def test_text_typed_during_a_save_is_kept_and_saved_next(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        await open_state_at_said(pilot, app)
        await pilot.press("enter")
        area = await wait_for_editor(pilot, app)
        area.text = "7"
        async with locked_database(open_engine.db):
            await pilot.press("f4")
            await sees(pilot, "Saving… not on disk yet")
            await pilot.press("end", "8")
        await sees(pilot, "Saved without your latest changes. f4 saves them too.")
        assert (area.text, await stored_value(app, "said")) == ("78", 7)
        await pilot.press("escape")
        await sees(pilot, "Your changes are not saved.")
        await pilot.press("f4")
        await until(pilot, lambda: not isinstance(app.screen, EditValue))
        assert await stored_value(app, "said") == 78


async def test_editor_saved_under_a_question_closes_after_the_answer(
    open_engine: Engines,
):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        await open_state_at_said(pilot, app)
        await pilot.press("enter")
        (await wait_for_editor(pilot, app)).text = "7"
        editor = app.screen
        assert isinstance(editor, EditValue)
        async with locked_database(open_engine.db):
            await pilot.press("f4")
            await sees(pilot, "Saving… not on disk yet")
            await app.push_screen(question := Question("Really?", "Yes"))
        await until(pilot, lambda: not editor._is_saving)
        assert app.screen is question
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, StateScreen))


@pytest.mark.usefixtures("short_lock_timeout")
async def test_failed_undo_works_when_the_database_is_unlocked(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        await open_state_at_said(pilot, app)
        await pilot.press("d")
        await sees(pilot, "Deleted said")
        async with locked_database(open_engine.db):
            await pilot.press("u")
            await until(pilot, lambda: any("try again" in words for words in app.toasts))
        await pilot.press("u")
        await sees(pilot, "Undone: 1 key")
        await becomes(pilot, lambda: stored_value(app, "said"), {"text": "second"})


async def test_slow_deletion_of_a_session_is_shown(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        await open_sessions(pilot, app)
        async with locked_database(open_engine.db):
            await pilot.press("d")
            await sees(pilot, "Deleting the session…")
        await sees(pilot, "No sessions yet.")


@pytest.mark.usefixtures("short_lock_timeout")
@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_database_problem_is_shown_on_full_screens_too(open_engine: Engines, size: Size):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        await open_sessions(pilot, app)
        async with locked_database(open_engine.db):
            await pilot.press("r", *"Trip", "enter")
            line = app.screen.query_one("#trouble")
            await until(pilot, lambda: line.display and line.size.height > 0)
            await sees(pilot, "locked")
        await until(pilot, lambda: not line.display)
