"""The state browser as a person uses it: see, edit, delete, clear, undo, history, copy."""

import asyncio
import json
from typing import Any

import pytest
from textual import events
from textual.widgets import TextArea

from console.model.preferences.file import FilePreferences
from console.model.preferences.store import Preferences
from console.ui.state.edit import EditValue
from console.ui.state.screen import StateScreen
from engine.api import StateRow
from tests.support.console.browser_data import begun, browsing, talked
from tests.support.console.pilot import SIZES, at_the_screen, becomes, say, sees, shown, until
from tests.support.engines import Engines, declares, done, kept, said


@declares(capabilities={"steering": True})
async def parrot(ctx: Any):
    """Keeps what it is told."""
    text = ctx.input.to_text()
    yield kept("said", {"text": text})
    yield kept("mood", "calm", "actor")
    yield said(f"You said: {text}")
    yield done()


@declares(capabilities={"steering": True}, permissions={"storage": ["plugin"]})
async def feeling(ctx: Any):
    """Says how it feels, as it was given and as it reads it; was it never told, it feels calm."""
    given = (ctx.state.conversation or {}).get("mood")
    if given is None:
        yield kept("mood", "calm")
    yield said(f"given {given}, read {await ctx.api.state_get('conversation', 'mood')}")
    yield done()


async def hoarder(ctx: Any):
    """Keeps as many keys as it is told, and the text of each."""
    count, text = ctx.input.to_text().split()
    for number in range(int(count)):
        yield kept(f"key_{number:03}", text)
    yield done("kept")


KEPT = (("kyoto", ("first", "second")),)


async def opened(pilot, app) -> StateScreen:
    await app.action_perform("app.states")
    await until(pilot, lambda: isinstance(app.screen, StateScreen) and app.screen.list.shelf.height > 0)
    return app.screen


def rows_of(screen: StateScreen) -> list[StateRow]:
    return [entry.row for entry in screen.desk.keys.entries if entry.row is not None]


async def on_key(pilot, screen: StateScreen, key: str) -> None:
    """Bring the cursor to a key."""
    await pilot.press("g")
    for _ in range(screen.list.shelf.height):
        if screen.kept is not None and screen.kept.key == key:
            return
        await pilot.press("down")
    raise AssertionError(f"no key {key}")


async def editor(pilot, app) -> TextArea:
    """The value that is being edited, as soon as one can type."""
    await until(pilot, lambda: isinstance(app.screen, EditValue) and app.screen.area.has_focus)
    return app.screen.area


async def value_of(app, key: str) -> Any:
    found = {row.key: row for row in await app.stage.engine.state.browse()}
    return json.loads(found[key].glimpse) if key in found else None


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_a_value_is_edited_and_the_edit_taken_back(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        screen = await opened(pilot, app)
        await sees(pilot, "conversation kyoto", "said", "mood")
        await on_key(pilot, screen, "said")
        await pilot.press("enter")
        area = await editor(pilot, app)
        assert json.loads(area.text) == {"text": "second"}
        area.text = '{"text": "other"}'
        await pilot.press("f4")
        await until(pilot, lambda: app.screen is screen)
        await becomes(pilot, lambda: value_of(app, "said"), {"text": "other"})
        await sees(pilot, "other")
        await pilot.press("u")
        await becomes(pilot, lambda: value_of(app, "said"), {"text": "second"})
        await sees(pilot, "second")


async def test_a_key_that_is_pressed_twice_opens_one_editor(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        go, reads, at_once = asyncio.Event(), list[str](), app.stage.engine.state.value

        async def slowly(scope: Any, key: str, **options: Any) -> Any:
            reads.append(key)
            await go.wait()
            return await at_once(scope, key, **options)

        monkeypatch.setattr(app.stage.engine.state, "value", slowly)
        await pilot.press("enter", "enter")
        await until(pilot, lambda: len(reads) == 2)
        go.set()
        await editor(pilot, app)
        await until(pilot, lambda: screen.reading == 0)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)


async def test_what_a_person_wrote_is_used_by_the_next_run(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ()), runner=feeling)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await say(pilot, "how are you")
        await sees(pilot, "given None, read calm")
        await until(pilot, lambda: not app.situation.is_running)
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "mood")
        await pilot.press("enter")
        await editor(pilot, app)
        await pilot.press(*["delete"] * len('"calm"'), *'"wild"', "f4")
        await sees(pilot, "wrote mood · u undoes it")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "and now")
        await sees(pilot, "given wild, read wild")
        await until(pilot, lambda: not app.situation.is_running)
        await app.action_perform("app.states")
        await until(pilot, lambda: isinstance(app.screen, StateScreen))
        await pilot.press("u")
        await sees(pilot, "undone: 1 key")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "and at last")
        await sees(pilot, "given calm, read calm")


