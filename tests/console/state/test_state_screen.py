"""The state browser: view, edit, delete, clear, undo, history, copy."""

import asyncio
import json
from typing import Any

import pytest
from textual import events

from console.model.preferences.file import FilePreferences
from console.model.preferences.store import Preferences
from console.ui.state.edit import EditValue
from console.ui.state.screen import StateScreen
from engine.api import StateRow
from tests.support.console.browser_data import begun, browsing, talked
from tests.support.console.pilot import SIZES, at_the_screen, becomes, say, sees, shown, until
from tests.support.console.state_browser import (
    SESSION_WITH_STATE,
    move_to_key,
    open_state_browser,
    parrot,
    stored_value,
    wait_for_editor,
)
from tests.support.engines import Engines, declares, done, read_database, said, state_updated


@declares(capabilities={"steering": True}, permissions={"storage": ["plugin"]})
async def feeling(ctx: Any):
    """Answers with its mood as it was given and as it reads it. The first mood is calm."""
    given = (ctx.state.conversation or {}).get("mood")
    if given is None:
        yield state_updated("mood", "calm")
    yield said(f"given {given}, read {await ctx.api.state_get('conversation', 'mood')}")
    yield done()


async def hoarder(ctx: Any):
    """Stores a number of keys with a text, both from the message."""
    count, text = ctx.input.to_text().split()
    for number in range(int(count)):
        yield state_updated(f"key_{number:03}", text)
    yield done("kept")


def rows_of(screen: StateScreen) -> list[StateRow]:
    return [entry.row for entry in screen.reader.keys.rows if entry.row is not None]


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_edit_of_a_value_and_undo(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        screen = await open_state_browser(pilot, app)
        await sees(pilot, "conversation kyoto", "said", "mood")
        await move_to_key(pilot, screen, "said")
        await pilot.press("enter")
        area = await wait_for_editor(pilot, app)
        assert json.loads(area.text) == {"text": "second"}
        area.text = '{"text": "other"}'
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        await becomes(pilot, lambda: stored_value(app, "said"), {"text": "other"})
        await sees(pilot, "other")
        await pilot.press("u")
        await becomes(pilot, lambda: stored_value(app, "said"), {"text": "second"})
        await sees(pilot, "second")


async def test_key_pressed_twice_opens_one_editor(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        go, reads, at_once = asyncio.Event(), list[str](), app.active_session.engine.state.value

        async def slowly(scope: Any, key: str, **options: Any) -> Any:
            reads.append(key)
            await go.wait()
            return await at_once(scope, key, **options)

        monkeypatch.setattr(app.active_session.engine.state, "value", slowly)
        await pilot.press("enter", "enter")
        await until(pilot, lambda: len(reads) == 2)
        go.set()
        await wait_for_editor(pilot, app)
        await until(pilot, lambda: screen.reading == 0)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)


async def test_next_run_reads_the_edited_value(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ()), runner=feeling)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await say(pilot, "how are you")
        await sees(pilot, "given None, read calm")
        await until(pilot, lambda: not app.services.situation.is_running)
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "mood")
        await pilot.press("enter")
        await wait_for_editor(pilot, app)
        await pilot.press(*["delete"] * len('"calm"'), *'"wild"', "f4")
        await sees(pilot, "Saved mood · u undoes it")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "and now")
        await sees(pilot, "given wild, read wild")
        await until(pilot, lambda: not app.services.situation.is_running)
        await app.action_perform("app.states")
        await until(pilot, lambda: isinstance(app.screen, StateScreen))
        await pilot.press("u")
        await sees(pilot, "Undone: 1 key")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "and at last")
        await sees(pilot, "given calm, read calm")


async def test_invalid_json_can_be_corrected_and_saved(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, (60, 15)) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "mood")
        await pilot.press("enter")
        await wait_for_editor(pilot, app)
        await pilot.press("end", "backspace", "f4")
        await sees(pilot, "Not JSON: line 1")
        await pilot.press("end", '"', "f4")
        await until(pilot, lambda: app.screen is screen)
        assert await stored_value(app, "mood") == "calm"


