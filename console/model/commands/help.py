"""The lines of the help screen for a pane: its keys, the keys of `app`, and the meaning of the glyphs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import wrap
from typing import Final, NamedTuple

from console.model.commands.key_labels import with_keys
from console.model.commands.table import COMMANDS, ENCLOSING_PLACE, Command, commands_of
from console.model.text.glyphs import GLYPHS, LEGEND

ABOUT: Final[Mapping[str, str]] = {
    "prompt": "Type, {prompt.send} sends. During a run it steers: the message is delivered at the next steering point.",
    "queue": "Queued messages. They can be edited until the runner pulls them.",
    "stream": "All entries of a run, in order. Moving here shows everything as of that entry.",
    "inspector": "One entry in full, and state, context, calls and receipts as of that entry.",
    "conversation": "The messages of the session and what the runner did. Typed text goes to the prompt.",
    "rail": "Runs and sessions, newest first. {rail.open} opens one.",
    "composer": "Compose an event: six types, each with a default actor and subject. esc keeps the draft.",
    "choice": "A fixed set of options. Another event type sets its own default actor and subject; your input stays.",
    "files": "Files that are sent with the event.",
    "artifacts": "Artifacts of runs and files of events. Tab switches between the list and the content.",
    "sessions": "All sessions, last active first, forks under their parents. Search finds titles and messages.",
    "states": "The state of runners, by scope. Every change made here can be undone.",
    "runners": "Agents of trackside.yaml, runners, and files that were left out. Type to search.",
    "form": "The settings of a runner. Valid values are saved at once, for this agent only; {form.undo} undoes.",
    "field": "One value. Enter applies it, or the selected option; esc saves a text of several lines.",
}
PANES: Final = frozenset({"prompt", "queue", "stream", "inspector", "conversation", "rail"})
"""All other places are full screens over the panes, where commands of the panes do not work."""
_PANES_WITH_TAB_KEYS: Final = frozenset({"queue", "stream", "rail"})
"""Panes in which digits go to the other panes."""
_ESCAPE_ON_SCREENS: Final = "Go back one step, finally to the panes."
_GLYPH_COLUMNS: Final = 16
"""Columns of a glyph and its meaning."""


class HelpLine(NamedTuple):
    """A key and what it does, or text alone."""

    key: str
    text: str
    is_heading: bool = False


def help_text(where: str, width: int, commands: Sequence[Command] = COMMANDS) -> Iterator[HelpLine]:
    """Yield all lines of the help for a pane, wrapped to this width."""
    for text in wrap(with_keys(ABOUT.get(where, "")), width):
        yield HelpLine("", text)
    places = ("tabs", "app", "screen") if where in _PANES_WITH_TAB_KEYS else ("app", "screen")
    own = _commands_with_keys(commands, where)
    if where in ENCLOSING_PLACE:
        own += _not_hidden(_commands_with_keys(commands, ENCLOSING_PLACE[where]), own)
    shared = _not_hidden(_commands_with_keys(commands, *places), own)
    if where not in PANES:
        shared = tuple(_for_full_screen(command) for command in shared if command.over_screens)
    key_columns = max((len(command.all_keys) for command in (*own, *shared)), default=0)
    yield from _key_lines(own, "Here", key_columns, width)
    yield from _key_lines(shared, "Everywhere", key_columns, width)
    yield from _heading("Glyphs")
    yield from _legend(width)


def _for_full_screen(command: Command) -> Command:
    return replace(command, help=_ESCAPE_ON_SCREENS) if command.id == "app.escape" else command


def _commands_with_keys(commands: Sequence[Command], *places: str) -> tuple[Command, ...]:
    return tuple(command for command in commands_of(*places, commands=commands) if command.keys)


def _not_hidden(commands: tuple[Command, ...], hiding: tuple[Command, ...]) -> tuple[Command, ...]:
    """The commands that have at least one key that no command of `hiding` has."""
    taken = {key for command in hiding for key in command.keys.split(",")}
    return tuple(command for command in commands if not set(command.keys.split(",")) <= taken)


def _key_lines(commands: tuple[Command, ...], default_group: str, key_columns: int, width: int) -> Iterator[HelpLine]:
    for group, members in groupby(commands, key=lambda command: command.group or default_group):
        yield from _heading(group)
        for command in members:
            first, *rest = wrap(with_keys(command.help), max(10, width - key_columns - 2))
            yield HelpLine(f"{command.all_keys:>{key_columns}}  ", first)
            for text in rest:
                yield HelpLine(" " * (key_columns + 2), text)


def _heading(text: str) -> Iterator[HelpLine]:
    yield HelpLine("", "")
    yield HelpLine("", text, is_heading=True)


def _legend(width: int) -> Iterator[HelpLine]:
    signs = [f"{GLYPHS[name]} {word:<{_GLYPH_COLUMNS - 2}}" for name, word in LEGEND]
    per_line = max(1, width // _GLYPH_COLUMNS)
    for first in range(0, len(signs), per_line):
        yield HelpLine("", "".join(signs[first : first + per_line]).rstrip())
