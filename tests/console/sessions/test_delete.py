"""Deleting a session: it can be restored for eight seconds, then it is deleted; quitting deletes it at once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import console.ui.sessions.delete
from console.ui.sessions.delete import PendingDeletes
from engine.api.sessions import SessionsApi
from tests.support.console.browser_data import browsing, listed, talked
from tests.support.console.pilot import Cue, at_the_screen, becomes, listener, say, sees, shown, until
from tests.support.console.sessions_browser import TRIPS, open_session_browser, resume_session, session_ids
from tests.support.engines import Engines


class ManualTimers:
    """Timers that a test fires by hand."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], object]] = []
        self.stopped = 0
        self.tasks: list[Any] = []
        self.finished: list[tuple[str, bool]] = []

    def later(self, seconds: float, call: Callable[[], object]) -> Any:
        self.waiting.append(call)
        return self

    def stop(self) -> None:
        self.stopped += 1

    def begin(self, act: Awaitable[object]) -> None:
        self.tasks.append(asyncio.ensure_future(act))

    async def over(self) -> None:
        for call in self.waiting:
            call()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def make_pending_deletes(
    timers: ManualTimers,
    deleted: list[str],
    error: Exception | None = None,
    delete: Callable[[str], Awaitable[str]] | None = None,
) -> PendingDeletes:
    async def delete_at_once(name: str) -> str:
        if error is not None:
            raise error
        deleted.append(name)
        return f"deleted {name}"

    def over(name: str, is_gone: bool) -> None:
        timers.finished.append((name, is_gone))

    return PendingDeletes(delete or delete_at_once, timers.later, timers.begin, over)


async def test_session_is_deleted_when_the_time_to_undo_is_over():
    timers, deleted = ManualTimers(), list[str]()
    pending = make_pending_deletes(timers, deleted)
    pending.add("a")
    assert (pending.session_ids, deleted) == ({"a"}, [])
    await timers.over()
    assert (pending.session_ids, deleted, timers.finished) == (set(), ["a"], [("a", True)])


async def test_undo_restores_the_last_deleted_session_first():
    timers, deleted = ManualTimers(), list[str]()
    pending = make_pending_deletes(timers, deleted)
    pending.add("a")
    pending.add("b")
    assert pending.undo() == "b"
    await timers.over()
    assert deleted == ["a"]
    assert pending.undo() is None


async def test_failed_delete_shows_the_session_again():
    timers = ManualTimers()
    pending = make_pending_deletes(timers, [], OSError("busy"))
    pending.add("a")
    await timers.over()
    assert (pending.session_ids, timers.finished) == (set(), [("a", False)])


async def test_quitting_deletes_pending_sessions_once_and_reports_it():
    timers, deleted = ManualTimers(), list[str]()
    pending = make_pending_deletes(timers, deleted)
    pending.add("a")
    assert await pending.finish() == ["deleted a"]
    await timers.over()
    assert deleted == ["a"]


async def test_failed_delete_at_quit_does_not_stop_the_others():
    timers = ManualTimers()
    pending = make_pending_deletes(timers, [], OSError("busy"))
    pending.add("a")
    pending.add("b")
    assert await pending.finish() == ["busy", "busy"]
    assert pending.session_ids == set()


async def test_delete_in_progress_stays_hidden_cannot_be_undone_and_is_awaited_at_quit():
    timers, deleted, started, go = ManualTimers(), list[str](), asyncio.Event(), asyncio.Event()

    async def slowly(name: str) -> str:
        started.set()
        await go.wait()
        deleted.append(name)
        return f"deleted {name}"

    pending = make_pending_deletes(timers, deleted, delete=slowly)
    pending.add("a")
    firing = asyncio.ensure_future(timers.over())
    await started.wait()
    pending.add("b")
    assert pending.undo() == "b"
    assert (pending.undo(), pending.session_ids, pending.can_undo) == (None, {"a"}, False)
    assert pending.why_no_undo == "The session is being deleted and cannot be restored."
    finishing = asyncio.ensure_future(pending.finish())
    go.set()
    assert (await finishing, deleted, pending.session_ids, timers.finished) == ([], ["a"], set(), [("a", True)])
    await firing


# At the screen


