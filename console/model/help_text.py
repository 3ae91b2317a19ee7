"""What the help says about a pane, in lines that fit: its keys and those of everywhere, and what the glyphs mean."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from textwrap import wrap
from typing import Final, NamedTuple

from console.model.commands import Command, of
from console.model.glyphs import LEGEND, Glyphs

ABOUT: Final[Mapping[str, str]] = {
    "prompt": "Type, enter sends. While a run works it is steered: what you say lands at its next pull.",
    "queue": "What waits to be said. It can be changed until the runner pulls it.",
    "stream": "Everything a run did, in order. Moving here shows the world as of that entry.",
    "inspector": "One entry in full, and state, context, calls and receipts as of it.",
    "conversation": "What was said, and what the runner did meanwhile. What you type goes to the prompt.",
    "rail": "Runs and sessions, newest first. Enter opens one.",
}
_TITLED: Final = frozenset({"queue", "stream", "rail"})
"""Panes in which digits lead to the others."""
_STATE: Final = 16
"""Columns of a glyph and its word."""


class Line(NamedTuple):
    """A key and what it does, or words alone."""

    key: str
    words: str
    is_heading: bool = False


def help_text(where: str, width: int, glyphs: Glyphs) -> Iterator[Line]:
    """All of it, for lines of this width."""
    for words in wrap(ABOUT.get(where, ""), width):
        yield Line("", words)
    places = ("tabs", "app", "screen") if where in _TITLED else ("app", "screen")
    own, shared = _with_keys(where), _with_keys(*places)
    room = max((len(command.all_keys) for command in (*own, *shared)), default=0)
    yield from _keys(own, "Here", room, width)
    yield from _keys(shared, "Everywhere", room, width)
    yield from _heading("States")
    yield from _states(glyphs, width)


def _with_keys(*places: str) -> tuple[Command, ...]:
    return tuple(command for command in of(*places) if command.keys)


def _keys(commands: tuple[Command, ...], otherwise: str, room: int, width: int) -> Iterator[Line]:
    for group, members in groupby(commands, key=lambda command: command.group or otherwise):
        yield from _heading(group)
        for command in members:
            first, *rest = wrap(command.help, max(10, width - room - 2))
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
