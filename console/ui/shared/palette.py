"""What the palette finds: commands by their names, and below those by what is said of them."""

import re
from collections.abc import Mapping
from typing import Final

from textual.command import Hit, Hits
from textual.system_commands import SystemCommandsProvider

from console.model.commands.table import COMMANDS

SHORTEST: Final = 3
"""Letters from which on it is looked for in sentences: fewer begin a word of nearly each."""
LAST: Final = 0.01
"""Less than any name has that matches."""
_SAID: Final[Mapping[str, frozenset[str]]] = {
    command.palette: frozenset(re.findall(r"\w+", f"{command.label} {command.help}".lower()))
    for command in COMMANDS
    if command.palette
}
"""The words of each, by its name."""


class Commands(SystemCommandsProvider):
    """Textual's own matches names alone."""

    async def search(self, query: str) -> Hits:
        async for hit in super().search(query):
            yield hit
        matcher, wanted = self.matcher(query), query.lower().split()
        for name, help_text, callback, *_ in self.app.get_system_commands(self.screen):
            if len(query.strip()) >= SHORTEST and not matcher.match(name) and _are_said(wanted, name):
                yield Hit(LAST, name, callback, help=help_text)


def _are_said(wanted: list[str], name: str) -> bool:
    """Whether each of these begins a word that is said of the command."""
    return all(any(word.startswith(part) for word in _SAID.get(name, ())) for part in wanted)
