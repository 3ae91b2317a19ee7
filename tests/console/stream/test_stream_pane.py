"""The stream pane alone, used with keys and mouse."""

from typing import Any

import pytest
from textual.events import MouseScrollDown, MouseScrollUp

from console.model.preferences.color_themes import LIGHT
from console.model.stream.index import CHUNK_ENTRIES
from console.model.stream.timeline import Timeline
from console.ui.stream.lines import StreamLines
from console.ui.stream.pane import StreamPane
from tests.support.console.pilot import until
from tests.support.console.stream_data import a_run, delta, entry
from tests.support.console.stream_pane import (
    WIDE,
    column,
    cursors,
    live,
    notes,
    past,
    press,
    rows,
    subtitle,
    type_filter,
)
from tests.support.console.unsafe_screen_texts import HOSTILE_TEXTS

pytestmark = pytest.mark.usefixtures("every_frame")

# Following


async def test_live_run_is_followed() -> None:
    app = live(notes(50))
    async with app.run_test(size=WIDE) as pilot:
        await app.tick(notes(30, 51))
        await pilot.pause()

        assert column(app, "#")[-1] == "80"
        assert subtitle(app) == "follow ●"


async def test_moving_up_pins_the_cursor_and_counts_new_entries() -> None:
    app = live(notes(50))
    async with app.run_test(size=WIDE) as pilot:
        await press(app, pilot, "k", "k")
        shown = column(app, "#")
        await app.tick(notes(214, 51))
        await pilot.pause()

        assert cursors(app) == [49, 48]
        assert subtitle(app) == "▼ 214 new · as of #48"
        assert column(app, "#") == shown
        assert next(row for row in rows(app) if row.startswith("›")).split()[1] == "48"


@pytest.mark.parametrize("keys", [("G",), ("end",), ("j", "j", "j")])
async def test_end_key_follows_again(keys: tuple[str, ...]) -> None:
    app = live(notes(50))
    async with app.run_test(size=WIDE) as pilot:
        await press(app, pilot, "k", "k", *keys)

        assert cursors(app)[-1] is None
        assert subtitle(app) == "follow ●"


async def test_wheel_stops_following_until_it_is_near_the_end() -> None:
    app = live(notes(100))
    async with app.run_test(size=WIDE) as pilot:
        lines = app.query_one(StreamLines)
        lines.post_message(_wheel(MouseScrollUp, lines))
        await pilot.pause()
        assert subtitle(app) == "▼ · end"
        await app.tick(notes(7, 101))
        await pilot.pause()
        assert column(app, "#")[-1] == "97"
        assert subtitle(app) == "▼ 7 new · end"
        for _ in range(4):
            lines.post_message(_wheel(MouseScrollDown, lines))
            await pilot.pause()

        assert cursors(app) == []
        assert subtitle(app) == "follow ●"
        assert column(app, "#")[-1] == "107"


async def test_click_puts_the_cursor_on_a_row() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await pilot.click(StreamLines, offset=(10, 3))
        await pilot.pause()

        assert cursors(app) == [202]
        assert rows(app)[2].startswith("›")


async def test_pages_home_and_end() -> None:
    app = past(notes(500))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        height = app.query_one(StreamLines).rows
        await press(app, pilot, "pageup")
        assert cursors(app)[-1] == 500 - height
        await press(app, pilot, "ctrl+u")
        assert cursors(app)[-1] == 500 - height - height // 2
        await press(app, pilot, "ctrl+d", "pagedown")
        assert cursors(app)[-1] == 500
        await press(app, pilot, "g")
        assert cursors(app)[-1] == 1
        assert column(app, "#")[0] == "1"


# Long runs


async def test_first_and_last_row_of_a_long_run_are_one_read_away() -> None:
    entries = notes(20 * CHUNK_ENTRIES)
    app = past(entries)
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        assert column(app, "#")[-1] == str(len(entries))
        await press(app, pilot, "g")
        assert column(app, "#")[0] == "1"
        await press(app, pilot, "G")
        assert column(app, "#")[-1] == str(len(entries))

        assert app.journals.heads_read <= 4 * CHUNK_ENTRIES


async def test_page_that_is_being_read_shows_a_note() -> None:
    app = past(notes(5_000))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()

        assert rows(app) == ["  Reading…"]


async def test_run_without_entries_shows_a_note() -> None:
    app = live([])
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await pilot.pause()

        assert rows(app) == ["  No entries yet."]