async def test_invalid_json_is_not_saved_and_esc_asks(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("e")
        (await wait_for_editor(pilot, app)).text = '{\n  "text": nope\n}'
        await pilot.press("f4")
        await sees(pilot, "Not JSON: line 2, column 11")
        await pilot.press("escape")
        await sees(pilot, "esc again discards them")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert await stored_value(app, "said") == {"text": "second"}


async def test_number_that_cannot_be_stored_is_not_saved(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("e")
        area = await wait_for_editor(pilot, app)
        area.text = '{"a": 1e999}'
        await pilot.press("f4")
        await sees(pilot, "Not saved: 1e999 is too large to be stored")
        assert (area.text, await stored_value(app, "said")) == ('{"a": 1e999}', {"text": "second"})


async def test_refusal_of_the_engine_is_shown_in_the_editor(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("e")
        area = await wait_for_editor(pilot, app)
        area.clear()
        app.post_message(events.Paste(json.dumps("x" * 300_000)))
        await until(pilot, lambda: len(area.text) > 300_000)
        await pilot.press("f4")
        await sees(pilot, "the limit is 262144")
        assert isinstance(app.screen, EditValue)


async def test_delete_and_clear_can_be_undone(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("d")
        await becomes(pilot, lambda: stored_value(app, "said"), None)
        await until(pilot, lambda: "said" not in {row.key for row in rows_of(screen)})
        await until(pilot, lambda: screen.row is not None and screen.row.key == "mood")
        await pilot.press("C")
        await becomes(pilot, lambda: stored_value(app, "mood"), None)
        await sees(pilot, "Cleared 1 key · u undoes it")
        await pilot.press("u")
        await becomes(pilot, lambda: stored_value(app, "mood"), "calm")
        await pilot.press("u")
        await becomes(pilot, lambda: stored_value(app, "said"), {"text": "second"})
        await pilot.press("u")
        await until(pilot, lambda: "There is no change to undo." in app.toasts)


async def test_clear_and_undo_apply_to_all_keys_of_a_scope(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ("150 old",)), ("lima", ("3 old",)), runner=hoarder)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await pilot.press("slash", *"kyoto", "enter")
        await sees(pilot, "100+ keys of all runners")
        await pilot.press("G", "C")
        await sees(pilot, "Cleared 150 keys · u undoes it", "No key or scope matches.")
        await pilot.press("escape")
        await until(pilot, lambda: len(rows_of(screen)) == 3)
        await pilot.press("u")
        await sees(pilot, "Undone: 150 keys.")
        await until(pilot, lambda: screen.reader.keys.count == 153)


async def test_history_shows_a_deletion(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, (80, 24)) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("d")
        await sees(pilot, "Deleted said · u undoes it")
        await pilot.press("u")
        await sees(pilot, "Undone: 1 key")
        await move_to_key(pilot, screen, "said")
        await pilot.press("h")
        await sees(pilot, "History of said · 4 changes", "user  deleted")
        await pilot.press("down")
        await until(pilot, lambda: screen.change is not None and screen.change.glimpse is None)
        for key in ("enter", "y"):
            app.toasts.clear()
            await pilot.press(key)
            await until(pilot, lambda: "This change deleted the key. Choose another change." in app.toasts)
        await pilot.press("tab")
        await sees(pilot, "deleted", "user")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: screen.history is None and screen.row is not None and screen.row.key == "said")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_value_can_be_unfolded_and_copied(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        (scope,) = {row.identity for row in await app.active_session.engine.state.browse(text="kyoto")}
        await app.active_session.engine.state.set(scope, "deep", {"a": {"b": "treasure", "c": 1}})
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "deep")
        await pilot.press("tab")
        await sees(pilot, "user", '▸ a  {b: "treasure", c: 1}')
        await pilot.press("G", "space")
        await sees(pilot, "▾ a", 'b  "treasure"')
        await pilot.press("down", "y")
        await until(pilot, lambda: app.clipboard == '"treasure"')
        await pilot.press("escape", "y")
        await until(pilot, lambda: json.loads(app.clipboard) == {"a": {"b": "treasure", "c": 1}})


async def test_cursor_stays_on_its_key_while_a_run_writes(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ("700 old",)), runner=hoarder)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        while not screen.reader.is_complete:
            await pilot.press("G")
            await pilot.pause(0.02)
        await pilot.press("G", "up")
        await until(pilot, lambda: screen.row is not None and screen.row.key == "key_698")
        await talked(app.active_session.engine, "kyoto", "700 new", runner="hoarder")
        await sees(pilot, 'key_698  "new"')
        assert screen.row.key == "key_698"
        assert screen.reader.keys.count == 700
        await pilot.press("d")
        await until(pilot, lambda: screen.reader.keys.count == 699 and screen.row.key == "key_699")


async def test_cursor_moves_to_the_next_key_after_a_delete(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ("2 old",)), ("lima", ("2 old",)), runner=hoarder)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        first, *_, other = [row.identity for row in rows_of(screen)]
        await until(pilot, lambda: screen.row is not None and screen.row.identity == first)
        for count in (3, 2):
            await pilot.press("d")
            await until(pilot, lambda count=count: screen.reader.keys.count == count)
        await until(pilot, lambda: screen.row is not None and screen.row.identity == other)


