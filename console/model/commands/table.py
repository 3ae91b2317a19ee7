"""The table of all commands. Keys, footer, palette and help are read from it."""

from collections.abc import Iterable, Mapping
from typing import Final

from console.model.commands.command import Command, WhyNot, shown_key
from console.model.commands.rows_app import APP, PROMPT_TOOLS, SHORTCUTS, TABS
from console.model.commands.rows_panes import CONVERSATION, FIND, INSPECTOR, PROMPT, QUEUE, RUNS
from console.model.commands.rows_screens import (
    ARTIFACTS,
    CHOICE,
    COMPOSER,
    EVENTS,
    FIELD,
    FILES,
    FORM,
    OPEN_RUNNERS,
    OPEN_SCREENS,
    PATHS,
    RUNNERS,
    SESSIONS,
    STATE,
)
from console.model.commands.rows_stream import COPY_MENU, FILTER, STREAM

__all__ = ["BY_ID", "COMMANDS", "ENCLOSING_PLACE", "Command", "WhyNot", "commands_of", "shown_key"]

COMMANDS: Final[tuple[Command, ...]] = (
    *APP, *EVENTS, *SHORTCUTS,
    *OPEN_SCREENS, *TABS, *PATHS, *PROMPT, *PROMPT_TOOLS, *QUEUE, *STREAM, *FILTER, *COPY_MENU,
    *CONVERSATION, *INSPECTOR, *FIND, *RUNS, *SESSIONS, *STATE,
    *OPEN_RUNNERS, *RUNNERS, *FORM, *FIELD,
    *COMPOSER, *CHOICE, *FILES, *ARTIFACTS,
)  # fmt: skip

ENCLOSING_PLACE: Final[Mapping[str, str]] = {"choice": "composer", "files": "composer", "paths": "prompt"}
"""Places inside others: the keys of the outer place work in the inner one too."""


def commands_of(*places: str, commands: Iterable[Command] = COMMANDS) -> tuple[Command, ...]:
    """The commands of these places, in the order of the table."""
    return tuple(command for command in commands if command.where in places)


BY_ID: Final[Mapping[str, Command]] = {command.id: command for command in COMMANDS}
