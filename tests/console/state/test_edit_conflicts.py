"""A value that a run or another process writes while a person edits or deletes it."""

from typing import Any

import pytest

from console.ui.state.edit import EditValue
from console.ui.state.screen import StateScreen
from tests.console.state.test_state_screen import KEPT, editor, on_key, opened, parrot, value_of
from tests.support.console.browser_data import browsing, talked
from tests.support.console.pilot import SIZES, at_the_screen, becomes, sees, shown, until
from tests.support.engines import Engines


async def editing(pilot, app, key: str, typed: str) -> StateScreen:
    """The editor is open on a key, and something else was typed there."""
    screen = await opened(pilot, app)
    await on_key(pilot, screen, key)
    await pilot.press("enter")
    area = await editor(pilot, app)
    area.text = typed
    await pilot.pause()
    return screen


async def written_elsewhere(app, key: str, value: Any) -> None:
    """As another process does, of which nothing is told here."""
    row = next(row for row in await app.active_session.engine.state.browse() if row.key == key)
    await app.active_session.engine.state.set(row.identity, key, value)


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_what_a_run_wrote_meanwhile_is_said_and_overwritten_only_on_purpose(
    open_engine: Engines, size: tuple[int, int]
):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        screen = await editing(pilot, app, "said", '{"text": "mine"}')
        (run_id,) = await talked(app.active_session.engine, "kyoto", "third")
        open_engine.clock.advance(120)
        await pilot.press("f4")
        await sees(pilot, 'it is {"text": "third"} now', f"run {run_id}", "2 min", "f4 again", "mine")
        assert await value_of(app, "said") == {"text": "third"}

        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        assert await value_of(app, "said") == {"text": "mine"}

        await pilot.press("u")
        await becomes(pilot, lambda: value_of(app, "said"), {"text": "third"})


async def test_the_second_press_writes_whatever_was_written_meanwhile_and_undo_brings_that_back(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await editing(pilot, app, "mood", '"mine"')
        await written_elsewhere(app, "mood", "wild")
        await pilot.press("f4")
        await sees(pilot, 'it is "wild" now (user, just now)')
        await written_elsewhere(app, "mood", "sad")
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        assert await value_of(app, "mood") == "mine"
        await pilot.press("u")
        await becomes(pilot, lambda: value_of(app, "mood"), "sad")


async def test_who_types_on_still_sees_what_it_is_now_and_esc_asks(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await editing(pilot, app, "mood", '"mine"')
        await written_elsewhere(app, "mood", "wild")
        await pilot.press("f4")
        await sees(pilot, 'it is "wild" now')
        await pilot.press("escape")
        await sees(pilot, "esc again throws it away")
        await pilot.press("space")
        await sees(pilot, 'it is "wild" now')
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is screen)
        assert await value_of(app, "mood") == "wild"


async def test_a_key_that_was_deleted_meanwhile_is_written_anew_only_on_purpose(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, (80, 24)) as pilot:
        screen = await editing(pilot, app, "mood", '"mine"')
        assert screen.kept is not None
        await app.active_session.engine.state.delete(screen.kept.identity, "mood")
        await pilot.press("f4")
        await sees(pilot, "it is deleted now (user, just now)", "f4 again")
        assert await value_of(app, "mood") is None
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        assert await value_of(app, "mood") == "mine"


async def test_what_was_written_anew_as_it_was_is_no_matter(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await editing(pilot, app, "mood", '"mine"')
        await talked(app.active_session.engine, "kyoto", "third")
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        assert await value_of(app, "mood") == "mine"


async def test_a_new_key_does_not_take_the_place_of_one_that_is_there(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("n", *"said", "enter")
        await editor(pilot, app)
        await pilot.press("f4")
        await sees(pilot, 'it is {"text": "second"} now')
        assert isinstance(app.screen, EditValue)
        assert await value_of(app, "said") == {"text": "second"}


async def test_a_value_of_its_history_replaces_what_was_there_when_it_was_opened(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("h")
        await until(pilot, lambda: screen.past is not None and len(screen.past.changes) == 2)
        await pilot.press("down", "enter")
        await editor(pilot, app)
        await written_elsewhere(app, "said", "other")
        await pilot.press("f4")
        await sees(pilot, 'it is "other" now')
        await pilot.press("f4")
        await becomes(pilot, lambda: value_of(app, "said"), {"text": "first"})


async def test_what_is_deleted_is_what_was_seen(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "mood")
        await written_elsewhere(app, "mood", "wild")
        assert "wild" not in shown(app)
        await pilot.press("d")
        await sees(pilot, 'mood stays: it is "wild" now (user, just now) · d again deletes that')
        assert await value_of(app, "mood") == "wild"
        await until(pilot, lambda: screen.kept is not None and screen.kept.glimpse == '"wild"')
        await pilot.press("d")
        await becomes(pilot, lambda: value_of(app, "mood"), None)


async def test_a_key_that_is_gone_already_is_not_deleted_twice(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "mood")
        assert screen.kept is not None
        await app.active_session.engine.state.delete(screen.kept.identity, "mood")
        await pilot.press("d")
        await sees(pilot, "mood: it is deleted now (user, just now)")
        await until(pilot, lambda: screen.kept is not None and screen.kept.key == "said")


async def test_what_can_never_be_undone_is_not_in_the_way_of_what_was_done_before_it(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("n", *"budget", "enter")
        await editor(pilot, app)
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        await on_key(pilot, screen, "said")
        await pilot.press("d")
        await becomes(pilot, lambda: value_of(app, "said"), None)
        await talked(app.active_session.engine, "kyoto", "third")
        await pilot.press("u")
        await sees(pilot, "'said' was written again since, and stays.")
        await pilot.press("u")
        await until(pilot, lambda: "Undone: 1 key." in app.told)
        assert "budget" not in {row.key for row in await app.active_session.engine.state.browse()}