async def test_what_is_no_json_is_mended_where_it_was_typed(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, (60, 15)) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "mood")
        await pilot.press("enter")
        await editor(pilot, app)
        await pilot.press("end", "backspace", "f4")
        await sees(pilot, "not JSON: line 1")
        await pilot.press("end", '"', "f4")
        await until(pilot, lambda: app.screen is screen)
        assert await value_of(app, "mood") == "calm"


async def test_what_is_no_json_is_said_and_stays(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("e")
        (await editor(pilot, app)).text = '{\n  "text": nope\n}'
        await pilot.press("f4")
        await sees(pilot, "not JSON: line 2, column 11")
        await pilot.press("escape")
        await sees(pilot, "esc again throws it away")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert await value_of(app, "said") == {"text": "second"}


async def test_a_number_that_cannot_be_kept_is_said_and_stays(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("e")
        area = await editor(pilot, app)
        area.text = '{"a": 1e999}'
        await pilot.press("f4")
        await sees(pilot, "not saved: 1e999 is larger than any number that is kept")
        assert (area.text, await value_of(app, "said")) == ('{"a": 1e999}', {"text": "second"})


async def test_what_the_engine_refuses_is_said_and_stays(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("e")
        area = await editor(pilot, app)
        area.clear()
        app.post_message(events.Paste(json.dumps("x" * 300_000)))
        await until(pilot, lambda: len(area.text) > 300_000)
        await pilot.press("f4")
        await sees(pilot, "at most 262144 are kept")
        assert isinstance(app.screen, EditValue)


async def test_a_key_is_deleted_and_a_scope_cleared_and_both_come_back(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("d")
        await becomes(pilot, lambda: value_of(app, "said"), None)
        await until(pilot, lambda: "said" not in {row.key for row in rows_of(screen)})
        await until(pilot, lambda: screen.kept is not None and screen.kept.key == "mood")
        await pilot.press("C")
        await becomes(pilot, lambda: value_of(app, "mood"), None)
        await sees(pilot, "cleared 1 key · u undoes it")
        await pilot.press("u")
        await becomes(pilot, lambda: value_of(app, "mood"), "calm")
        await pilot.press("u")
        await becomes(pilot, lambda: value_of(app, "said"), {"text": "second"})
        await pilot.press("u")
        await until(pilot, lambda: "nothing was changed here that could be undone" in app.told)


async def test_all_keys_of_a_scope_are_cleared_and_come_back_together(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ("150 old",)), ("lima", ("3 old",)), runner=hoarder)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await pilot.press("slash", *"kyoto", "enter")
        await sees(pilot, "100+ keys of all runners")
        await pilot.press("G", "C")
        await sees(pilot, "cleared 150 keys · u undoes it", "No key or scope holds that.")
        await pilot.press("escape")
        await until(pilot, lambda: len(rows_of(screen)) == 3)
        await pilot.press("u")
        await sees(pilot, "undone: 150 keys")
        await until(pilot, lambda: screen.desk.keys.count == 153)


async def test_a_key_that_was_deleted_says_so_in_its_history(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, (80, 24)) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("d")
        await sees(pilot, "deleted said · u undoes it")
        await pilot.press("u")
        await sees(pilot, "undone: 1 key")
        await on_key(pilot, screen, "said")
        await pilot.press("h")
        await sees(pilot, "history of said · 4 changes", "user  deleted")
        await pilot.press("down")
        await until(pilot, lambda: screen.change is not None and screen.change.glimpse is None)
        for key in ("enter", "y"):
            app.told.clear()
            await pilot.press(key)
            await until(pilot, lambda: "it was deleted then; choose another change" in app.told)
        await pilot.press("tab")
        await sees(pilot, "deleted", "user")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: screen.past is None and screen.kept is not None and screen.kept.key == "said")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_a_value_is_looked_through_beside_its_key(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        (scope,) = {row.identity for row in await app.stage.engine.state.browse(text="kyoto")}
        await app.stage.engine.state.set(scope, "deep", {"a": {"b": "treasure", "c": 1}})
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "deep")
        await pilot.press("tab")
        await sees(pilot, "user", '▸ a  {b: "treasure", c: 1}')
        await pilot.press("G", "space")
        await sees(pilot, "▾ a", 'b  "treasure"')
        await pilot.press("down", "y")
        await until(pilot, lambda: app.clipboard == '"treasure"')
        await pilot.press("escape", "y")
        await until(pilot, lambda: json.loads(app.clipboard) == {"a": {"b": "treasure", "c": 1}})


async def test_who_is_far_down_stays_there_while_a_run_writes(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ("700 old",)), runner=hoarder)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        while not screen.desk.is_complete:
            await pilot.press("G")
            await pilot.pause(0.02)
        await pilot.press("G", "up")
        await until(pilot, lambda: screen.kept is not None and screen.kept.key == "key_698")
        await talked(app.stage.engine, "kyoto", "700 new", runner="hoarder")
        await sees(pilot, 'key_698  "new"')
        assert screen.kept.key == "key_698"
        assert screen.desk.keys.count == 700
        await pilot.press("d")
        await until(pilot, lambda: screen.desk.keys.count == 699 and screen.kept.key == "key_699")


async def test_who_deletes_the_last_key_of_a_scope_is_on_the_next_key(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ("2 old",)), ("lima", ("2 old",)), runner=hoarder)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        first, *_, other = [row.identity for row in rows_of(screen)]
        await until(pilot, lambda: screen.kept is not None and screen.kept.identity == first)
        for count in (3, 2):
            await pilot.press("d")
            await until(pilot, lambda count=count: screen.desk.keys.count == count)
        await until(pilot, lambda: screen.kept is not None and screen.kept.identity == other)


