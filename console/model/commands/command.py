"""A command: one thing that the user can do, with its keys and its texts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from console.model.commands.situation import Situation

WhyNot = Callable[[Situation], str | None]
"""Returns why a command is not available, as a sentence; None if it is available."""


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table."""

    id: str
    """`where.what`. Stable, because a keymap names it."""
    keys: str
    """Textual's key names, separated by commas. Empty: the command is in the palette only."""
    label: str
    """Text in the footer."""
    help: str
    """One sentence for the help screen and the palette."""
    palette: str = ""
    """`noun: Verb`. Empty: the command is not listed in the palette."""
    rank: int = 0
    """Position in the footer, lowest first; 0 keeps the command out of it."""
    why_not: WhyNot = lambda _: None
    action: str = ""
    """Textual's action, if it differs from the command's id."""
    label_for: Callable[[Situation], str] | None = None
    """Computes the footer text, if it depends on the situation."""
    group: str = ""
    """Heading in the help screen."""
    over_screens: bool = False
    """Whether a command of `app` also works while a full screen lies over the panes."""

    @property
    def where(self) -> str:
        """The pane or screen that the command belongs to; `app` means everywhere."""
        return self.id.partition(".")[0]

    @property
    def what(self) -> str:
        """The name of the command within its pane."""
        return self.id.partition(".")[2]

    @property
    def key(self) -> str:
        """The first key as it is printed: `^t`, `f8`, `enter`."""
        return shown_key(self.keys.partition(",")[0])

    @property
    def all_keys(self) -> str:
        """All keys as they are printed: `G end`."""
        return " ".join(shown_key(key) for key in self.keys.split(",")) if self.keys else ""

    def label_in(self, now: Situation) -> str:
        """The footer text in this situation."""
        return self.label if self.label_for is None else self.label_for(now)


def in_group(group: str, *commands: Command) -> tuple[Command, ...]:
    """Return these commands under one heading of the help screen."""
    return tuple(replace(command, group=group) for command in commands)


_SHOWN: Final = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "apostrophe": "'",
    "slash": "/",
    "colon": ":",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "question_mark": "?",
}


def shown_key(key: str) -> str:
    """Return a key as the footer prints it."""
    name = key.strip()
    if name.startswith("ctrl+"):
        return "^" + _SHOWN.get(name[5:], name[5:])
    if name.startswith("shift+") and len(name) == 7:
        return name[6:].upper()
    return _SHOWN.get(name, name)
