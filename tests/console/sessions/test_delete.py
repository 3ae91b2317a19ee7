"""Deleting a session: it can be restored for eight seconds, then it is deleted; quitting deletes it at once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from console.data.prompt_drafts import Draft, PromptDrafts
from engine.api import Engine
from engine.api.sessions import SessionsApi
from engine.store import index_cleanup
from engine.store.errors import StoreError
from tests.support.console.browser_data import browsing, listed, talked
from tests.support.console.pilot import Cue, at_the_screen, becomes, listener, say, sees, shown, until
from tests.support.console.sessions_browser import TRIPS, open_session_browser, resume_session, session_ids
from tests.support.engines import Engines, events_of
from tests.support.files import files_containing


@pytest.fixture
def slow_hide(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Hiding a session waits until this event is set."""
    go, hide_at_once = asyncio.Event(), SessionsApi.hide

    async def slowly(sessions: SessionsApi, session_id: str) -> Any:
        await go.wait()
        return await hide_at_once(sessions, session_id)

    monkeypatch.setattr(SessionsApi, "hide", slowly)
    return go


async def test_session_is_not_listed_while_it_is_being_hidden_and_undo_waits(
    open_engine: Engines, slow_hide: asyncio.Event
):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: listed(screen) == ["kyoto"])
        assert app.controllers.deleter.pending == {"lima"}
        await pilot.press("u")
        slow_hide.set()
        await until(pilot, lambda: listed(screen) == ["lima", "kyoto"])
        assert await session_ids(app.active_session.engine) == {"kyoto", "lima"}


async def test_quit_waits_for_a_session_that_is_being_hidden(open_engine: Engines, slow_hide: asyncio.Event):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: bool(app.controllers.deleter.pending))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.controllers.quit.is_quitting)
        slow_hide.set()
    assert app.controllers.quit.exit_messages == ("Deleted “where is the museum of gold”.",)
    engine = await open_engine()
    assert await session_ids(engine) == {"kyoto"}
    assert await engine.sessions.list_restorable() == []


async def test_session_that_cannot_be_deleted_is_listed_again(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    async def refuse(sessions: SessionsApi, session_id: str) -> Any:
        raise StoreError("session lima is busy with run run_1; stop it first.")

    monkeypatch.setattr(SessionsApi, "hide", refuse)
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: any("is busy with run" in toast for toast in app.toasts))
        assert listed(screen) == ["lima", "kyoto"]
        assert not app.controllers.deleter.can_undo


