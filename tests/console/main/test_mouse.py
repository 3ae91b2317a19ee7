"""The mouse on the main screen: clicks, the wheel and selected text."""

from typing import Any

import pytest
from textual import events
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widget import Widget

from console.app import Trackside
from tests.support.console.pilot import NARROW, SIZES, Cue, at_the_screen, say, sees, shown, until
from tests.support.console.recorded_toasts import recording_console
from tests.support.console.regions import find_text
from tests.support.console.sample_runs import complete_runs, start_run
from tests.support.engines import Engines


async def click(pilot: Pilot[Any], offset: Offset, times: int = 1) -> None:
    await pilot.click(offset=offset, times=times)


async def wheel(pilot: Pilot[Any], app: Trackside, pane: Widget, *, down: bool = False) -> None:
    """Turn the wheel by one notch over the middle of a pane."""
    x, y = pane.region.center
    kind = events.MouseScrollDown if down else events.MouseScrollUp
    step = 1 if down else -1
    app.screen._forward_event(kind(None, int(x), int(y), 0, step, 0, False, False, False, int(x), int(y)))
    await pilot.pause()


# Rows of the stream


async def test_click_selects_a_row_of_the_stream_and_a_second_click_inspects_it(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    app = recording_console(open_engine)
    monkeypatch.setattr(app, "CLICK_CHAIN_TIME_THRESHOLD", 0)  # two clicks are never a double click
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        row = await find_text(pilot, app, "run.started", app.main.stream)
        await click(pilot, row)
        await until(pilot, lambda: app.services.updater.as_of == 1)
        assert app.main.where() == "stream"
        await click(pilot, row)
        await until(pilot, lambda: app.main.where() == "inspector")
        assert app.main.inspector.tab == "event"


async def test_double_click_inspects_a_row_of_the_stream(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        await click(pilot, await find_text(pilot, app, "run.started", app.main.stream), times=2)
        await until(pilot, lambda: app.main.where() == "inspector")
        assert app.services.updater.as_of == 1


# The wheel


async def test_wheel_scrolls_the_conversation_and_the_stream(open_engine: Engines):
    cue = Cue()
    app = recording_console(open_engine, cue)
    async with at_the_screen(app, (160, 22)) as pilot:
        await complete_runs(pilot, app, cue, "one", "two", "three")
        main = app.main
        await wheel(pilot, app, main.conversation)
        await until(pilot, lambda: not main.conversation.follow.is_tail)
        await wheel(pilot, app, main.stream)
        view = main.stream._view
        assert view is not None
        await until(pilot, lambda: not view.follow.is_tail)


async def test_wheel_scrolls_the_inspector(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, (160, 22)) as pilot:
        await start_run(pilot)
        pane = app.main.inspector
        pane.choose("context")
        await until(pilot, lambda: pane.why_not("copy") is None)
        assert pane._list.view is not None
        view = pane._list.view
        await wheel(pilot, app, pane._list, down=True)
        await until(pilot, lambda: view.top > 0)


async def test_wheel_scrolls_the_runs_list(open_engine: Engines):
    cue = Cue()
    app = recording_console(open_engine, cue)
    async with at_the_screen(app, (160, 9)) as pilot:
        await complete_runs(pilot, app, cue, "one", "two", "three")
        await until(pilot, lambda: app.main.rail.row_count > app.main.rail.size.height)
        await wheel(pilot, app, app.main.rail, down=True)
        await until(pilot, lambda: app.main.rail.visible_rows.start > 0)


async def test_wheel_scrolls_the_queue_and_the_help(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await start_run(pilot)
        for text in ("a", "b", "c", "d"):
            await say(pilot, text)
        await sees(pilot, "4 queued")
        queue = app.main.queue
        top = queue.view.top
        await wheel(pilot, app, queue, down=top == 0)
        await until(pilot, lambda: queue.view.top != top)
        await pilot.press("f1")
        await sees(pilot, "Help")
        box = app.screen.query_one("VerticalScroll")
        await until(pilot, lambda: box.max_scroll_y > 0)
        await wheel(pilot, app, box, down=True)
        await until(pilot, lambda: box.scroll_y > 0)


async def test_wheel_scrolls_a_long_prompt(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        app.main.prompt.load("\n".join(f"line {number}" for number in range(40)))
        await until(pilot, lambda: app.main.prompt.scroll_y > 0)
        before = app.main.prompt.scroll_y
        for _ in range(2):  # Textual uses the first notch for its scroll position from before the prompt grew
            await wheel(pilot, app, app.main.prompt)
        await until(pilot, lambda: app.main.prompt.scroll_y < before)


# Runs, the queue, tabs


async def test_click_on_a_run_opens_it(open_engine: Engines):
    cue = Cue()
    app = recording_console(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await complete_runs(pilot, app, cue, "one", "two")
        await until(pilot, lambda: app.main.rail.row_count >= 3)
        last = app.services.updater.view
        await click(pilot, await find_text(pilot, app, "one", app.main.rail))
        await until(pilot, lambda: app.services.updater.view is not None and app.services.updater.view is not last)
        assert app.main.where() == "prompt"


async def test_click_on_a_session_opens_it(open_engine: Engines):
    cue = Cue()
    app = recording_console(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await complete_runs(pilot, app, cue, "one")
        first = app.active_session.session_id
        await app.action_perform("app.new_session")
        await complete_runs(pilot, app, cue, "two")
        await until(pilot, lambda: app.main.rail.row_count >= 5)
        assert app.active_session.session_id != first
        rail = app.main.rail
        place = rail.source.place_of(f"session {first}")
        assert place is not None
        await click(pilot, Offset(rail.content_region.x + 3, rail.content_region.y + place))
        await until(pilot, lambda: app.active_session.session_id == first)


async def test_click_selects_a_queued_message_and_a_double_click_edits_it(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        await say(pilot, "first thing")
        await say(pilot, "second thing")
        await sees(pilot, "2 queued")
        await find_text(pilot, app, "second thing", app.main.queue)  # the layout is stable from here on
        await click(pilot, await find_text(pilot, app, "first thing", app.main.queue))
        await until(pilot, lambda: (app.main.where(), app.main.queue.cursor) == ("queue", 0))
        await click(pilot, await find_text(pilot, app, "second thing", app.main.queue), times=2)
        await until(pilot, lambda: app.main.prompt.text == "second thing")
        assert app.main.prompt.item_id is not None


@pytest.mark.parametrize(("words", "pane"), [("2 Stream", "stream"), ("3 State", "inspector"), ("4 Runs", "rail")])
async def test_click_on_a_tab_shows_its_pane(open_engine: Engines, words: str, pane: str):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await sees(pilot, words)
        await click(pilot, await find_text(pilot, app, words, app.main.tabs))
        await until(pilot, lambda: app.main.where() == pane)
        await click(pilot, await find_text(pilot, app, "1 Chat", app.main.tabs))
        await until(pilot, lambda: app.main.where() == "prompt")


async def test_click_selects_an_inspector_tab_and_expands_and_collapses_a_row(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        pane = app.main.inspector
        await click(pilot, await find_text(pilot, app, "Context", pane))
        await until(pilot, lambda: pane.tab == "context" and pane.why_not("copy") is None)
        await pilot.pause()
        offset = await find_text(pilot, app, "▸", pane)
        before = shown(app).split("\n")[offset.y]
        await click(pilot, offset)
        await until(pilot, lambda: "▾" in shown(app).split("\n")[offset.y])
        await click(pilot, offset)
        await until(pilot, lambda: shown(app).split("\n")[offset.y] == before)


# The ribbon and the footer


@pytest.mark.parametrize("size", SIZES)
async def test_click_on_a_turn_of_the_ribbon_selects_it_in_the_stream(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run(pilot)
        await click(pilot, await find_text(pilot, app, "T1 ", app.main.ribbon))
        await until(pilot, lambda: app.services.updater.as_of == 1)
        assert app.main.where() == "stream"


async def test_click_after_the_last_turn_of_the_ribbon_does_nothing(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        await click(pilot, await find_text(pilot, app, "next pull", app.main.ribbon) + Offset(6, 0))
        await pilot.pause()
        assert app.main.where() == "prompt"


async def test_every_key_in_the_footer_can_be_clicked(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    app = recording_console(open_engine)
    performed: list[str] = []

    async def record(command_id: str) -> None:
        performed.append(command_id)

    monkeypatch.setattr(app, "action_perform", record)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        for pane in ("prompt", "stream", "inspector"):
            app.main.go_to(pane)
            await until(pilot, lambda pane=pane: app.main.where() == pane)
            await until(pilot, lambda pane=pane: app.main.footer.keys[0].command_id.startswith(f"{pane}."))
            await pilot.pause()
            expected = list(app.main.footer.keys)
            performed.clear()
            for key in expected:
                await click(pilot, await find_text(pilot, app, f"{key.key} {key.label}", app.main.footer))
            await until(pilot, lambda expected=expected: len(performed) == len(expected))
            assert performed == [key.command_id for key in expected]
            assert app.main.where() == pane, "a click on the footer does not move the focus"


async def test_click_on_a_footer_key_does_what_the_key_does(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        await click(pilot, await find_text(pilot, app, "f8 stop", app.main.footer))
        await until(pilot, lambda: not app.services.situation.is_running)
        app.main.go_to("stream")
        await until(pilot, lambda: app.main.where() == "stream")
        await sees(pilot, "/ filter")
        await click(pilot, await find_text(pilot, app, "/ filter", app.main.footer))
        await until(pilot, lambda: app.main.stream._filter_line.display)


# Selecting text


async def test_text_selected_in_the_conversation_is_copied(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        offset = await find_text(pilot, app, "You said: hello", app.main.conversation)
        await pilot.mouse_down(offset=offset)
        await pilot.hover(offset=offset + Offset(len("You said: hello"), 0))
        await pilot.mouse_up(offset=offset + Offset(len("You said: hello"), 0))
        await until(pilot, lambda: bool(app.main.selections))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.clipboard.startswith("You said: hell"))