@pytest.fixture
def slow_delete(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """The time to undo is short, and a deletion waits until this event is set."""
    go, delete_at_once = asyncio.Event(), SessionsApi.delete

    async def slowly(sessions: SessionsApi, session_id: str) -> Any:
        await go.wait()
        return await delete_at_once(sessions, session_id)

    monkeypatch.setattr(console.ui.sessions.delete, "UNDO_SECONDS", 0.01)
    monkeypatch.setattr(SessionsApi, "delete", slowly)
    return go


async def test_undo_during_the_deletion_says_that_it_is_too_late(open_engine: Engines, slow_delete: asyncio.Event):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(
            pilot,
            lambda: bool(app.controllers.deleter.pending.session_ids) and not app.controllers.deleter.pending.can_undo,
        )
        await pilot.press("u")
        await sees(pilot, "The session is being deleted and cannot be restored.")
        assert (app.screen, listed(screen)) == (screen, ["kyoto"])
        slow_delete.set()
        await becomes(pilot, lambda: session_ids(app.active_session.engine), {"kyoto"})


async def test_quit_waits_for_a_deletion_in_progress(open_engine: Engines, slow_delete: asyncio.Event):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(
            pilot,
            lambda: bool(app.controllers.deleter.pending.session_ids) and not app.controllers.deleter.pending.can_undo,
        )
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.controllers.quit.is_quitting)
        slow_delete.set()
    assert app.controllers.quit.exit_messages == ()
    assert await session_ids(await open_engine()) == {"kyoto"}


async def test_parent_of_a_deleted_fork_no_longer_folds(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(console.ui.sessions.delete, "UNDO_SECONDS", 0.01)
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


async def test_deleted_session_is_removed_from_the_database(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(console.ui.sessions.delete, "UNDO_SECONDS", 0.05)
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("d")

        async def left() -> list[str]:
            return [one.session_id for one in await app.active_session.engine.sessions.list()]

        await becomes(pilot, left, ["kyoto"])
        screen.show()
        assert listed(screen) == ["kyoto"]


async def test_quitting_completes_a_pending_deletion(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: app.controllers.deleter.pending.can_undo)
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


async def test_runs_of_a_deleted_session_are_not_listed(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(console.ui.sessions.delete, "UNDO_SECONDS", 0.05)
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        rail = app.main.rail
        await until(pilot, lambda: len(rail._shown.runs) == 3)
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await becomes(pilot, lambda: session_ids(app.active_session.engine), {"kyoto"})
        await until(pilot, lambda: len(rail._shown.runs) == 2)
        app.services.updater.refresh("rail")
        await until(pilot, lambda: not app.controllers.deleter.pending.can_undo and len(rail._shown.runs) == 2)


async def test_quitting_deletes_the_open_session_and_reports_it(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await resume_session(pilot, app, "lima")
        await open_session_browser(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: app.controllers.deleter.pending.can_undo)
        await pilot.press("ctrl+q")
    engine = await open_engine()
    assert await session_ids(engine) == {"kyoto"}
    assert await engine.runs.list(conversation_id="lima") == []
    assert app.controllers.quit.exit_messages == ("Deleted “where is the museum of gold”.",)


async def test_session_with_a_new_message_is_not_deleted(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(console.ui.sessions.delete, "UNDO_SECONDS", 600.0)
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        later, moments = app.controllers.deleter.pending._set_timer, list[Callable[[], object]]()

        def noted(seconds: float, over: Callable[[], object]) -> Any:
            moments.append(over)
            return later(seconds, over)

        monkeypatch.setattr(app.controllers.deleter.pending, "_set_timer", noted)
        open_engine.clock.advance(60)
        await pilot.press("d")
        await until(pilot, lambda: listed(screen) == ["kyoto"])
        await talked(app.active_session.engine, "lima", "wait, I need it")
        moments[0]()
        await until(pilot, lambda: any("is not deleted: it has new messages." in told for told in app.toasts))
        await until(pilot, lambda: listed(screen) == ["lima", "kyoto"])
    assert await session_ids(await open_engine()) == {"kyoto", "lima"}


async def test_search_results_of_a_deleted_session_disappear(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(console.ui.sessions.delete, "UNDO_SECONDS", 0.05)
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("slash", *"gold", "enter")
        await until(pilot, lambda: len(listed(screen)) == 3)
        await pilot.press("d")
        await sees(pilot, "No results for “gold”")

        async def left() -> set[str]:
            return await session_ids(app.active_session.engine)

        await becomes(pilot, left, {"kyoto"})
        await until(pilot, lambda: not app.controllers.deleter.pending.can_undo)
        screen.show()
        await pilot.pause()
        assert listed(screen) == []


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