async def test_a_conversation_is_known_by_its_title(open_engine: Engines):
    app = browsing(open_engine, ("ses_01", ("first",)), runner=parrot)
    async with at_the_screen(app, (60, 15)) as pilot:
        await begun(pilot, app)
        await app.stage.engine.sessions.rename("ses_01", "Two days in Kyoto")
        await opened(pilot, app)
        await sees(pilot, "conversation “Two days in Kyoto” · parrot")


async def test_the_history_of_a_key_says_who_wrote_it_and_gives_a_value_back(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("h")
        await until(pilot, lambda: screen.past is not None and len(screen.past.changes) == 2)
        await sees(pilot, "run run_", "first", "second")
        await pilot.press("down", "y")
        await until(pilot, lambda: app.clipboard == '{\n  "text": "first"\n}')
        await pilot.press("enter")
        await editor(pilot, app)
        await pilot.press("f4")
        await becomes(pilot, lambda: value_of(app, "said"), {"text": "first"})
        await sees(pilot, "user")
        await pilot.press("escape")
        await until(pilot, lambda: screen.past is None and screen.kept is not None and screen.kept.key == "said")


async def test_a_history_is_not_left_by_a_search_and_says_what_leads_back(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("h")
        await sees(pilot, "history of said", "esc leads back to the keys")
        await pilot.press("slash", *"mo")
        await until(pilot, lambda: "this is the history of one key; esc leads back" in app.told)
        await pilot.click(screen.search)
        assert (screen.past is not None, screen.search.value, screen.focused) == (True, "", screen.list)
        await pilot.press("escape")
        await sees(pilot, "searches keys and whose they are")
        await pilot.press("slash", *"mood")
        await until(pilot, lambda: [row.key for row in rows_of(screen)] == ["mood"])


async def test_a_key_is_added(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await on_key(pilot, screen, "said")
        await pilot.press("n", *"budget", "enter")
        (await editor(pilot, app)).text = "120"
        await pilot.press("f4")
        await becomes(pilot, lambda: value_of(app, "budget"), 120)
        await sees(pilot, "budget")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_a_key_without_a_name_is_none_and_the_line_that_asks_for_it_stays(
    open_engine: Engines, size: tuple[int, int]
):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app, size) as pilot:
        screen = await opened(pilot, app)
        await pilot.press("n", "space", "enter")
        await sees(pilot, "a key needs a name")
        assert screen.line.has_focus
        await pilot.press(*"budget", "enter")
        await editor(pilot, app)


async def test_the_cursor_returns_to_what_came_back(open_engine: Engines):
    app = browsing(open_engine, ("kyoto", ("2 old",)), ("lima", ("2 old",)), runner=hoarder)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        first, second, *_ = rows_of(screen)
        await pilot.press("d")
        await until(pilot, lambda: screen.kept is not None and screen.kept.key == second.key)
        await pilot.press("C")
        await until(pilot, lambda: screen.kept is not None and screen.kept.identity != first.identity)
        for was in (second, first):
            await pilot.press("u")
            await until(
                pilot,
                lambda was=was: (
                    screen.kept is not None and (screen.kept.identity, screen.kept.key) == (was.identity, was.key)
                ),
            )


async def test_keys_are_searched_and_those_of_the_session_shown_alone(open_engine: Engines):
    app = browsing(open_engine, *KEPT, ("lima", ("third",)), runner=parrot)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.resume("lima")
        screen = await opened(pilot, app)
        await pilot.press("slash", *"kyoto", "enter")
        await until(pilot, lambda: {row.identity.conversation_id for row in rows_of(screen)} == {"kyoto"})
        await pilot.press("escape", "w")
        await until(pilot, lambda: {row.identity.conversation_id for row in rows_of(screen)} == {"lima", None})
        await sees(pilot, "this session")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_a_run_s_write_is_seen_without_a_key(open_engine: Engines):
    app = browsing(open_engine, *KEPT, runner=parrot)
    async with at_the_screen(app) as pilot:
        await opened(pilot, app)
        await app.stage.engine.runs.run_again("last")
        await app.stage.engine.runs.wait_until_idle()
        open_engine.clock.advance(300)
        await until(pilot, lambda: "5 min ago" in shown(app))


async def test_where_nothing_is_kept_here_the_key_is_named_that_shows_all(open_engine: Engines):
    app = browsing(open_engine, runner=parrot)
    app.settle(Preferences(FilePreferences(keys={"states.whose": "a"})))
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.action_perform("app.states")
        await sees(pilot, "Nothing is kept yet")
        await pilot.press("a")
        await sees(pilot, "Nothing is kept that this session sees.", "a shows the state of all runners.")


async def test_an_empty_browser_says_how_it_gets_full(open_engine: Engines):
    app = browsing(open_engine)
    async with at_the_screen(app) as pilot:
        await app.action_perform("app.states")
        await sees(pilot, "Nothing is kept yet")
        await pilot.press("d")
        await until(pilot, lambda: "nothing is kept here" in app.told)
