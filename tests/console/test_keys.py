"""Keys at the whole screen: where the focus goes, and that no key is dead."""

from typing import Any

import pytest
from textual.pilot import Pilot

from console.bindings import keys_of
from console.model.commands import of
from tests.console.driving import NARROW, SIZES, WIDE, Cue, at_the_screen, say, sees, shown, until
from tests.console.telling import Telling, telling
from tests.support import Engines

PANES = ("prompt", "queue", "conversation", "stream", "inspector", "rail")
STILL = {"app.quit", "app.palette", "app.help", "prompt.newline"}
"""Have tests of their own, or are no question."""


async def in_pane(pilot: Pilot[Any], app: Telling, pane: str) -> None:
    app.main.go_to(pane)
    await until(pilot, lambda: app.main.where() == pane)


def keys(*places: str) -> list[tuple[str, str]]:
    """A command's id and each of its keys."""
    return [(one.id, key) for one in of(*places) if one.keys and one.id not in STILL for key in keys_of(one)]


def picture(app: Telling) -> tuple[Any, ...]:
    """All that a key could change: the screen, the focus, what was told, what was copied, what has the screen."""
    focused = app.screen.focused
    prompt = app.main.prompt
    typed = prompt.cursor_location, prompt.mode
    return shown(app), id(focused), len(app.told), app.clipboard, app.screen, typed, app.main.rail.highlighted


async def changes(pilot: Pilot[Any], app: Telling, key: str) -> bool:
    """Whether pressing a key does anything at all."""
    before = picture(app)
    await pilot.press(key)
    for _ in range(40):
        if picture(app) != before:
            return True
        await pilot.pause(0.02)
    return False


# Focus


@pytest.mark.parametrize("size", SIZES)
async def test_the_prompt_has_the_focus_at_the_start_and_after_every_send(open_engine: Engines, size: tuple[int, int]):
    app = telling(open_engine)
    async with at_the_screen(app, size) as pilot:
        assert app.main.where() == "prompt"
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        assert app.main.where() == "prompt"
        await in_pane(pilot, app, "conversation")
        await pilot.press(*"more")
        await until(pilot, lambda: app.main.prompt.text == "more")
        await pilot.press("enter")
        await sees(pilot, "1 queued")
        assert app.main.where() == "prompt"


@pytest.mark.parametrize("size", SIZES)
async def test_tab_goes_round_the_panes_and_shift_tab_back(open_engine: Engines, size: tuple[int, int]):
    app = telling(open_engine)
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        for key, wanted in (("tab", (*PANES[1:], PANES[0])), ("shift+tab", (*PANES[:0:-1], PANES[0]))):
            seen: list[str] = []
            for pane in wanted:
                await pilot.press(key)
                await until(pilot, lambda pane=pane: app.main.where() == pane)
                seen.append(app.main.where())
            assert tuple(seen) == wanted


async def test_tab_leaves_out_what_is_not_there(open_engine: Engines):
    app = telling(open_engine)
    async with at_the_screen(app, (120, 40)) as pilot:
        seen: list[str] = []
        for _ in range(4):
            before = app.main.where()
            await pilot.press("tab")
            await until(pilot, lambda before=before: app.main.where() != before)
            seen.append(app.main.where())
        assert seen == ["conversation", "stream", "inspector", "prompt"]


@pytest.mark.parametrize("size", SIZES)
async def test_digits_lead_to_panes_from_where_nothing_is_typed(open_engine: Engines, size: tuple[int, int]):
    app = telling(open_engine)
    async with at_the_screen(app, size) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await in_pane(pilot, app, "stream")
        for key, pane in (("4", "rail"), ("2", "stream"), ("3", "inspector")):
            await pilot.press(key)
            await until(pilot, lambda pane=pane: app.main.where() == pane)
        await pilot.press("2")
        await pilot.pause()
        assert app.main.where() == "inspector"
        assert app.main.inspector.tab == "state"
        await in_pane(pilot, app, "rail")
        await pilot.press("1")
        await until(pilot, lambda: app.main.where() == "prompt")
        await pilot.press("2")
        assert app.main.prompt.text == "2"


