"""The line at the bottom: the keys that matter here and now, never cut in the middle."""

from collections.abc import Callable, Sequence

from console.model.commands import COMMANDS, Command
from console.model.situation import Situation

Words = Callable[[Command], str]


def footing(where: str, now: Situation, width: int, words: Words) -> Sequence[tuple[str, str]]:
    """Key and words of the commands of a pane and of everywhere that can be carried out now, as many as fit."""
    possible = [command for command in COMMANDS if command.rank and command.where in (where, "app") and command.keys]
    possible = [command for command in possible if command.why_not(now) is None]
    possible.sort(key=lambda command: (command.where == "app", command.rank))
    shown: list[tuple[str, str]] = []
    # Help and the palette lead to everything else, so their room is kept.
    kept = [command for command in possible if command.id in ("app.palette", "app.help")]
    room = width - sum(_width(command.key, words(command)) for command in kept)
    for command in possible:
        if command in kept:
            continue
        needed = _width(command.key, words(command))
        if needed > room:
            break
        shown.append((command.key, words(command)))
        room -= needed
    return [*shown, *((command.key, words(command)) for command in kept)]


def _width(key: str, words: str) -> int:
    return len(key) + 1 + len(words) + 2
