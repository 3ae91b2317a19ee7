"""The one table of commands: keys, footer, palette and help are all read from it."""

from collections.abc import Iterable, Mapping
from typing import Final

from console.model.commands.command import Command, WhyNot, shown_key
from console.model.commands.everywhere import EVERYWHERE, TABS
from console.model.commands.reading import CONVERSATION, FIND, INSPECTOR, RAIL
from console.model.commands.saying import PROMPT, QUEUE
from console.model.commands.stream import FILTER, STREAM, YANK

__all__ = ["BY_ID", "COMMANDS", "Command", "WhyNot", "of", "shown_key"]

COMMANDS: Final[tuple[Command, ...]] = (
    *EVERYWHERE, *TABS, *PROMPT, *QUEUE, *STREAM, *FILTER, *YANK, *CONVERSATION, *INSPECTOR, *FIND, *RAIL,
)  # fmt: skip


def of(*places: str, commands: Iterable[Command] = COMMANDS) -> tuple[Command, ...]:
    """The commands of one pane, or of several."""
    return tuple(command for command in commands if command.where in places)


BY_ID: Final[Mapping[str, Command]] = {command.id: command for command in COMMANDS}
