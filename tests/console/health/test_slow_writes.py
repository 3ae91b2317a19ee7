"""What is not on disk yet is not said to be: a slow write says so, and one that fails leaves what was typed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from console.ui.sessions.screen import SessionsScreen
from console.ui.shared.dialog import Question
from console.ui.state.edit import EditValue
from console.ui.state.screen import StateScreen
from engine.store.database import Database
from engine.store.writer import Writer
from tests.console.health.test_database_problems import LOCKER
from tests.console.settings_form.test_form_screen import opened as with_form
from tests.console.state.test_state_screen import KEPT, editor, on_key, opened, parrot, value_of
from tests.support.console.browser_data import begun, browsing
from tests.support.console.form_app import at_the_form, kept, to_the_form
from tests.support.console.pilot import SIZES, at_both_sizes, at_the_screen, becomes, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines
from tests.support.faults.faults import other_process, read_line
from tests.support.faults.faults import write_line as tell

Lock = Callable[[], AbstractAsyncContextManager[None]]
Size = tuple[int, int]


@pytest.fixture
def lock(tmp_path: Path, open_engine: Engines) -> Lock:
    """Another process has the database to itself, for a while."""
    script = tmp_path / "locker.py"
    script.write_text(LOCKER)

    @asynccontextmanager
    async def locked() -> AsyncIterator[None]:
        with other_process(script, open_engine.db) as other:
            assert await asyncio.to_thread(read_line, other) == "locked"
            yield
            tell(other)
            await asyncio.to_thread(other.wait)

    return locked


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for a lock gives up after a moment."""
    monkeypatch.setattr(Database.open.__func__, "__kwdefaults__", {"synchronous": "NORMAL", "busy": 0.1})
    monkeypatch.setattr(Writer.__init__, "__kwdefaults__", {"window_seconds": 0.004, "busy_seconds": 0.5})


@at_both_sizes
async def test_a_field_is_not_said_to_be_kept_before_it_is(open_engine: Engines, lock: Lock, size: Size):
    app = with_form(open_engine)
    async with at_the_form(app, size) as (pilot, _):
        async with lock():
            await pilot.press("enter", *" there", "enter")
            await sees(pilot, "hello there", "1 value changed · not on disk yet")
            assert shown(app).count("not on disk yet") == 2, "and at its field"
            assert await kept(app) == {}
        await until(pilot, lambda: "not on disk yet" not in shown(app))
        assert any("hello there" in row and "changed" in row for row in shown(app).splitlines()), "at its field"
        assert await kept(app) == {"config": {"greeting": "hello there"}}


@pytest.mark.usefixtures("impatient")
async def test_a_field_that_could_not_be_kept_stays_says_so_and_is_kept_as_soon_as_it_can(
    open_engine: Engines, lock: Lock
):
    app = with_form(open_engine)
    async with at_the_form(app) as (pilot, _):
        async with lock():
            await pilot.press("enter", *" there", "enter")
            await until(pilot, lambda: any("try again" in words for words in app.toasts))
            await sees(pilot, "hello there", "not on disk yet", "is locked by another process")
            await pilot.press("ctrl+q")
            await sees(pilot, "Your settings are not on disk yet.")
            await pilot.press("escape")
            await until(pilot, lambda: "Your settings are" not in shown(app))
        await until(pilot, lambda: "not on disk yet" not in shown(app))
        await becomes(pilot, lambda: kept(app), {"config": {"greeting": "hello there"}})


@pytest.mark.usefixtures("impatient")
async def test_who_left_the_form_finds_there_what_could_not_be_kept(open_engine: Engines, lock: Lock):
    app = with_form(open_engine)
    async with at_the_form(app) as (pilot, _):
        async with lock():
            await pilot.press("enter", *" there", "enter", "escape")
            await until(pilot, lambda: any("try again" in words for words in app.toasts))
            await to_the_form(pilot, app)
            await sees(pilot, "hello there", "not on disk yet")
        await becomes(pilot, lambda: kept(app), {"config": {"greeting": "hello there"}})


async def to_sessions(pilot: Pilot[None], app: RecordingConsole) -> None:
    await begun(pilot, app)
    await pilot.press("ctrl+l")
    await until(pilot, lambda: isinstance(app.screen, SessionsScreen) and app.screen.list.source.height > 0)