async def test_only_the_changed_line_is_drawn_for_deltas() -> None:
    app = live(notes(5))
    async with app.run_test(size=WIDE) as pilot:
        await app.tick([delta(6)])
        await pilot.pause()
        lines = app.query_one(StreamLines)
        painted: list[int] = []
        render = lines.render_line
        lines.render_line = lambda y: painted.append(y) or render(y)  # type: ignore[method-assign]
        await app.tick([delta(7), delta(8)])
        await pilot.pause()

        assert set(painted) == {6}
        assert "message.delta ×3" in rows(app)[-1]


# Filters


async def test_typed_filter_is_shown_in_the_border_and_cleared() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await type_filter(app, pilot, "kind:tool.* turn:2")
        assert column(app, "#") == ["405", "406"]
        assert subtitle(app) == "kind:tool.* turn:2 · 609 hidden · end"
        await press(app, pilot, "X")
        assert len(rows(app)) == 14
        assert subtitle(app) == "end"

        assert [event.text for event in app.posted if isinstance(event, StreamPane.Filter)] == [
            "kind:tool.* turn:2",
            "",
        ]


async def test_invalid_filter_shows_an_error_and_can_be_corrected() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await type_filter(app, pilot, "turn:x")
        assert subtitle(app) == "turn:x is not a turn. Write turn:3."
        assert len(rows(app)) > 10
        await pilot.press("backspace", "2", "enter")
        await app.settle()
        await pilot.pause()

        assert len(rows(app)) == 4


async def test_closing_the_filter_line_changes_nothing() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "slash", "e", "r", "r", "escape", "k")

        assert subtitle(app) == "as of #610"


async def test_only_this_kind_and_hide_this_kind() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "k", "o")
        assert column(app, "#") == ["204", "407", "610"]
        await press(app, pilot, "X", "x")
        assert not any("state.updated" in row for row in rows(app))
        await press(app, pilot, "G", "x")
        assert "611" not in column(app, "#")

        assert subtitle(app).startswith("!kind:state.updated !kind:run.finished · 4 hidden")


async def test_matches_are_visited_after_the_filter_is_cleared() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await type_filter(app, pilot, "kind:state")
        await press(app, pilot, "X", "N", "N")
        assert cursors(app)[-1] == 407
        await press(app, pilot, "n")

        assert cursors(app)[-1] == 610
        assert len(rows(app)) == 14


async def test_escape_closes_the_line_then_the_filter_then_the_pin() -> None:
    app = live(notes(50))
    async with app.run_test(size=WIDE) as pilot:
        await press(app, pilot, "k")
        await type_filter(app, pilot, "n4")
        await press(app, pilot, "y")
        assert (app.pane.close_line(), app.pane.close_line()) == (True, False)
        assert (app.pane.clear_filter(), app.pane.clear_filter()) == (True, False)
        assert subtitle(app) == "as of #49"
        assert (app.pane.go_live(), app.pane.go_live()) == (True, False)

        assert subtitle(app) == "follow ●"


async def test_filter_without_matches_shows_a_note() -> None:
    app = past(a_run(1))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await type_filter(app, pilot, "xyzzy")

        assert rows(app) == ["  No entry matches the filter."]


async def test_another_run_is_shown_with_the_same_filter() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await type_filter(app, pilot, "kind:state")
        app.timeline = Timeline("run", last=611)
        app.pane.show(app.timeline)
        await app.settle()
        await pilot.pause()

        assert column(app, "#") == ["204", "407", "610"]


# Turns, marks, rows


async def test_brackets_move_by_turns() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        visited = []
        for key in ("left_square_bracket",) * 4 + ("right_square_bracket",) * 3:
            await press(app, pilot, key)
            row = next(row for row in rows(app) if row.startswith("›"))
            visited.append(int(row.split()[1]))

        assert visited == [408, 205, 1, 1, 205, 408, 611]
        assert cursors(app)[-1] is None


async def test_marks_are_set_visited_in_a_ring_and_removed() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "k", "m", "g", "j", "j", "m", "G")
        assert subtitle(app) == "2 marks · end"
        await press(app, pilot, "apostrophe")
        assert cursors(app)[-1] == 202
        await press(app, pilot, "apostrophe", "m")

        assert cursors(app)[-1] == 610
        assert subtitle(app) == "1 mark · as of #610"
        assert [row[0] for row in rows(app)].count("◆") == 1


async def test_raw_deltas_have_their_own_rows() -> None:
    app = past(a_run(1, 5))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "r")
        assert [row.split()[-1] for row in rows(app)[1:6]] == ["word0", "word1", "word2", "word3", "word4"]
        await press(app, pilot, "r")

        assert "message.delta ×5" in rows(app)[1]


async def test_time_modes_are_steps_run_time_and_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    app = past(a_run(1, 5))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await pilot.pause()
        assert column(app, "time")[1:3] == ["1.0", "1.0"]
        await press(app, pilot, "t")
        assert column(app, "time")[1:3] == ["00:00.001", "00:00.006"]
        await press(app, pilot, "t")
        assert all(time.count(":") == 2 for time in column(app, "time"))
        await press(app, pilot, "t")

        assert column(app, "time")[1] == "1.0"


