"""The stream in the app: filters, entries in the inspector, and the session as of an entry."""

import asyncio
import json
from typing import Any

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from engine.api.runs import RunsApi
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, go_to, narrow, say, sees, shown, until
from tests.support.console.stream_in_app import inspected, positions_of, run_almost_done, traveller
from tests.support.engines import Engines, delta, done

Size = tuple[int, int]


async def entry_count(app: Trackside) -> int:
    """The number of entries; all of them fit on the screen."""
    view = app.services.updater.view
    assert view is not None
    return await app.active_session.engine.runs.last_position(view.run_id)


def row_kinds(app: Trackside) -> list[str]:
    """The kinds in the rows of the stream, from the top."""
    look = app.main.stream._view
    return [] if look is None else [row.span.kind for row in look.page().rows]


@at_both_sizes
async def test_typed_filter_shows_how_much_it_hides(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app, size) as pilot:
        await run_almost_done(pilot, app)
        total = await entry_count(app)
        states = await positions_of(app, "state.updated")

        await narrow(pilot, app, "kind:state.*")
        await sees(pilot, f"kind:state.* · {total - len(states)} hidden")
        assert row_kinds(app) == ["state.updated"] * 3

        await narrow(pilot, app, " Lisbon")
        await sees(pilot, f"kind:state.* Lisbon · {total - 1} hidden")
        assert row_kinds(app) == ["state.updated"]

        await pilot.press("X")
        await until(pilot, lambda: len(row_kinds(app)) == total)
        assert "hidden" not in shown(app)


@at_both_sizes
async def test_invalid_filter_shows_the_reason_and_stays_open(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app, size) as pilot:
        await run_almost_done(pilot, app)
        await pilot.press("slash", *"turn:last", "enter")
        await sees(pilot, "turn:last is not a turn")
        await pilot.press(*["backspace"] * 4, "1", "enter")
        await sees(pilot, "turn:1 · ")


@at_both_sizes
async def test_only_hide_and_clear_change_the_filter(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app, size) as pilot:
        await run_almost_done(pilot, app)
        total = await entry_count(app)
        await pilot.press("g", "x")
        await until(pilot, lambda: "run.started" not in row_kinds(app))
        assert len(row_kinds(app)) == total - 1
        await pilot.press("o")
        await until(pilot, lambda: len(set(row_kinds(app))) == 1)
        await pilot.press("X")
        await until(pilot, lambda: len(row_kinds(app)) == total)


@at_both_sizes
async def test_matches_are_visited_among_all_entries_after_the_filter_is_cleared(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app, size) as pilot:
        await run_almost_done(pilot, app)
        first, second, third = await positions_of(app, "state.updated")
        await narrow(pilot, app, "kind:state.updated")
        await pilot.press("X", "g", "n")
        await until(pilot, lambda: app.services.updater.as_of == first)
        await pilot.press("n")
        await until(pilot, lambda: app.services.updater.as_of == second)
        await pilot.press("n", "N")
        await until(pilot, lambda: app.services.updater.as_of == second)
        await pilot.press("n")
        await until(pilot, lambda: app.services.updater.as_of == third)


@at_both_sizes
async def test_enter_opens_an_entry_that_can_be_folded_and_copied(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app, size) as pilot:
        await run_almost_done(pilot, app)
        _, second, _ = await positions_of(app, "state.updated")
        await narrow(pilot, app, "kind:state.updated")
        await pilot.press("g", "j", "enter")
        await sees(pilot, f"#{second}", "Data", '"Ryokan"')
        assert (app.main.where(), app.main.inspector.tab) == ("inspector", "event")

        await pilot.press("slash", *"Kyoto", "enter", "y")
        await until(pilot, lambda: app.clipboard == '"Kyoto"')
        await pilot.press("Y")
        await until(pilot, lambda: app.clipboard.endswith("value.city"))
        await pilot.press("k", "space")
        await until(pilot, lambda: "▸ value" in inspected(app))
        await pilot.press("space")
        await until(pilot, lambda: "▾ value" in inspected(app))


