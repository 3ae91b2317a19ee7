"""The palette: every command by its name, wherever the focus is."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from console.model.commands.table import COMMANDS
from tests.support.console.pilot import NARROW, SIZES, WIDE, at_the_screen, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole, recording_console
from tests.support.engines import Engines

HOSTILE = "[/] [bold]x[/bold] [@click=app.quit]y[/] [unterminated \x1b[31m"


async def choose(pilot: Pilot[Any], app: RecordingConsole, name: str) -> None:
    """Type a command's name into the palette, and take what it finds."""
    await pilot.press("ctrl+p")
    await until(pilot, lambda: app.screen is not app.main)
    await pilot.press(*name)
    await until(pilot, lambda: _chosen(app).startswith(name))
    await pilot.press("enter")
    await until(pilot, lambda: app.screen is app.main)


def _chosen(app: RecordingConsole) -> str:
    """What enter would take."""
    option = app.screen.query_one(OptionList).highlighted_option
    return "" if option is None else str(option.prompt)


async def running(pilot: Pilot[Any]) -> None:
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")


async def test_it_lists_every_command_that_has_a_name(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app):
        listed = [command.title for command in app.get_system_commands(app.main)]
        assert listed == [command.palette for command in COMMANDS if command.palette]
        assert {"run: Run again", "run: Stop", "run: Pause at the next steering point", "run: Continue",
                "run: Step", "run: Set a breakpoint on this kind", "steer: Edit queue",
                "stream: Filter…", "stream: Only tools", "stream: Only steering",
                "stream: Show raw deltas", "view: Zoom", "view: Time mode", "view: Theme…", "view: ASCII glyphs",
                "session: New session", "help: Keys"} <= set(listed)  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
async def test_the_command_that_enter_takes_has_a_mark(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"view: ")
        await until(pilot, lambda: _chosen(app).startswith("view: "))
        first = _chosen(app).splitlines()[0]
        await until(pilot, lambda: any(line.strip().startswith(f"› {first}") for line in shown(app).splitlines()))
        await pilot.press("down")
        await until(pilot, lambda: not _chosen(app).startswith(first))
        second = _chosen(app).splitlines()[0]
        await until(pilot, lambda: any(line.strip().startswith(f"› {second}") for line in shown(app).splitlines()))
        assert shown(app).count("›") == 1


async def test_a_command_is_found_by_what_is_said_of_it_below_those_of_that_name(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"send")
        await until(pilot, lambda: "run: Start" in found(app))
        assert found(app)[0] == "event: Edit and send…"
        assert len(found(app)) == len(set(found(app)))
        await pilot.press(*" steer")
        await until(pilot, lambda: found(app) == ["run: Start"])


def found(app: RecordingConsole) -> list[str]:
    """The names of what the palette lists, in order."""
    return [str(option.prompt).splitlines()[0] for option in app.screen.query_one(OptionList).options]


async def test_what_cannot_be_done_now_is_listed_with_the_reason(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        said = {command.title: str(command.help) for command in app.get_system_commands(app.main)}
        assert said["run: Stop"] == "not now: No run in progress."
        await running(pilot)
        said = {command.title: str(command.help) for command in app.get_system_commands(app.main)}
        assert said["run: Stop"] == "Stop the run; messages that were not delivered can be sent again."
        assert said["run: Continue"] == "not now: The run is not paused. f6 pauses it at its next steering point."


async def test_a_reason_is_only_ever_text(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await running(pilot)
        app.active_session.cannot_steer = HOSTILE
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"steer or after")
        await sees(pilot, "[/] [bold]x[/bold]")
        assert "\x1b" not in shown(app)


async def test_choosing_what_cannot_be_done_says_why(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await choose(pilot, app, "run: Stop")
        await until(pilot, lambda: app.toasts == ["No run in progress."])


@pytest.mark.parametrize("size", SIZES)
async def test_a_command_of_the_stream_acts_on_the_stream_from_the_prompt(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await running(pilot)
        await choose(pilot, app, "stream: Only tools")
        await until(pilot, lambda: app.main.stream._filter == "kind:tool.*")
        await sees(pilot, "No entry matches the filter.")


@pytest.mark.parametrize("size", SIZES)
async def test_a_line_that_a_command_opens_is_seen_and_has_the_focus(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await running(pilot)
        await choose(pilot, app, "stream: Filter…")
        await until(pilot, lambda: app.focused is app.main.stream._filter_line)
        await pilot.press(*"kind:run.*", "enter")
        await until(pilot, lambda: app.main.stream._filter == "kind:run.*")
        await sees(pilot, "run.started")


async def test_the_queue_is_entered(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await running(pilot)
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        app.main.go_to("stream")
        await until(pilot, lambda: app.main.where() == "stream")
        await choose(pilot, app, "steer: Edit queue")
        await until(pilot, lambda: app.main.where() == "queue")


async def test_the_theme_can_be_chosen(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await app.action_perform("app.theme")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"nord")
        await until(pilot, lambda: _chosen(app).startswith("nord"))
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == "nord")
