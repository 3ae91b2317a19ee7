"""Sessions that another process deletes or renames while they are listed here."""

from types import SimpleNamespace
from typing import Any

import pytest

import console.data.paged
import console.data.sessions
from console.ui.sessions.screen import SessionsScreen
from tests.console.sessions.test_sessions_screen import TRIPS, opened
from tests.support.console.browser_data import begun, browsing, listed, parrot
from tests.support.console.pilot import at_the_screen, sees, until
from tests.support.engines import Engines

GONE = "“where is the museum of gold” was deleted in another process"


async def unaware(_: SessionsScreen) -> bool:
    """Nobody looks around."""
    return False


async def test_rows_that_are_gone_go_and_new_titles_come(open_engine: Engines):
    app, other = browsing(open_engine, *TRIPS), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await other.sessions.rename("kyoto", "Two days")
        await sees(pilot, "Two days")
        await other.sessions.delete("lima")
        await until(pilot, lambda: listed(screen) == ["kyoto"])
        await sees(pilot, "1 session ")


async def test_what_was_found_in_them_goes_and_is_renamed_with_them(open_engine: Engines):
    app, other = browsing(open_engine, *TRIPS, ("oslo", ("gold in Oslo",))), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await pilot.press("slash", *"gold", "enter")
        await sees(pilot, "Found: 2 titles · 4 lines")
        await other.sessions.rename("oslo", "Fjords")
        await until(pilot, lambda: {hit.title for hit in screen.found.hits} >= {"Fjords"})
        await other.sessions.delete("lima")
        await until(pilot, lambda: len(listed(screen)) == 3)
        assert {hit.title for hit in screen.found.hits} == {"Fjords"}


async def test_those_that_are_not_seen_are_read_again_a_page_at_a_time(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(console.data.sessions, "PAGE_ROWS", 2)
    monkeypatch.setattr(console.data.paged, "PAGE_ROWS", 2)
    app = browsing(open_engine, *((f"s{number}", ("hello",)) for number in range(7)))
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        desk = console.data.sessions.SessionReader(app.stage.engine)
        await desk.load_first()
        while not desk.is_complete:
            await desk.load_more()
        reads, engine = list[int](), app.stage.engine

        async def counted(**asked: Any) -> object:
            reads.append(asked["limit"])
            return await engine.sessions.browse(**asked)

        await engine.sessions.delete("s0")
        # Its own alone: the console reads sessions from the same engine, for the rail.
        alone = SimpleNamespace(data_version=engine.data_version, sessions=SimpleNamespace(browse=counted))
        monkeypatch.setattr(desk, "_engine", alone)
        looks = [await desk.refresh() for _ in range(5)]
        assert (len(desk.tree), looks.count(True), max(reads), sum(reads)) == (6, 1, 2, 9)
        reads.clear()
        assert not await desk.refresh()
        assert reads == [], "nothing was written since"


@pytest.mark.parametrize("key", ["enter", "f", "s"])
async def test_who_wants_one_that_is_gone_is_told_so_and_stays(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch, key: str
):
    monkeypatch.setattr(SessionsScreen, "read_changes", unaware)
    app, other = browsing(open_engine, *TRIPS), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen, here = await opened(pilot, app), app.stage.session
        await other.sessions.delete("lima")
        await pilot.press(key)
        await until(pilot, lambda: GONE in app.told)
        await until(pilot, lambda: listed(screen) == ["kyoto"])
        assert (app.screen, app.stage.session) == (screen, here)


async def test_a_title_is_asked_for_no_longer_where_the_session_is_gone(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(SessionsScreen, "read_changes", unaware)
    app, other = browsing(open_engine, *TRIPS), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await other.sessions.delete("lima")
        await pilot.press("r")
        await until(pilot, lambda: GONE in app.told and not screen.ask_line.is_open)
        assert listed(screen) == ["kyoto"]


async def test_a_line_of_one_that_is_gone_is_not_opened(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(SessionsScreen, "read_changes", unaware)
    app, other = browsing(open_engine, *TRIPS), await open_engine(parrot)
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        await pilot.press("slash", *"gold", "enter", "down")
        await until(pilot, lambda: screen.hit is not None)
        await other.sessions.delete("lima")
        await pilot.press("enter")
        await until(pilot, lambda: GONE in app.told)
        await sees(pilot, "No results for “gold”")