async def test_conversation_scope_shows_the_session_title(open_engine: Engines):
    app = browsing(open_engine, ("ses_01", ("first",)), runner=parrot)
    async with at_the_screen(app, (60, 15)) as pilot:
        await begun(pilot, app)
        await app.active_session.engine.sessions.rename("ses_01", "Two days in Kyoto")
        await open_state_browser(pilot, app)
        await sees(pilot, "conversation “Two days in Kyoto” · parrot")


async def test_history_shows_writers_and_restores_a_value(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("h")
        await until(pilot, lambda: screen.history is not None and len(screen.history.changes) == 2)
        await sees(pilot, "run run_", "first", "second")
        await pilot.press("down", "y")
        await until(pilot, lambda: app.clipboard == '{\n  "text": "first"\n}')
        await pilot.press("enter")
        await wait_for_editor(pilot, app)
        await pilot.press("f4")
        await becomes(pilot, lambda: stored_value(app, "said"), {"text": "first"})
        await sees(pilot, "user")
        await pilot.press("escape")
        await until(pilot, lambda: screen.history is None and screen.row is not None and screen.row.key == "said")


async def test_search_is_disabled_in_a_history(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("h")
        await sees(pilot, "History of said", "esc goes back to the keys")
        await pilot.press("slash", *"mo")
        await until(pilot, lambda: "This is the history of one key. esc goes back to the keys." in app.toasts)
        await pilot.click(screen.search)
        assert (screen.history is not None, screen.search.value, screen.focused) == (True, "", screen.list)
        await pilot.press("escape")
        await sees(pilot, "searches keys and scopes")
        await pilot.press("slash", *"mood")
        await until(pilot, lambda: [row.key for row in rows_of(screen)] == ["mood"])


async def test_new_key_is_added(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        await move_to_key(pilot, screen, "said")
        await pilot.press("n", *"budget", "enter")
        (await wait_for_editor(pilot, app)).text = "120"
        await pilot.press("f4")
        await becomes(pilot, lambda: stored_value(app, "budget"), 120)
        await sees(pilot, "budget")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_new_key_needs_a_name(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        screen = await open_state_browser(pilot, app)
        await pilot.press("n", "space", "enter")
        await sees(pilot, "A key needs a name.")
        assert screen.ask_line.has_focus
        await pilot.press(*"budget", "enter")
        await wait_for_editor(pilot, app)


async def test_undo_moves_the_cursor_to_the_restored_key(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ("2 old",)), ("lima", ("2 old",)), runner=hoarder)
    async with at_the_screen(app) as pilot:
        screen = await open_state_browser(pilot, app)
        first, second, *_ = rows_of(screen)
        await pilot.press("d")
        await until(pilot, lambda: screen.row is not None and screen.row.key == second.key)
        await pilot.press("C")
        await until(pilot, lambda: screen.row is not None and screen.row.identity != first.identity)
        for was in (second, first):
            await pilot.press("u")
            await until(
                pilot,
                lambda was=was: (
                    screen.row is not None and (screen.row.identity, screen.row.key) == (was.identity, was.key)
                ),
            )


async def test_search_and_filter_by_session(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, ("lima", ("third",)), runner=parrot)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.controllers.sessions.resume("lima")
        screen = await open_state_browser(pilot, app)
        await pilot.press("slash", *"kyoto", "enter")
        await until(pilot, lambda: {row.identity.conversation_id for row in rows_of(screen)} == {"kyoto"})
        await pilot.press("escape", "w")
        await until(pilot, lambda: {row.identity.conversation_id for row in rows_of(screen)} == {"lima", None})
        await sees(pilot, "this session")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_write_of_a_run_appears_by_itself(open_engine: Engines):
    app = browsing(open_engine, *SESSION_WITH_STATE, runner=parrot)
    async with at_the_screen(app) as pilot:
        await open_state_browser(pilot, app)
        await app.active_session.engine.runs.run_again("last")
        await app.active_session.engine.runs.wait_until_idle()
        open_engine.clock.advance(300)
        await until(pilot, lambda: "5 min ago" in shown(app))


async def test_empty_session_names_the_key_that_shows_all_state(open_engine: Engines):
    app = browsing(open_engine, runner=parrot)
    app.controllers.preferences.apply(Preferences(FilePreferences(keys={"states.whose": "a"})))
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.action_perform("app.states")
        await sees(pilot, "No state yet.")
        await pilot.press("a")
        await sees(pilot, "This session has no state.", "a shows the state of all runners.")


async def test_empty_browser_says_how_state_appears(open_engine: Engines):
    app = browsing(open_engine)
    async with at_the_screen(app) as pilot:
        await app.action_perform("app.states")
        await sees(pilot, "No state yet.")
        await pilot.press("d")
        await until(pilot, lambda: "There is no state here." in app.toasts)


async def keeper(ctx: Any):
    """Stores the key of its config."""
    yield state_updated("login", {"user": "ann", "key": ctx.config["api_key"]})
    yield done("kept")


async def test_value_with_a_secret_is_edited_with_its_mark(open_engine: Engines):
    agents = [{"id": "keeper", "runner": "keeper", "config": {"api_key": "sesame-4711"}}]
    app = browsing(open_engine, ("kyoto", ("hello",)), runner=keeper, agents=agents)
    async with at_the_screen(app, (120, 40)) as pilot:
        screen = await open_state_browser(pilot, app)
        await sees(pilot, "‹secret api_key›")
        await move_to_key(pilot, screen, "login")
        await pilot.press("enter")
        area = await wait_for_editor(pilot, app)
        assert json.loads(area.text) == {"user": "ann", "key": "‹secret api_key›"}
        area.text = '{"user": "bob", "key": "‹secret api_key›"}'
        await pilot.press("f4")
        await becomes(pilot, lambda: stored_value(app, "login"), {"user": "bob", "key": "‹secret api_key›"})
        assert "sesame-4711" not in shown(app)
    reader = await open_engine(mode="read")
    stored = read_database(reader, lambda conn: conn.exec_driver_sql("SELECT value FROM state").scalar())
    assert json.loads(str(stored)) == {"user": "bob", "key": "sesame-4711"}