async def to_said(pilot: Pilot[None], app: RecordingConsole) -> None:
    await begun(pilot, app)
    await on_key(pilot, await opened(pilot, app), "said")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
@pytest.mark.parametrize(
    ("begin", "keys", "meanwhile", "at_last"),
    [
        (to_sessions, ["r", *"Trip", "enter"], "Renaming to “Trip”…", "Trip"),
        (to_sessions, ["f"], "Forking…", "Forked; your next message"),
        (to_said, ["d"], "Deleting said…", "Deleted said"),
        (to_said, ["C"], "Clearing the scope…", "Cleared 1 key"),
    ],
)
async def test_a_browser_says_what_it_does_when_that_takes_long(
    open_engine: Engines,
    lock: Lock,
    size: Size,
    begin: Callable[[Pilot[None], RecordingConsole], Awaitable[None]],
    keys: list[str],
    meanwhile: str,
    at_last: str,
):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        await begin(pilot, app)
        async with lock():
            await pilot.press(*keys)
            await sees(pilot, meanwhile)
        await sees(pilot, at_last)
        await until(pilot, lambda: meanwhile not in shown(app))


async def test_a_value_says_that_it_is_being_saved_and_keys_are_heard(open_engine: Engines, lock: Lock):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        await to_said(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditValue))
        app.screen.query_one(TextArea).text = "7"
        async with lock():
            await pilot.press("f4")
            await sees(pilot, "Saving… not on disk yet")
            await pilot.press("escape")
            await sees(pilot, "esc again closes without waiting for it.")
        await sees(pilot, "Saved said")
        await until(pilot, lambda: not isinstance(app.screen, EditValue))


async def test_what_is_typed_while_a_value_is_saved_stays_and_is_saved_next(open_engine: Engines, lock: Lock):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        await to_said(pilot, app)
        await pilot.press("enter")
        area = await editor(pilot, app)
        area.text = "7"
        async with lock():
            await pilot.press("f4")
            await sees(pilot, "Saving… not on disk yet")
            await pilot.press("end", "8")
        await sees(pilot, "Saved, but not what you typed since. f4 saves it too.")
        assert (area.text, await value_of(app, "said")) == ("78", 7)
        await pilot.press("escape")
        await sees(pilot, "Your changes are not saved.")
        await pilot.press("f4")
        await until(pilot, lambda: not isinstance(app.screen, EditValue))
        assert await value_of(app, "said") == 78


async def test_a_value_that_is_saved_under_a_question_leaves_that_open_and_goes_when_it_is_answered(
    open_engine: Engines, lock: Lock
):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        await to_said(pilot, app)
        await pilot.press("enter")
        (await editor(pilot, app)).text = "7"
        value = app.screen
        assert isinstance(value, EditValue)
        async with lock():
            await pilot.press("f4")
            await sees(pilot, "Saving… not on disk yet")
            await app.push_screen(question := Question("Really?", "Yes"))
        await until(pilot, lambda: not value._is_saving)
        assert app.screen is question
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, StateScreen))


@pytest.mark.usefixtures("impatient")
async def test_what_could_not_be_undone_can_be_when_the_database_is_free(open_engine: Engines, lock: Lock):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        await to_said(pilot, app)
        await pilot.press("d")
        await sees(pilot, "Deleted said")
        async with lock():
            await pilot.press("u")
            await until(pilot, lambda: any("try again" in words for words in app.toasts))
        await pilot.press("u")
        await sees(pilot, "Undone: 1 key")
        await becomes(pilot, lambda: value_of(app, "said"), {"text": "second"})


async def test_a_session_says_that_it_is_being_deleted(
    open_engine: Engines, lock: Lock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("console.ui.sessions.delete.UNDO_SECONDS", 0.1)
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        await to_sessions(pilot, app)
        async with lock():
            await pilot.press("d")
            await sees(pilot, "Deleting the session…")
        await sees(pilot, "No sessions yet.")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_trouble_of_the_database_is_said_over_the_panes_too(open_engine: Engines, lock: Lock, size: Size):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        await to_sessions(pilot, app)
        async with lock():
            await pilot.press("r", *"Trip", "enter")
            line = app.screen.query_one("#trouble")
            await until(pilot, lambda: line.display and line.size.height > 0)
            await sees(pilot, "locked")
        await until(pilot, lambda: not line.display)
