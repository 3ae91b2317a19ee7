"""Texts of the session browser: titles, forks, and search results with the reason for missing ones."""

import asyncio
from typing import Any

import pytest

from tests.support.console.browser_data import begun, browsing
from tests.support.console.pilot import SIZES, at_both_sizes, at_the_screen, paste, sees, until
from tests.support.console.sessions_browser import TRIPS, open_session_browser
from tests.support.engines import Engines


async def test_details_of_a_fork_show_the_title_of_its_parent(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.active_session.engine.sessions.rename("kyoto", "Two days")
        await app.active_session.engine.sessions.fork("kyoto", title="Branch")
        screen = await open_session_browser(pilot, app)
        await pilot.press("g", "down")
        await sees(pilot, "forked from “Two days”")
        screen.reader.tree.remove(["kyoto"])
        await pilot.press("slash", *"branch", "enter")
        await until(pilot, lambda: screen.node is not None and screen.node.row.session.title == "Branch")
        await sees(pilot, "Found: 1 title", "forked from “Two days”")


async def test_details_show_the_size_of_a_session(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        size = (await app.active_session.engine.sessions.sizes(["lima"]))["lima"]
        await pilot.press("g")
        await sees(pilot, f"1 event · 2 messages · {size.total_bytes / 1024:.1f} KiB on disk")


@at_both_sizes
async def test_long_title_is_cut_in_its_row_and_complete_in_the_details(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await app.controllers.sessions.resume("lima")
        await open_session_browser(pilot, app)
        await pilot.press("r")
        await paste(pilot, "gold " * 80 + "END")
        await pilot.press("enter")
        await sees(pilot, "gold gold", "◉ you are here")
        await pilot.press("tab")
        await sees(pilot, "gold END")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("%", "Found: 1 title · the query has no word"),
        ("le", "Found: 1 title · no message has this word"),
        ("fish", "Found: 1 title · no messages"),
        ("fish 100%", "Found: 1 title · no messages"),
        ("needle", "Found: 1 title · 2 messages"),
    ],
)
async def test_search_that_finds_only_titles_says_why_no_lines_match(open_engine: Engines, query: str, found: str):
    app = browsing(open_engine, ("kyoto", ("a needlework",)))
    async with at_the_screen(app, (80, 24)) as pilot:
        await begun(pilot, app)
        await app.active_session.engine.sessions.rename("kyoto", "100% needlefish")
        await open_session_browser(pilot, app)
        await pilot.press("slash", *query)
        await sees(pilot, found)


@pytest.mark.parametrize(
    ("query", "needed"),
    [
        ("§", "Messages are found by words, and the query has none."),
        ("zz", "Messages are found by whole words, or by three or more letters."),
    ],
)
async def test_search_without_results_says_how_lines_are_found(open_engine: Engines, query: str, needed: str):
    app = browsing(open_engine, ("kyoto", ("a needlework",)))
    async with at_the_screen(app) as pilot:
        screen = await open_session_browser(pilot, app)
        screen.search.value = query
        await sees(pilot, f"No results for “{query}”.", needed, "esc shows all sessions.")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_long_query_leaves_room_for_the_hint_to_go_back(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        screen = await open_session_browser(pilot, app)
        screen.search.value = "天气" * 400
        await sees(pilot, "No results for “天气", "…”.", "esc shows all sessions.")


async def test_slow_search_shows_a_notice(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await open_session_browser(pilot, app)
        go, at_once = asyncio.Event(), app.active_session.engine.search.hits

        async def slowly(*args: Any, **options: Any) -> Any:
            await go.wait()
            return await at_once(*args, **options)

        monkeypatch.setattr(app.active_session.engine.search, "hits", slowly)
        await pilot.press("slash", *"gold")
        await sees(pilot, "Searching…")
        go.set()
        await sees(pilot, "Found: 1 title · 2 messages")
