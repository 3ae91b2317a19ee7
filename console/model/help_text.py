"""What the help says about a pane, in lines that fit: its keys and those of everywhere, and what the glyphs mean."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import wrap
from typing import Final, NamedTuple

from console.model.commands import COMMANDS, WITHIN, Command, of
from console.model.commands.naming import keyed
from console.model.glyphs import LEGEND, Glyphs

ABOUT: Final[Mapping[str, str]] = {
    "prompt": "Type, {prompt.send} sends. While a run works it is steered: what you say lands at its next pull.",
    "queue": "What waits to be said. It can be changed until the runner pulls it.",
    "stream": "Everything a run did, in order. Moving here shows the world as of that entry.",
    "inspector": "One entry in full, and state, context, calls and receipts as of it.",
    "conversation": "What was said, and what the runner did meanwhile. What you type goes to the prompt.",
    "rail": "Runs and sessions, newest first. {rail.open} opens one.",
    "composer": "An event of your own: six types, each with its usual actor and subject. What you leave is kept.",
    "choice": "One of a few. Another type brings its own usual actor and subject; what you typed stays.",
    "files": "Files that go along with the event.",
    "artifacts": "What runs made, and the files that came with events. Tab goes between the list and the content.",
    "sessions": "Every session, the last active first, forks under their parents; and all that was ever said in them.",
    "states": "What runners keep, under whose it is. Every change made here can be taken back.",
    "runners": "Who can run: agents of trackside.yaml, runners, and files that were left out. Typing searches.",
    "form": "A runner's settings. What fits is kept at once, for this agent alone, and {form.undo} takes it back.",
    "field": "One value. Enter takes it, or what is chosen of a list; a page of text is kept by esc.",
}
PANES: Final = frozenset({"prompt", "queue", "stream", "inspector", "conversation", "rail"})
"""All else lies over them, so that what speaks of them waits."""
_TITLED: Final = frozenset({"queue", "stream", "rail"})
"""Panes in which digits lead to the others."""
_WAY_BACK: Final = "One step back, at last to the panes."
"""What esc does over them."""
_STATE: Final = 16
"""Columns of a glyph and its word."""


class Line(NamedTuple):
    """A key and what it does, or words alone."""

    key: str
    words: str
    is_heading: bool = False


def help_text(where: str, width: int, glyphs: Glyphs, commands: Sequence[Command] = COMMANDS) -> Iterator[Line]:
    """All of it, for lines of this width."""
    for words in wrap(keyed(ABOUT.get(where, "")), width):
        yield Line("", words)
    places = ("tabs", "app", "screen") if where in _TITLED else ("app", "screen")
    own = _with_keys(commands, where)
    own = (*own, *_free(_with_keys(commands, WITHIN[where]), own)) if where in WITHIN else own
    shared = _free(_with_keys(commands, *places), own)
    if where not in PANES:
        shared = tuple(_over_the_panes(command) for command in shared if command.over)
    room = max((len(command.all_keys) for command in (*own, *shared)), default=0)
    yield from _keys(own, "Here", room, width)
    yield from _keys(shared, "Everywhere", room, width)
    yield from _heading("States")
    yield from _states(glyphs, width)


def _over_the_panes(command: Command) -> Command:
    return replace(command, help=_WAY_BACK) if command.id == "app.escape" else command


def _with_keys(commands: Sequence[Command], *places: str) -> tuple[Command, ...]:
    return tuple(command for command in of(*places, commands=commands) if command.keys)


def _free(commands: tuple[Command, ...], nearer: tuple[Command, ...]) -> tuple[Command, ...]:
    """Those of which not every key means something else nearer by."""
    taken = {key for command in nearer for key in command.keys.split(",")}
    return tuple(command for command in commands if not set(command.keys.split(",")) <= taken)


def _keys(commands: tuple[Command, ...], otherwise: str, room: int, width: int) -> Iterator[Line]:
    for group, members in groupby(commands, key=lambda command: command.group or otherwise):
        yield from _heading(group)
        for command in members:
            first, *rest = wrap(keyed(command.help), max(10, width - room - 2))
            yield Line(f"{command.all_keys:>{room}}  ", first)
            for words in rest:
                yield Line(" " * (room + 2), words)


def _heading(words: str) -> Iterator[Line]:
    yield Line("", "")
    yield Line("", words, is_heading=True)


def _states(glyphs: Glyphs, width: int) -> Iterator[Line]:
    signs = [f"{glyphs[name]} {word:<{_STATE - 2}}" for name, word in LEGEND]
    beside = max(1, width // _STATE)
    for first in range(0, len(signs), beside):
        yield Line("", "".join(signs[first : first + beside]).rstrip())