async def test_digits_are_typed_from_the_conversation(open_engine: Engines):
    app = telling(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await in_pane(pilot, app, "conversation")
        await pilot.press("2")
        await until(pilot, lambda: app.main.prompt.text == "2")
        assert app.main.where() == "prompt"


@pytest.mark.parametrize("pane", PANES)
async def test_function_keys_are_heard_in_every_pane(open_engine: Engines, pane: str):
    app = telling(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        await in_pane(pilot, app, pane)
        await pilot.press("f7")
        await until(pilot, lambda: bool(app.told))
        assert app.told == ["the run is not held; f6 holds it at its next pull"]


# No dead key


@pytest.mark.parametrize("pane", PANES)
async def test_no_key_is_dead_where_there_is_something_to_see(open_engine: Engines, pane: str):
    cue = Cue()
    app = telling(open_engine, cue)
    async with at_the_screen(app, (160, 26)) as pilot:  # so few rows that not all that was said is in view
        for text in ("one", "two"):
            await say(pilot, text)
            await sees(pilot, f"You said: {text}")
            cue.go()
            cue.go()
            await until(pilot, lambda: not app.situation.is_running)
        await say(pilot, "three")
        await sees(pilot, "You said: three")
        for text in ("a", "b", "c"):
            await say(pilot, text)
        await sees(pilot, "3 queued")
        dead: list[str] = []
        for command_id, key in keys(pane):
            await in_pane(pilot, app, pane)
            await prepared(pilot, app, pane, command_id)
            if not await changes(pilot, app, key):
                dead.append(f"{command_id}: {key}")
            app.main.stream.close_line()
        assert not dead, dead


async def prepared(pilot: Pilot[Any], app: Telling, pane: str, command_id: str) -> None:
    """In the middle of things, so that a move has somewhere to go."""
    what = command_id.partition(".")[2]
    main = app.main
    if pane == "stream":
        main.stream.clear_filter()
        main.stream.action_first()
        if what in ("up", "half_up", "page_up", "first", "turn_before", "previous_match", "next_mark"):
            main.stream.action_move(3)
        if what == "clear":
            main.stream.set_filter("kind:run.*")
    elif pane == "inspector":
        main.inspector.choose("context")
        await until(pilot, lambda: main.inspector.why_not("copy") is None)
        main.inspector.action_edge(0)
        if what in ("up", "page_up", "first"):
            main.inspector.action_move(2)
    elif pane == "conversation":
        main.conversation.go_live()
        main.conversation.clear_cursor()
        if what in ("down", "page_down", "live"):
            main.conversation.action_first()
        if what != "later":
            main.conversation.action_earlier()
    elif pane == "rail":
        main.rail.highlighted = 0 if what in ("down", "page_down", "last", "open") else 2
    elif pane == "queue":
        main.queue.cursor = 1
    await pilot.pause()


@pytest.mark.parametrize("pane", [pane for pane in PANES if pane != "queue"])
async def test_no_key_is_dead_where_there_is_nothing(open_engine: Engines, pane: str):
    app = telling(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        dead: list[str] = []
        for command_id, key in keys(pane):
            await in_pane(pilot, app, pane)
            if not await changes(pilot, app, key):
                dead.append(f"{command_id}: {key}")
            app.main.stream.close_line()
            app.main.inspector.close_line()
        assert not dead, dead


@pytest.mark.parametrize("size", SIZES)
async def test_no_key_of_everywhere_is_dead(open_engine: Engines, size: tuple[int, int]):
    app = telling(open_engine)
    async with at_the_screen(app, size) as pilot:
        dead: list[str] = []
        await in_pane(pilot, app, "stream")  # esc has somewhere to go
        for command_id, key in [("app.escape", "escape"), *keys("app", "screen")]:
            if command_id == "app.escape" and app.main.where() == "prompt":
                continue
            if not await changes(pilot, app, key):
                dead.append(f"{command_id}: {key}")
        assert not dead, dead


@pytest.mark.parametrize(
    ("pane", "key", "why"),
    [
        ("prompt", "enter", "there is nothing to send; type something first"),
        ("prompt", "ctrl+t", "nothing runs: what you say is sent at once"),
        ("prompt", "up", "nothing was sent before this"),
        ("stream", "y", "nothing is recorded yet"),
        ("stream", "b", "nothing is recorded yet"),
        ("stream", "X", "nothing is filtered"),
        ("conversation", "enter", "nothing was said yet"),
        ("inspector", "y", "there is nothing here yet"),
        ("inspector", "r", "only the tab Calls has an order to change; 5 shows it"),
        ("rail", "enter", "nothing ran yet"),
        ("rail", "f8", "nothing runs"),
        ("stream", "f5", "there is nothing to run again; send something first"),
    ],
)
async def test_what_cannot_be_done_says_why(open_engine: Engines, pane: str, key: str, why: str):
    app = telling(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await in_pane(pilot, app, pane)
        await pilot.press(key)
        await until(pilot, lambda: bool(app.told))
        assert app.told == [why]


async def test_a_run_that_is_over_cannot_be_held_on_a_kind(open_engine: Engines):
    cue = Cue()
    app = telling(open_engine, cue)
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        cue.go()
        cue.go()
        await until(pilot, lambda: not app.situation.is_running)
        await in_pane(pilot, app, "stream")
        await pilot.press("b")
        await until(pilot, lambda: bool(app.told))
        assert app.told == ["nothing runs"]


# Help


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 15)])
@pytest.mark.parametrize("pane", ["prompt", "stream", "inspector"])
async def test_help_is_about_the_pane_and_scrolls_to_its_end(open_engine: Engines, size: tuple[int, int], pane: str):
    app = telling(open_engine)
    async with at_the_screen(app, size) as pilot:
        await in_pane(pilot, app, pane)
        await pilot.press("f1")
        await sees(pilot, f"Help · {pane}")
        await pilot.press("end")
        await sees(pilot, "▾ unfolded")
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.where() == pane
