"""The cursor of the stream, and what follows it: border, inspector, marks and selection."""

from typing import Any

from textual.geometry import Offset
from textual.pilot import Pilot

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.stream.timeline import Timeline
from console.ui.stream.lines import StreamLines
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, go_to, narrow, say, sees, shown, until
from tests.support.console.recorded_toasts import recording_console
from tests.support.console.regions import find_text
from tests.support.console.sample_runs import complete_runs, start_run
from tests.support.console.stream_data import Lists, PaneApp, a_run, delta, entry
from tests.support.console.stream_in_app import inspected, positions_of, run_almost_done, traveller
from tests.support.console.stream_pane import WIDE, cursors, live, notes, past, press, rows, subtitle, type_filter
from tests.support.engines import Engines

Size = tuple[int, int]


def cursor_position(app: PaneApp) -> int:
    """The entry number in the row of the cursor."""
    (row,) = [row for row in rows(app) if row.startswith("›")]
    return int(row.split()[1])


# Filters


async def test_cursor_on_a_hidden_row_moves_to_the_nearest_and_back() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "k")
        assert cursors(app) == [610]

        await type_filter(app, pilot, "kind:tool.*")
        assert (cursor_position(app), cursors(app)[-1]) == (609, 609)
        assert subtitle(app) == "kind:tool.* · 605 hidden · #610 is hidden · as of #609"

        await press(app, pilot, "X")
        assert (cursor_position(app), cursors(app)[-1]) == (610, 610)
        assert subtitle(app) == "as of #610"


async def test_cursor_moved_under_a_filter_stays_there() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "k")
        await type_filter(app, pilot, "kind:tool.*")
        await press(app, pilot, "k", "X")

        assert (cursor_position(app), cursors(app)[-1]) == (608, 608)


async def test_cursor_without_a_match_goes_to_the_first_match() -> None:
    app = live(notes(50))
    async with app.run_test(size=WIDE) as pilot:
        await press(app, pilot, "k")
        await type_filter(app, pilot, "kind:warning")
        assert rows(app) == ["  No entry matches the filter."]
        assert cursors(app) == [49]

        await app.tick([entry(51, "warning", {"message": "mind the gap"})])
        await pilot.pause()
        assert (cursor_position(app), cursors(app)[-1]) == (51, 51)


async def test_raw_deltas_keep_the_cursor_on_the_entry() -> None:
    said = [entry(1, "run.started"), *(delta(position) for position in range(2, 10)), entry(10, "warning")]
    app = past(said)
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        app.pane.go_to(5)
        await app.settle()
        await pilot.pause()
        assert (cursor_position(app), subtitle(app)) == (2, "as of #5")

        await press(app, pilot, "r")
        assert (cursor_position(app), subtitle(app)) == (5, "raw · as of #5")


async def test_time_heading_names_the_row_above_if_entries_are_hidden() -> None:
    app = past(a_run(1, 5))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        assert app.screen_text[1].split() == ["#", "+ms", "kind", "summary"]
        await type_filter(app, pilot, "kind:tool.*")
        assert app.screen_text[1].split() == ["#", "+ms", "shown", "kind", "summary"]
        await press(app, pilot, "t")

        assert app.screen_text[1].split() == ["#", "run", "kind", "summary"]


async def test_inspector_shows_the_entry_under_the_cursor(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app) as pilot:
        await run_almost_done(pilot, app)
        await until(pilot, lambda: "the last entry" in inspected(app))
        last = (await positions_of(app, "tool.call.completed"))[-1]

        await narrow(pilot, app, "kind:tool.*")
        await until(pilot, lambda: f"#{last}, the last visible entry" in inspected(app))
        await until(pilot, lambda: f"#{last}  tool.call.completed" in inspected(app))

        await pilot.press("k")
        await until(pilot, lambda: f"as of #{last - 2}" in inspected(app))
        await until(pilot, lambda: f"#{last - 2}  tool.call.started" in inspected(app))


async def test_only_the_event_tab_shows_the_last_entry(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app) as pilot:
        await run_almost_done(pilot, app)
        await until(pilot, lambda: "the last entry" in inspected(app))
        await go_to(pilot, app, "inspector")
        await pilot.press("2")

        await until(pilot, lambda: "the last entry" not in inspected(app))


# Entry numbers


async def test_typed_entry_number_is_opened() -> None:
    app = past(notes(5_000))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "colon", *"2082", "enter")

        assert (cursor_position(app), subtitle(app)) == (2082, "as of #2082")
        await press(app, pilot, "j")
        assert cursors(app)[-1] == 2083


