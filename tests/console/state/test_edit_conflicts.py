"""A run or another process writes a value while the user edits or deletes it."""

from typing import Any

import pytest

from console.ui.state.edit import EditValue
from console.ui.state.screen import StateScreen
from tests.support.console.browser_data import browsing, talked
from tests.support.console.pilot import SIZES, at_the_screen, becomes, sees, shown, until
from tests.support.console.state_browser import (
    SESSION_WITH_STATE,
    move_to_key,
    open_state_browser,
    parrot,
    stored_value,
    wait_for_editor,
)
from tests.support.engines import Engines


async def open_editor_with(pilot, app, key: str, typed: str) -> StateScreen:
    """Open the editor of a key and replace its text."""
    screen = await open_state_browser(pilot, app)
    await move_to_key(pilot, screen, key)
    await pilot.press("enter")
    area = await wait_for_editor(pilot, app)
    area.text = typed
    await pilot.pause()
    return screen


async def write_elsewhere(app, key: str, value: Any) -> None:
    """Write a value as another process does: the screen is not notified."""
    row = next(row for row in await app.active_session.engine.state.browse() if row.key == key)
    await app.active_session.engine.state.set(row.identity, key, value)


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_value_written_by_a_run_is_overwritten_only_after_confirmation(
    open_engine: Engines, size: tuple[int, int]
):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        screen = await open_editor_with(pilot, app, "said", '{"text": "mine"}')
        (run_id,) = await talked(app.active_session.engine, "kyoto", "third")
        open_engine.clock.advance(120)
        await pilot.press("f4")
        await sees(pilot, 'it is now {"text": "third"}', f"run {run_id}", "2 min", "overwrites it", "mine")
        assert await stored_value(app, "said") == {"text": "third"}

        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        assert await stored_value(app, "said") == {"text": "mine"}

        await pilot.press("u")
        await becomes(pilot, lambda: stored_value(app, "said"), {"text": "third"})


async def test_second_save_overwrites_any_value_and_undo_restores_it(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_editor_with(pilot, app, "mood", '"mine"')
        await write_elsewhere(app, "mood", "wild")
        await pilot.press("f4")
        await sees(pilot, 'it is now "wild" (user, just now)')
        await write_elsewhere(app, "mood", "sad")
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        assert await stored_value(app, "mood") == "mine"
        await pilot.press("u")
        await becomes(pilot, lambda: stored_value(app, "mood"), "sad")


async def test_conflict_stays_visible_while_the_user_types_and_esc_asks(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_editor_with(pilot, app, "mood", '"mine"')
        await write_elsewhere(app, "mood", "wild")
        await pilot.press("f4")
        await sees(pilot, 'it is now "wild"')
        await pilot.press("escape")
        await sees(pilot, "esc again discards them")
        await pilot.press("space")
        await sees(pilot, 'it is now "wild"')
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is screen)
        assert await stored_value(app, "mood") == "wild"


async def test_deleted_key_is_written_again_only_after_confirmation(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, (80, 24)) as pilot:
        screen = await open_editor_with(pilot, app, "mood", '"mine"')
        assert screen.row is not None
        await app.active_session.engine.state.delete(screen.row.identity, "mood")
        await pilot.press("f4")
        await sees(pilot, "the key was deleted (user, just now)", "f4 again")
        assert await stored_value(app, "mood") is None
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        assert await stored_value(app, "mood") == "mine"


async def test_rewritten_equal_value_is_no_conflict(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_editor_with(pilot, app, "mood", '"mine"')
        await talked(app.active_session.engine, "kyoto", "third")
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        assert await stored_value(app, "mood") == "mine"


async def test_new_key_does_not_overwrite_an_existing_one(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("n", *"said", "enter")
        await wait_for_editor(pilot, app)
        await pilot.press("f4")
        await sees(pilot, 'it is now {"text": "second"}')
        assert isinstance(app.screen, EditValue)
        assert await stored_value(app, "said") == {"text": "second"}


async def test_value_from_the_history_replaces_only_the_value_that_was_seen(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("h")
        await until(pilot, lambda: screen.history is not None and len(screen.history.changes) == 2)
        await pilot.press("down", "enter")
        await wait_for_editor(pilot, app)
        await write_elsewhere(app, "said", "other")
        await pilot.press("f4")
        await sees(pilot, 'it is now "other"')
        await pilot.press("f4")
        await becomes(pilot, lambda: stored_value(app, "said"), {"text": "first"})


async def test_delete_applies_only_to_the_value_that_was_seen(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "mood")
        await write_elsewhere(app, "mood", "wild")
        assert "wild" not in shown(app)
        await pilot.press("d")
        await sees(pilot, 'mood is not deleted: it is now "wild" (user, just now) · d again deletes it')
        assert await stored_value(app, "mood") == "wild"
        await until(pilot, lambda: screen.row is not None and screen.row.glimpse == '"wild"')
        await pilot.press("d")
        await becomes(pilot, lambda: stored_value(app, "mood"), None)


async def test_deleted_key_is_not_deleted_again(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "mood")
        assert screen.row is not None
        await app.active_session.engine.state.delete(screen.row.identity, "mood")
        await pilot.press("d")
        await sees(pilot, "mood: the key was deleted (user, just now)")
        await until(pilot, lambda: screen.row is not None and screen.row.key == "said")


async def test_edit_that_cannot_be_undone_does_not_block_earlier_ones(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("n", *"budget", "enter")
        await wait_for_editor(pilot, app)
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        await move_to_key(pilot, screen, "said")
        await pilot.press("d")
        await becomes(pilot, lambda: stored_value(app, "said"), None)
        await talked(app.active_session.engine, "kyoto", "third")
        await pilot.press("u")
        await sees(pilot, "'said' was changed again since then, so it was not restored")
        await pilot.press("u")
        await until(pilot, lambda: "Undone: 1 key." in app.toasts)
        assert "budget" not in {row.key for row in await app.active_session.engine.state.browse()}
