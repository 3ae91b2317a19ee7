"""What the session browser says of titles, of forks, and of what a search finds and why it finds no more."""

import asyncio
from typing import Any

import pytest

from tests.console.sessions.test_sessions_screen import TRIPS, opened
from tests.support.console.browser_data import begun, browsing
from tests.support.console.pilot import SIZES, at_both_sizes, at_the_screen, paste, sees, until
from tests.support.engines import Engines


async def test_a_fork_is_told_by_the_title_of_its_parent_also_where_it_was_searched_for(open_engine: Engines):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await app.stage.engine.sessions.rename("kyoto", "Two days")
        await app.stage.engine.sessions.fork("kyoto", title="Branch")
        screen = await opened(pilot, app)
        await pilot.press("g", "down")
        await sees(pilot, "forked from “Two days”")
        screen.desk.tree.lose(["kyoto"])
        await pilot.press("slash", *"branch", "enter")
        await until(pilot, lambda: screen.branch is not None and screen.branch.row.session.title == "Branch")
        await sees(pilot, "Found: 1 title", "forked from “Two days”")


@at_both_sizes
async def test_all_of_a_long_title_is_in_the_details_and_its_row_still_says_that_one_is_there(
    open_engine: Engines, size: tuple[int, int]
):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        await app.resume("lima")
        await opened(pilot, app)
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
        ("le", "Found: 1 title · no line has this word"),
        ("fish", "Found: 1 title · no line has a word that starts like this"),
        ("fish 100%", "Found: 1 title · no line has a word that starts like this"),
        ("needle", "Found: 1 title · 2 lines"),
    ],
)
async def test_where_only_titles_are_found_it_is_said_what_lines_need(open_engine: Engines, query: str, found: str):
    app = browsing(open_engine, ("kyoto", ("a needlework",)))
    async with at_the_screen(app, (80, 24)) as pilot:
        await begun(pilot, app)
        await app.stage.engine.sessions.rename("kyoto", "100% needlefish")
        await opened(pilot, app)
        await pilot.press("slash", *query)
        await sees(pilot, found)


@pytest.mark.parametrize(
    ("query", "needed"),
    [
        ("§", "Lines are found by words, and the query has none."),
        ("zz", "Lines are found by whole words, the last word also by its first"),
        ("works", "Lines are found by whole words, the last word also by its first"),
    ],
)
async def test_where_nothing_is_found_it_is_said_what_would_be(open_engine: Engines, query: str, needed: str):
    app = browsing(open_engine, ("kyoto", ("a needlework",)))
    async with at_the_screen(app) as pilot:
        screen = await opened(pilot, app)
        screen.search.value = query
        await sees(pilot, f"No results for “{query}”.", needed, "esc shows all sessions.")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_of_a_long_query_so_much_is_said_that_the_way_back_is_seen(open_engine: Engines, size: tuple[int, int]):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app, size) as pilot:
        screen = await opened(pilot, app)
        screen.search.value = "天气" * 400
        await sees(pilot, "No results for “天气", "…”.", "esc shows all sessions.")


async def test_a_search_that_takes_long_says_so(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = browsing(open_engine, *TRIPS)
    async with at_the_screen(app) as pilot:
        await opened(pilot, app)
        go, at_once = asyncio.Event(), app.stage.engine.search.hits

        async def slowly(*args: Any, **options: Any) -> Any:
            await go.wait()
            return await at_once(*args, **options)

        monkeypatch.setattr(app.stage.engine.search, "hits", slowly)
        await pilot.press("slash", *"gold")
        await sees(pilot, "Searching…")
        go.set()
        await sees(pilot, "Found: 1 title · 2 lines")
