"""The search of the palette: commands by their names, and below those by the words of their help."""

import re
from collections.abc import Mapping
from typing import Final

from textual.command import CommandInput, Hit, Hits
from textual.system_commands import SystemCommandsProvider

from console.model.commands.table import COMMANDS
from console.ui.shared.fields import SafeInput

MIN_HELP_LETTERS: Final = 3
"""Shorter queries match the help of nearly every command."""
HELP_SCORE: Final = 0.01
"""Lower than the score of any name that matches."""
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    command.palette: frozenset(re.findall(r"\w+", f"{command.label} {command.help}".lower()))
    for command in COMMANDS
    if command.palette
}
"""The words of the label and the help of each command, by its name in the palette."""


class PaletteInput(CommandInput, SafeInput):
    """The search line of the palette. Textual looks it up as a `CommandInput`."""


class Commands(SystemCommandsProvider):
    """Adds to Textual's provider, which matches names only."""

    async def search(self, query: str) -> Hits:
        async for hit in super().search(query):
            yield hit
        matcher, wanted = self.matcher(query), query.lower().split()
        for name, help_text, callback, *_ in self.app.get_system_commands(self.screen):
            if len(query.strip()) >= MIN_HELP_LETTERS and not matcher.match(name) and _are_words_of(wanted, name):
                yield Hit(HELP_SCORE, name, callback, help=help_text)


def _are_words_of(wanted: list[str], name: str) -> bool:
    """Whether each of these begins a word of the command's label or help."""
    return all(any(word.startswith(part) for word in _WORDS.get(name, ())) for part in wanted)
