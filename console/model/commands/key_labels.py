"""Keys inside sentences: the text names a command, the user reads the key that the command has."""

import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Final

from console.model.commands.command import Command

_COMMAND: Final = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")
_active_table: Final[ContextVar[dict[str, Command] | None]] = ContextVar("keys", default=None)


def use_key_table(commands: Iterable[Command]) -> None:
    """Name keys as this table has them from now on. Each app has its own table."""
    _active_table.set({command.id: command for command in commands})


def current_commands_of(*places: str) -> tuple[Command, ...]:
    """The commands of these places with the user's keys."""
    return tuple(command for command in _table().values() if command.where in places)


def key_of(command_id: str) -> str:
    """Return the first key of a command as it is printed; without a key, how to find it: `^p “view: Theme…”`."""
    table = _table()
    command = table[command_id]
    if command.keys:
        return command.key
    return f"{table['app.palette'].key} “{command.palette}”" if command.palette else f"“{command.label}”"


def with_keys(text: str) -> str:
    """Replace `{app.pause}` by the key of that command. Only for our own texts, never for a runner's."""
    return _COMMAND.sub(lambda found: key_of(found[1]), text)


def _table() -> Mapping[str, Command]:
    from console.model.commands.table import BY_ID  # noqa: PLC0415  (its rows use this module)

    return _active_table.get() or BY_ID
