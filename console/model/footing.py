"""The line at the bottom: the keys that matter here and now, never cut in the middle."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from console.model.commands import Command, of
from console.model.situation import Situation

WhyNot = Callable[[Command], str | None]
GAP: Final = 2
"""Columns between two keys."""
_WHERE_HELD: Final = ("app.go", "app.step", "app.edit_held")
_KEPT: Final = ("app.palette", "app.help")
"""They lead to everything else, so their room is kept."""


class FooterKey(NamedTuple):
    """A key, what it does, and the command that a click on it carries out."""

    key: str
    words: str
    command_id: str

    @property
    def width(self) -> int:
        return len(self.key) + 1 + len(self.words)


def footing(where: str, now: Situation, width: int, why_not: WhyNot) -> Sequence[FooterKey]:
    """The commands of a pane and of everywhere that can be carried out now, the lowest rank first; what fits."""
    possible = [command for command in of(where, "app") if command.rank and command.keys and why_not(command) is None]
    # Who holds a run wants to go on before anything else.
    first = _WHERE_HELD if now.is_held else ()
    possible.sort(
        key=lambda command: (command.id in _KEPT, command.id not in first, command.where == "app", command.rank)
    )
    keys = [FooterKey(command.key, command.words_in(now), command.id) for command in possible]
    kept = [key for key in keys if key.command_id in _KEPT]
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
