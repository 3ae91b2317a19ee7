"""The footer: the keys that matter in this situation. A key is shown whole or not at all."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from console.model.commands.situation import Situation
from console.model.commands.table import COMMANDS, ENCLOSING_PLACE, Command, commands_of

WhyNot = Callable[[Command], str | None]
GAP_COLUMNS: Final = 2
"""Columns between two keys."""
_FIRST_WHILE_PAUSED: Final = ("app.continue", "app.step", "app.edit_reply")
_ALWAYS: Final = ("app.palette", "app.help")
"""Always shown, because they lead to all other commands."""
_ESCAPE: Final = "app.escape"
"""Always shown on a full screen, because it leads back to the panes."""


class FooterKey(NamedTuple):
    """A key, its label, and the command that a click runs (empty: none)."""

    key: str
    label: str
    command_id: str

    @property
    def width(self) -> int:
        return len(self.key) + 1 + len(self.label)


def footer_keys(
    where: str, now: Situation, width: int, why_not: WhyNot, commands: Sequence[Command] = COMMANDS
) -> Sequence[FooterKey]:
    """The available commands of a pane and of `app`, lowest rank first, as many as fit."""
    commands_here = commands_of(where, ENCLOSING_PLACE.get(where, where), "app", commands=commands)
    available = [command for command in commands_here if command.rank and command.keys and why_not(command) is None]
    # While a run is paused, continuing it comes first.
    first = _FIRST_WHILE_PAUSED if now.is_paused else ()
    always = (*_ALWAYS, _ESCAPE) if now.is_covered else _ALWAYS
    available.sort(key=lambda command: (command.id in always, command.id not in first, command.rank))
    # An input line that is open in a pane hides the keys of `app` that it uses itself.
    first_by_key = {command.key: command for command in reversed(available)}
    available = [command for command in available if first_by_key[command.key] is command]
    keys = [FooterKey(command.key, command.label_in(now), command.id) for command in available]
    kept = [key for key in keys if key.command_id in always]
    room = width - sum(key.width + GAP_COLUMNS for key in kept) + GAP_COLUMNS
    shown: list[FooterKey] = []
    for key in keys[: len(keys) - len(kept)]:
        if key.width + GAP_COLUMNS > room:
            break
        shown.append(key)
        room -= key.width + GAP_COLUMNS
    return [*shown, *kept] if room >= 0 else _last_fitting(kept, width)


def _last_fitting(keys: Sequence[FooterKey], width: int) -> Sequence[FooterKey]:
    """The last key that fits alone, for a terminal that is too narrow for all of them."""
    return [key for key in keys if key.width <= width][-1:]
