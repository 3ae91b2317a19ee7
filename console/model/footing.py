"""The line at the bottom: the keys that matter here and now, never cut in the middle."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from console.model.commands import COMMANDS, WITHIN, Command, of
from console.model.situation import Situation

WhyNot = Callable[[Command], str | None]
GAP: Final = 2
"""Columns between two keys."""
_WHERE_HELD: Final = ("app.go", "app.step", "app.edit_held")
_KEPT: Final = ("app.palette", "app.help")
"""They lead to everything else, so their room is kept."""
_WAY_BACK: Final = "app.escape"
"""Over the panes its room is kept, too: they are what it leads to."""


class FooterKey(NamedTuple):
    """A key, what it does, and the command that a click on it carries out, if any."""

    key: str
    words: str
    command_id: str

    @property
    def width(self) -> int:
        return len(self.key) + 1 + len(self.words)


def footing(
    where: str, now: Situation, width: int, why_not: WhyNot, commands: Sequence[Command] = COMMANDS
) -> Sequence[FooterKey]:
    """The commands of a pane and of everywhere that can be carried out now, the lowest rank first; what fits."""
    here = of(where, WITHIN.get(where, where), "app", commands=commands)
    possible = [command for command in here if command.rank and command.keys and why_not(command) is None]
    # Who holds a run wants to go on before anything else.
    first = _WHERE_HELD if now.is_held else ()
    always = (*_KEPT, _WAY_BACK) if now.is_covered else _KEPT
    possible.sort(key=lambda command: (command.id in always, command.id not in first, command.rank))
    # Where a line is open in a pane, its keys hide those of everywhere.
    first_of = {command.key: command for command in reversed(possible)}
    possible = [command for command in possible if first_of[command.key] is command]
    keys = [FooterKey(command.key, command.words_in(now), command.id) for command in possible]
    kept = [key for key in keys if key.command_id in always]
    room = width - sum(key.width + GAP for key in kept) + GAP
    shown: list[FooterKey] = []
    for key in keys[: len(keys) - len(kept)]:
        if key.width + GAP > room:
            break
        shown.append(key)
        room -= key.width + GAP
    return [*shown, *kept] if room >= 0 else _fitting(kept, width)


def _fitting(keys: Sequence[FooterKey], width: int) -> Sequence[FooterKey]:
    """Where not even these fit together: the last that does."""
    return [key for key in keys if key.width <= width][-1:]
