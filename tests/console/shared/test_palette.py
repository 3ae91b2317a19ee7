"""The palette: finds and runs every command, wherever the focus is."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from console.model.commands.table import COMMANDS
from tests.support.console.pilot import NARROW, SIZES, WIDE, at_the_screen, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole, recording_console
from tests.support.engines import Engines

HOSTILE = "[/] [bold]x[/bold] [@click=app.quit]y[/] [unterminated \x1b[31m"


async def run_command(pilot: Pilot[Any], app: RecordingConsole, name: str) -> None:
    """Type the name of a command into the palette and run it."""
    await pilot.press("ctrl+p")
    await until(pilot, lambda: app.screen is not app.main)
    await pilot.press(*name)
    await until(pilot, lambda: highlighted(app).startswith(name))
    await pilot.press("enter")
    await until(pilot, lambda: app.screen is app.main)


def highlighted(app: RecordingConsole) -> str:
    """Return the text of the highlighted command, which enter would run."""
    option = app.screen.query_one(OptionList).highlighted_option
    return "" if option is None else str(option.prompt)


async def start_run(pilot: Pilot[Any]) -> None:
    await say(pilot, "hello")
    await sees(pilot, "You said: hello")


async def test_palette_lists_every_command_with_a_palette_name(open_engine: Engines):
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
async def test_highlighted_command_has_a_mark(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"view: ")
        await until(pilot, lambda: highlighted(app).startswith("view: "))
        first = highlighted(app).splitlines()[0]
        await until(pilot, lambda: any(line.strip().startswith(f"› {first}") for line in shown(app).splitlines()))
        await pilot.press("down")
        await until(pilot, lambda: not highlighted(app).startswith(first))
        second = highlighted(app).splitlines()[0]
        await until(pilot, lambda: any(line.strip().startswith(f"› {second}") for line in shown(app).splitlines()))
        assert shown(app).count("›") == 1


async def test_commands_are_found_by_name_first_and_then_by_description(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"send")
        await until(pilot, lambda: "run: Start" in listed_names(app))
        assert listed_names(app)[0] == "event: Edit and send…"
        assert len(listed_names(app)) == len(set(listed_names(app)))
        await pilot.press(*" steer")
        await until(pilot, lambda: listed_names(app) == ["run: Start"])


def listed_names(app: RecordingConsole) -> list[str]:
    """Return the names of the listed commands, in order."""
    return [str(option.prompt).splitlines()[0] for option in app.screen.query_one(OptionList).options]


async def test_unavailable_command_is_listed_with_the_reason(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        said = {command.title: str(command.help) for command in app.get_system_commands(app.main)}
        assert said["run: Stop"] == "Not available: No run in progress."
        await start_run(pilot)
        said = {command.title: str(command.help) for command in app.get_system_commands(app.main)}
        assert said["run: Stop"] == "Stop the run; messages that were not delivered can be sent again."
        assert said["run: Continue"] == "Not available: The run is not paused. f6 pauses it at its next steering point."


async def test_markup_in_a_reason_is_shown_as_text(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await start_run(pilot)
        app.active_session.cannot_steer = HOSTILE
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"steer or after")
        await sees(pilot, "[/] [bold]x[/bold]")
        assert "\x1b" not in shown(app)


async def test_unavailable_command_shows_the_reason_if_it_is_run(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await run_command(pilot, app, "run: Stop")
        await until(pilot, lambda: app.toasts == ["No run in progress."])


@pytest.mark.parametrize("size", SIZES)
async def test_stream_command_works_while_the_prompt_has_the_focus(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run(pilot)
        await run_command(pilot, app, "stream: Only tools")
        await until(pilot, lambda: app.main.stream._filter == "kind:tool.*")
        await sees(pilot, "No entry matches the filter.")


@pytest.mark.parametrize("size", SIZES)
async def test_input_line_opened_by_a_command_is_visible_and_focused(open_engine: Engines, size: tuple[int, int]):
    app = recording_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await start_run(pilot)
        await run_command(pilot, app, "stream: Filter…")
        await until(pilot, lambda: app.focused is app.main.stream._filter_line)
        await pilot.press(*"kind:run.*", "enter")
        await until(pilot, lambda: app.main.stream._filter == "kind:run.*")
        await sees(pilot, "run.started")


async def test_edit_queue_command_focuses_the_queue(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, NARROW) as pilot:
        await start_run(pilot)
        await say(pilot, "be brief")
        await sees(pilot, "1 queued")
        app.main.go_to("stream")
        await until(pilot, lambda: app.main.where() == "stream")
        await run_command(pilot, app, "steer: Edit queue")
        await until(pilot, lambda: app.main.where() == "queue")


async def test_theme_can_be_chosen(open_engine: Engines):
    app = recording_console(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await app.action_perform("app.theme")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press(*"nord")
        await until(pilot, lambda: highlighted(app).startswith("nord"))
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == "nord")
