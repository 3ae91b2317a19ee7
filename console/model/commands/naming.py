"""Keys in sentences: a sentence names a command, and what is read is the key that the command has for this person."""

import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Final

from console.model.commands.command import Command

_NAMED: Final = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")
_in_force: Final[ContextVar[dict[str, Command] | None]] = ContextVar("keys", default=None)


def put_in_force(commands: Iterable[Command]) -> None:
    """From now on keys are named as this table has them; each console has one of its own."""
    _in_force.set({command.id: command for command in commands})


def change_in_force(commands: Iterable[Command]) -> None:
    """The same while the console is open: every task of it has the table that was put in force, so that one changes."""
    if (table := _in_force.get()) is None:
        put_in_force(commands)
    else:
        table.update({command.id: command for command in commands})


def now_of(*places: str) -> tuple[Command, ...]:
    """The commands of one pane, or of several, with the keys that they have now."""
    return tuple(command for command in _table().values() if command.where in places)


def key_of(command_id: str) -> str:
    """The first key of a command as people read it; of one that has none, how it is found: `^p “view: Theme…”`."""
    table = _table()
    command = table[command_id]
    if command.keys:
        return command.key
    return f"{table['app.palette'].key} “{command.palette}”" if command.palette else f"“{command.words}”"


def keyed(words: str) -> str:
    """A sentence of ours that names commands, `{app.hold} holds it`, as it is read. Never for what others wrote."""
    return _NAMED.sub(lambda found: key_of(found[1]), words)


def _table() -> Mapping[str, Command]:
    from console.model.commands import BY_ID  # noqa: PLC0415  (its own reasons are written with this)

    return _in_force.get() or BY_ID
