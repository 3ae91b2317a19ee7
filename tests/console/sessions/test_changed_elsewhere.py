"""The session browser follows sessions that another process deletes or renames."""

from types import SimpleNamespace
from typing import Any

import pytest

import console.data.paged
import console.data.sessions
from console.ui.sessions.screen import SessionsScreen
from tests.support.console.browser_data import begun, browsing, listed, parrot
from tests.support.console.pilot import at_the_screen, sees, until
from tests.support.console.sessions_browser import TRIPS, open_session_browser
from tests.support.engines import Engines

GONE = "“where is the museum of gold” was deleted in another process."


async def skip_refresh(_: SessionsScreen) -> bool:
    """Never refresh the list."""
    return False


async def test_deleted_rows_disappear_and_new_titles_appear(open_engine: Engines):
    app, other = browsing(open_engine, *TRIPS), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await other.sessions.rename("kyoto", "Two days")
        await sees(pilot, "Two days")
        await other.sessions.delete("lima")
        await until(pilot, lambda: listed(screen) == ["kyoto"])
        await sees(pilot, "1 session ")


async def test_search_results_follow_deletes_and_renames(open_engine: Engines):
    app, other = browsing(open_engine, *TRIPS, ("oslo", ("gold in Oslo",))), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("slash", *"gold", "enter")
        await sees(pilot, "Found: 2 titles · 4 messages")
        await other.sessions.rename("oslo", "Fjords")
        await until(pilot, lambda: {hit.title for hit in screen.found.hits} >= {"Fjords"})
        await other.sessions.delete("lima")
        await until(pilot, lambda: len(listed(screen)) == 3)
        assert {hit.title for hit in screen.found.hits} == {"Fjords"}


async def test_invisible_sessions_are_reread_one_page_at_a_time(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(console.data.sessions, "PAGE_ROWS", 2)
    monkeypatch.setattr(console.data.paged, "PAGE_ROWS", 2)
    app = browsing(open_engine, *((f"s{number}", ("hello",)) for number in range(7)))
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        reader = console.data.sessions.SessionReader(app.active_session.engine)
        await reader.load_first()
        while not reader.is_complete:
            await reader.load_more()
        reads, engine = list[int](), app.active_session.engine

        async def counted(**asked: Any) -> object:
            reads.append(asked["limit"])
            return await engine.sessions.browse(**asked)

        await engine.sessions.delete("s0")
        # Its own alone: the console reads sessions from the same engine, for the rail.
        version = await engine.data_version()

        async def fixed_version() -> int:
            return version  # the clean-up after the deletion writes in the background

        alone = SimpleNamespace(data_version=fixed_version, sessions=SimpleNamespace(browse=counted))
        monkeypatch.setattr(reader, "_engine", alone)
        looks = [await reader.refresh() for _ in range(5)]
        assert (len(reader.tree), looks.count(True), max(reads), sum(reads)) == (6, 1, 2, 9)
        reads.clear()
        assert not await reader.refresh()
        assert reads == [], "nothing was written since"


@pytest.mark.parametrize("key", ["enter", "f", "s"])
async def test_command_on_a_deleted_session_says_so_and_changes_nothing(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, key: str
):
    monkeypatch.setattr(SessionsScreen, "read_changes", skip_refresh)
    app, other = browsing(open_engine, *TRIPS), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen, here = await open_session_browser(pilot, app), app.active_session.session_id
        await other.sessions.delete("lima")
        await pilot.press(key)
        await until(pilot, lambda: GONE in app.toasts)
        await until(pilot, lambda: listed(screen) == ["kyoto"])
        assert (app.screen, app.active_session.session_id) == (screen, here)


async def test_rename_of_a_deleted_session_closes_the_input_line(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(SessionsScreen, "read_changes", skip_refresh)
    app, other = browsing(open_engine, *TRIPS), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await other.sessions.delete("lima")
        await pilot.press("r")
        await until(pilot, lambda: GONE in app.toasts and not screen.ask_line.is_open)
        assert listed(screen) == ["kyoto"]


async def test_found_message_of_a_deleted_session_is_not_opened(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(SessionsScreen, "read_changes", skip_refresh)
    app, other = browsing(open_engine, *TRIPS), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        await pilot.press("slash", *"gold", "enter", "down")
        await until(pilot, lambda: screen.hit is not None)
        await other.sessions.delete("lima")
        await pilot.press("enter")
        await until(pilot, lambda: GONE in app.toasts)
        await sees(pilot, "No results for “gold”")
