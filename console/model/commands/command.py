"""What a command is: one thing that a person can do, with its keys and its words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from console.model.situation import Situation

WhyNot = Callable[[Situation], str | None]
"""Why a command cannot be carried out now; nothing where it can."""


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table."""

    id: str
    """`where.what`; stable, so that a keymap can name it."""
    keys: str
    """Textual's names, several by comma; empty: from the palette only."""
    words: str
    """What the footer says."""
    help: str
    """One sentence."""
    palette: str = ""
    """`noun: Verb`; empty: a move that nobody looks for by name."""
    rank: int = 0
    """Its place in the footer, the lowest first; 0 keeps it out."""
    why_not: WhyNot = lambda _: None
    action: str = ""
    """Textual's action, where it is not the command's own id."""
    says: Callable[[Situation], str] | None = None
    """What the footer says, where that depends on the moment."""
    group: str = ""
    """The heading that it stands under in the help."""
    over: bool = False
    """One of everywhere that can be carried out over a full screen, too: it does not speak of the panes."""

    @property
    def where(self) -> str:
        """The pane it belongs to; `app` is everywhere."""
        return self.id.partition(".")[0]

    @property
    def what(self) -> str:
        """Its name within the pane."""
        return self.id.partition(".")[2]

    @property
    def key(self) -> str:
        """Its first key as people read it: `^t`, `f8`, `enter`."""
        return shown_key(self.keys.partition(",")[0])

    @property
    def all_keys(self) -> str:
        """All of them: `G end`."""
        return " ".join(shown_key(key) for key in self.keys.split(",")) if self.keys else ""

    def words_in(self, now: Situation) -> str:
        """What the footer says at this moment."""
        return self.words if self.says is None else self.says(now)


def grouped(group: str, *commands: Command) -> tuple[Command, ...]:
    """These, under one heading."""
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
    """A key as the footer prints it."""
    name = key.strip()
    if name.startswith("ctrl+"):
        return "^" + _SHOWN.get(name[5:], name[5:])
    if name.startswith("shift+") and len(name) == 7:
        return name[6:].upper()
    return _SHOWN.get(name, name)