@pytest.mark.parametrize(
    ("letter", "what"), [("e", "event"), ("p", "payload"), ("t", "text"), ("i", "id"), ("r", "reproduce")]
)
async def test_copy_menu_copies_one_part(letter: str, what: str) -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "k", "y")
        assert "e entry JSON  p payload  t text  i id  r command line" in app.screen_text[-2]
        await press(app, pilot, letter)

        assert app.posted[-1] == StreamPane.Copy(what, 610)
        assert "payload" not in app.screen_text[-2]
        await press(app, pilot, "k")
        assert cursors(app)[-1] == 609


@pytest.mark.parametrize("key", ["escape", "j", "slash"])
async def test_other_keys_close_the_copy_menu(key: str) -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "k", "k", "y", key)

        assert "payload" not in "".join(app.screen_text)
        assert cursors(app) == [610, 609]
        assert app.focused is app.query_one(StreamLines)


async def test_copy_menu_takes_a_click() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "y")
        await pilot.click(offset=(app.screen_text[-2].index("payload") + 1, WIDE[1] - 2))
        await pilot.pause()

        assert app.posted[-1] == StreamPane.Copy("payload", 611)


async def test_inspect_and_breakpoint_act_on_the_current_row() -> None:
    app = past(a_run(3))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "k", "enter", "b")

        assert app.posted[-2:] == [StreamPane.Inspect(610), StreamPane.ToggleBreakpoint("state.updated", 610)]


async def test_entry_can_be_opened_before_it_is_read() -> None:
    app = past(notes(5 * CHUNK_ENTRIES))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        app.pane.go_to(7)
        await app.settle()
        await pilot.pause()

        assert cursors(app) == [7]
        assert "7" in column(app, "#")


# Sizes, themes, hostile text


@pytest.mark.parametrize("width", [40, 60, 80, 160])
async def test_rows_fill_any_width_exactly(width: int) -> None:
    app = past(a_run(3))
    async with app.run_test(size=(width, 24)) as pilot:
        await app.settle()
        await pilot.pause()
        lines = app.query_one(StreamLines)

        assert {strip.cell_length for strip in lines._lines} == {lines.size.width}
        assert any("weather sun" in row for row in rows(app))


async def test_many_resizes_end_with_the_last_size() -> None:
    app = live(notes(100))
    async with app.run_test(size=WIDE) as pilot:
        await press(app, pilot, "k")
        for size in ((30, 5), (160, 45), (60, 15), (41, 7), WIDE):
            await pilot.resize_terminal(*size)
            await app.tick(notes(3, app.timeline.last + 1))
        await app.settle()

        await until(pilot, lambda: len(rows(app)) == WIDE[1] - 3)
        assert "99" in column(app, "#")
        assert subtitle(app) == "▼ 15 new · as of #99"


async def test_new_theme_is_drawn_at_once() -> None:
    app = past(a_run(1, 5))
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await pilot.pause()
        before = app.query_one(StreamLines).render_line(3)
        app.theme = LIGHT.name
        await pilot.pause()
        after = app.query_one(StreamLines).render_line(3)

        assert after.text == before.text
        assert after != before


async def test_ascii_mode_replaces_every_glyph_of_the_stream() -> None:
    app = past(a_run(3), is_ascii=True)
    async with app.run_test(size=WIDE) as pilot:
        await app.settle()
        await press(app, pilot, "k")

        assert "".join(rows(app)).isascii()
        assert rows(app)[-2].startswith(">")
        assert "+ completed" in rows(app)[-1]


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_hostile_text_is_shown_as_text(size: tuple[int, int]) -> None:
    entries = [
        entry(position, "output", {"stream": "out", "text": text}) for position, text in enumerate(HOSTILE_TEXTS, 1)
    ]
    entries += [entry(len(entries) + number, text[:90], {"a": text}) for number, text in enumerate(HOSTILE_TEXTS, 1)]
    app = live(entries)
    async with app.run_test(size=size) as pilot:
        for _ in entries:
            await press(app, pilot, "k")
        for text in ("[/x]", '"[bold"'):
            app.pane.set_filter(text)
            await app.settle()
            await pilot.pause()
            assert text in subtitle(app)
        await press(app, pilot, "X", "g", "o", "y")

        screen = "".join(app.screen_text)
        assert "\x1b" not in screen
        screen.encode()


def _wheel(kind: type[Any], lines: StreamLines) -> Any:
    return kind(lines, 5, 5, 0, 0, 0, False, False, False)