@at_both_sizes
async def test_entry_and_payload_are_copied_by_one_letter(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app, size) as pilot:
        await run_almost_done(pilot, app)
        await narrow(pilot, app, "Lisbon")
        await pilot.press("g", "y", "p")
        await until(pilot, lambda: "Lisbon" in app.clipboard)
        assert json.loads(app.clipboard)["value"]["city"] == "Lisbon"
        await pilot.press("y", "e")
        await until(pilot, lambda: '"state.updated"' in app.clipboard)
        (position,) = [
            p for p in await positions_of(app, "state.updated") if p == json.loads(app.clipboard)["position"]
        ]
        assert app.services.updater.as_of == position


async def test_long_search_shows_progress_and_finds_matches(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    async def talks(ctx: Any):
        for number in range(40_000):
            yield delta("needle " if number in (7, 39_000) else "hay ")
        yield done()

    may_search, find = asyncio.Event(), RunsApi.find_text

    async def find_in_a_while(runs: RunsApi, run_id: str, text: str, *, first: int, last: int) -> list[int]:
        await may_search.wait()
        return await find(runs, run_id, text, first=first, last=last)

    monkeypatch.setattr(RunsApi, "find_text", find_in_a_while)
    app = Trackside(LaunchOptions(), lambda: open_engine(talks))
    async with at_the_screen(app) as pilot:
        await say(pilot, "go")
        await sees(pilot, "completed")
        await go_to(pilot, app, "stream")
        await pilot.press("slash", *"needle", "enter")
        await sees(pilot, "searching… 0%")
        may_search.set()
        await until(pilot, lambda: "searching" not in shown(app))
        await pilot.press("g")
        await until(pilot, lambda: app.services.updater.as_of == 9)
        await pilot.press("n")
        await until(pilot, lambda: app.services.updater.as_of == 39_002)
        last = await app.active_session.engine.runs.last_position(
            (await app.active_session.engine.runs.list())[0].run_id
        )
        await sees(pilot, f"{last - 2:,} hidden")


@at_both_sizes
async def test_moving_in_the_stream_shows_the_state_as_of_the_entry(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app, size) as pilot:
        await run_almost_done(pilot, app)
        first, second, _ = await positions_of(app, "state.updated")
        await narrow(pilot, app, "kind:state.updated")
        await pilot.press("g", "enter", "2")
        await sees(pilot, f"as of #{first}")
        await until(pilot, lambda: '"Kyoto"' in inspected(app) and "Ryokan" not in inspected(app))

        await go_to(pilot, app, "stream")
        await pilot.press("j")
        await go_to(pilot, app, "inspector")
        await sees(pilot, f"as of #{second}")
        await until(pilot, lambda: "Ryokan" in inspected(app) and "Lisbon" not in inspected(app))
        assert f"#{second}" in inspected(app)

        await go_to(pilot, app, "stream")
        await pilot.press("j")
        await go_to(pilot, app, "inspector")
        await until(pilot, lambda: "Lisbon" in inspected(app) and "Kyoto" in inspected(app))

        await pilot.press("escape", "escape", "escape")
        await until(pilot, lambda: app.services.updater.as_of is None)
        await until(pilot, lambda: "as of" not in shown(app))


@at_both_sizes
async def test_brackets_move_by_turns_and_escape_follows_the_end(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app, size) as pilot:
        await run_almost_done(pilot, app)
        view = app.services.updater.view
        assert view is not None
        entries = [entry async for entry in app.active_session.engine.runs.entries(view.run_id)]
        starts = [next(e.position for e in entries if e.turn == turn) for turn in (1, 2, 3)]
        await pilot.press("g")
        await until(pilot, lambda: app.services.updater.as_of == starts[0])
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: app.services.updater.as_of == starts[1])
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: app.services.updater.as_of == starts[2])
        await sees(pilot, f"as of #{starts[2]}")
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app.services.updater.as_of == starts[1])
        await pilot.press("escape")
        await until(pilot, lambda: app.services.updater.as_of is None)
        await until(pilot, lambda: "as of" not in shown(app))