async def test_unknown_entry_number_shows_an_error_and_can_be_corrected() -> None:
    app = past(notes(500))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "colon", *"5001", "enter")
        assert subtitle(app) == "Enter a number from 1 to 500."
        await press(app, pilot, "backspace", "enter")
        assert subtitle(app) == "as of #500"
        await press(app, pilot, "colon", "x", "7", "escape", "k")

        assert cursors(app)[-1] == 499


async def test_hidden_entry_is_chosen_when_the_filter_is_cleared() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await type_filter(app, pilot, "kind:tool.*")
        await press(app, pilot, "colon", *"407", "enter")
        assert subtitle(app) == "kind:tool.* · 605 hidden · #407 is hidden · as of #406"
        await press(app, pilot, "X")

        assert (cursor_position(app), cursors(app)[-1]) == (407, 407)


@at_both_sizes
async def test_palette_goes_to_an_entry(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(traveller(Cue())))
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "go")
        await sees(pilot, "Three times rain.")
        await pilot.press("ctrl+p", *"go to entry", "enter")
        await until(pilot, lambda: app.main.stream._entry_line.has_focus)
        await pilot.press("3", "enter")

        await until(pilot, lambda: app.services.updater.as_of == 3)
        assert app.main.where() == "stream"


# Marks


async def test_marks_are_restored_when_a_run_is_shown_again() -> None:
    app = past(notes(50))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "k", "m", "k", "k", "m", "G")
        assert subtitle(app) == "2 marks · end"

        other = PaneApp(Timeline("other", last=20), Lists(notes(20)))
        app.timeline = other.timeline
        app.pane.show(other.timeline)
        await app.settle()
        assert subtitle(app) == "end"
        await press(app, pilot, "m")
        assert subtitle(app) == "1 mark · end"

        app.timeline = Timeline("run", last=50)
        app.pane.show(app.timeline)
        await app.settle()
        await pilot.pause()
        assert subtitle(app) == "2 marks · end"
        await press(app, pilot, "apostrophe")
        assert cursors(app)[-1] == 47


async def test_marks_survive_showing_another_run(open_engine: Engines):
    cue = Cue()
    app = recording_console(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await complete_runs(pilot, app, cue, "first", "second")
        await go_to(pilot, app, "stream")
        await pilot.press("m")
        await sees(pilot, "1 mark")
        first, second = app.services.updater.conversation.run_ids
        await app.services.updater.open_run(first)
        await until(pilot, lambda: "1 mark" not in shown(app))
        await app.services.updater.open_run(second)
        await sees(pilot, "1 mark")


# The mouse


async def drag(pilot: Pilot[Any], start: Offset, columns: int) -> None:
    await pilot.mouse_down(offset=start)
    await pilot.hover(offset=start + Offset(columns, 0))
    await pilot.mouse_up(offset=start + Offset(columns, 0))


async def test_selected_rows_are_copied_and_stay_in_place(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        start = await find_text(pilot, app, "message.completed", app.main.stream)
        await drag(pilot, start, len("message.completed"))
        await until(pilot, lambda: bool(app.main.selections))
        assert app.services.updater.as_of is None
        assert not app.main.stream._view.follow.is_tail  # type: ignore[union-attr]

        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.clipboard.startswith("message.complete"))
        await pilot.press("escape")
        await until(pilot, lambda: not app.main.selections)


async def test_double_click_opens_the_inspector_and_selects_nothing(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        lines = app.main.stream.query_one(StreamLines)
        start = await find_text(pilot, app, "run.started", lines)
        await pilot.click(lines, offset=start - lines.region.offset, times=2)
        await until(pilot, lambda: app.main.where() == "inspector")
        assert app.services.updater.as_of == 1
        assert not app.main.selections


# Lines at the bottom


async def test_footer_shows_the_keys_of_the_open_line(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        await go_to(pilot, app, "stream")
        await sees(pilot, "enter inspect")
        await pilot.press("slash")
        await sees(pilot, "enter apply  esc cancel")
        assert "/ filter" not in shown(app)
        await pilot.click(offset=await find_text(pilot, app, "esc cancel", app.main.footer))
        await sees(pilot, "enter inspect")

        await pilot.press("y")
        await sees(pilot, "esc close")
        await pilot.press("escape")
        await sees(pilot, "enter inspect")
