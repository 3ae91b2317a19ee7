"""The one table of commands: keys, footer, palette and help are all read from it."""

from collections.abc import Iterable, Mapping
from typing import Final

from console.model.commands.command import Command, WhyNot, shown_key
from console.model.commands.events import ARTIFACTS, BLOCKS, CHOICE, COMPOSER, EVENTS, FILES, PATHS
from console.model.commands.everywhere import EVERYWHERE, TABS
from console.model.commands.reading import CONVERSATION, FIND, INSPECTOR, RAIL
from console.model.commands.runners import FIELD, FORM, OPEN_RUNNERS, RUNNERS
from console.model.commands.saying import PROMPT, QUEUE
from console.model.commands.sessions import FORK, OPEN_SESSIONS, SESSIONS
from console.model.commands.states import OPEN_STATES, STATES
from console.model.commands.stream import FILTER, STREAM, YANK
from console.model.commands.ways import WAYS, WRITING

__all__ = ["BY_ID", "COMMANDS", "WITHIN", "Command", "WhyNot", "of", "shown_key"]

COMMANDS: Final[tuple[Command, ...]] = (
    *EVERYWHERE, *EVENTS, *WAYS,
    *OPEN_SESSIONS, *OPEN_STATES, *TABS, *PATHS, *PROMPT, *WRITING, *QUEUE, *STREAM, *FILTER, *YANK, *BLOCKS, *FORK,
    *CONVERSATION, *INSPECTOR, *FIND, *RAIL, *SESSIONS, *STATES,
    *OPEN_RUNNERS, *RUNNERS, *FORM, *FIELD,
    *COMPOSER, *CHOICE, *FILES, *ARTIFACTS,
)  # fmt: skip

WITHIN: Final[Mapping[str, str]] = {"choice": "composer", "files": "composer", "paths": "prompt"}
"""Places within others, whose keys work there, too."""


def of(*places: str, commands: Iterable[Command] = COMMANDS) -> tuple[Command, ...]:
    """The commands of one pane, or of several."""
    return tuple(command for command in commands if command.where in places)


BY_ID: Final[Mapping[str, Command]] = {command.id: command for command in COMMANDS}