async def test_parent_of_a_deleted_fork_no_longer_folds(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        fork = (await app.active_session.engine.sessions.fork("kyoto")).session_id
        screen = await open_session_browser(pilot, app)
        nodes = screen.reader.tree.nodes
        await pilot.press("g", *["down"] * listed(screen).index(fork), "d")
        await until(pilot, lambda: {one.row.session.session_id: one.is_open for one in nodes}.get("kyoto", 0) is None)


async def test_undo_restores_a_deleted_session(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: listed(screen) == ["kyoto"])
        await sees(pilot, "u undoes it; quitting makes it final")
        await pilot.press("u")
        await until(pilot, lambda: listed(screen) == ["lima", "kyoto"])
        await pilot.press("u")
        await until(pilot, lambda: "No session was deleted in the last 8 seconds." in app.toasts)
    engine = await open_engine()
    assert {one.session_id for one in await engine.sessions.list()} == {"kyoto", "lima"}


async def test_session_that_was_deleted_before_a_crash_can_be_restored(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.controllers.drafts.is_open)
        engine = app.active_session.engine
        await engine.sessions.hide("lima")
        engine._core.cleanup.hidden_here.clear()  # as if another process had hidden it and died
        screen = await open_session_browser(pilot, app)
        assert listed(screen) == ["kyoto"]
        await pilot.press("u")
        await until(pilot, lambda: listed(screen) == ["lima", "kyoto"])


async def test_data_that_is_kept_is_named(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.controllers.drafts.is_open)
        await app.active_session.engine.sessions.fork("lima")
        screen = await open_session_browser(pilot, app)
        await pilot.press("g", *["down"] * listed(screen).index("lima"), "d")
        await until(pilot, lambda: any("Kept: the lines in 1 fork." in toast for toast in app.toasts))


async def test_deleted_session_is_purged_after_eight_seconds(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("d")
        engine = app.active_session.engine
        await becomes(pilot, lambda: session_ids(engine), {"kyoto"})
        await until(pilot, lambda: not app.controllers.deleter.pending)
        open_engine.clock.advance(8)
        await becomes(pilot, lambda: purged(engine), ["lima"])
        await pilot.press("u")
        await until(pilot, lambda: "No session was deleted in the last 8 seconds." in app.toasts)
        assert listed(screen) == ["kyoto"]


async def test_no_file_has_the_words_of_a_purged_session(open_engine: Engines, tmp_path: Path):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await resume_session(pilot, app, "lima")
        app.controllers.quit.report_crash(ValueError("the museum of gold"))
        draft = PromptDrafts(open_engine.db)
        draft.save(Draft("gold, unsent", session="lima"))
        draft.release()  # as if its process had died
        with_words = {name.partition("-")[0] for name in files_containing(tmp_path, "gold")}
        assert with_words == {"facts.db", "facts.db.crash", "facts.db.draft"}

        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: app.active_session.session_id != "lima" and not app.controllers.deleter.pending)
        open_engine.clock.advance(8)
        engine = app.active_session.engine
        await becomes(pilot, lambda: purged(engine), ["lima"])
        await becomes(pilot, lambda: engine._core.read(index_cleanup.pending), [])
        assert files_containing(tmp_path, "gold", "museum") == []
        assert files_containing(tmp_path, "Kyoto") != []


async def purged(engine: Engine) -> list[str]:
    return [event.metadata["session_id"] for event in events_of(engine, "session.deleted")]


async def test_quitting_completes_a_pending_deletion(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: app.controllers.deleter.can_undo)
    engine = await open_engine()
    assert [one.session_id for one in await engine.sessions.list()] == ["kyoto"]


async def test_two_deleted_sessions_are_restored_in_reverse_order(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("d", "d")
        await sees(pilot, "No sessions yet.", "0 sessions")
        await pilot.press("u")
        await until(pilot, lambda: listed(screen) == ["kyoto"])
        await pilot.press("u")
        await until(pilot, lambda: listed(screen) == ["lima", "kyoto"])
        assert screen.node.row.session.session_id == "lima", "the cursor is on the restored session"
        await sees(pilot, "“where is the museum of gold” is restored.")


async def test_deleting_the_open_session_opens_a_new_one(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await resume_session(pilot, app, "lima")
        await open_session_browser(pilot, app)
        await sees(pilot, "you are here")
        await pilot.press("d")
        await until(pilot, lambda: app.active_session.session_id not in ("lima", "kyoto"))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await sees(pilot, "No messages yet")
        await say(pilot, "elsewhere")
        await sees(pilot, "You said: elsewhere")
        assert app.active_session.session_id not in ("lima", "kyoto")


async def test_undo_reopens_the_deleted_session(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await resume_session(pilot, app, "lima")
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: app.active_session.session_id != "lima")
        await pilot.press("u")
        await until(pilot, lambda: app.active_session.session_id == "lima")
        await sees(pilot, "you are here")
        await pilot.press("escape")
        await sees(pilot, "You said: where is the museum of gold")


async def test_undo_keeps_the_new_session_open_if_it_was_used(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await resume_session(pilot, app, "lima")
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: app.active_session.session_id != "lima")
        here = app.active_session.session_id
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "elsewhere")
        await sees(pilot, "You said: elsewhere")
        await open_session_browser(pilot, app)
        await pilot.press("u")
        await until(pilot, lambda: "“where is the museum of gold” is restored." in app.toasts)
        assert app.active_session.session_id == here


async def test_runs_list_hides_a_deleted_session_until_undo(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        rail = app.main.rail
        await until(pilot, lambda: len(rail._shown.runs) == 3 and len(rail._shown.sessions) == 2)
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: len(rail._shown.runs) == 2 and len(rail._shown.sessions) == 1)
        await pilot.press("u")
        await until(pilot, lambda: len(rail._shown.runs) == 3 and len(rail._shown.sessions) == 2)


async def test_quitting_deletes_the_open_session_and_reports_it(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await resume_session(pilot, app, "lima")
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: app.controllers.deleter.can_undo)
        await pilot.press("ctrl+q")
    engine = await open_engine()
    assert await session_ids(engine) == {"kyoto"}
    assert await engine.runs.list(conversation_id="lima") == []
    assert app.controllers.quit.exit_messages == ("Deleted “where is the museum of gold”.",)


async def test_message_to_a_deleted_session_starts_an_empty_one(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        open_engine.clock.advance(60)
        await pilot.press("d")
        await until(pilot, lambda: listed(screen) == ["kyoto"] and not app.controllers.deleter.pending)
        engine = app.active_session.engine
        await talked(engine, "lima", "something else")
        assert next(line.content for line in await engine.sessions.transcript("lima", after=0)) == "something else"
        await until(pilot, lambda: listed(screen) == ["lima", "kyoto"])


async def test_search_results_of_a_deleted_session_disappear_until_undo(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("slash", *"gold", "enter")
        await until(pilot, lambda: len(listed(screen)) == 3)
        await pilot.press("d")
        await sees(pilot, "No results for “gold”")
        await until(pilot, lambda: not app.controllers.deleter.pending)
        assert listed(screen) == []
        await pilot.press("u")
        await until(pilot, lambda: len(listed(screen)) == 3)


async def test_session_with_a_run_in_progress_cannot_be_deleted(open_engine: Engines):
    cue = Cue()
    app = browsing(open_engine, runner=listener(cue))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.controllers.drafts.is_open)
        await say(pilot, "begin")
        await sees(pilot, "You said: begin")
        await open_session_browser(pilot, app)
        await sees(pilot, "running")
        assert "delete" not in shown(app).splitlines()[-1]
        await pilot.press("d")
        await until(pilot, lambda: "A run is in progress in this session. Stop it first." in app.toasts)
        cue.go()
        cue.go()
