"""Help about the pane one is in: its keys and those of everywhere, from the table of commands."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.model.commands import COMMANDS, Command

ABOUT = {
    "prompt": "Type, enter sends. While a run works it is steered: what you say lands at its next pull.",
    "queue": "What waits to be said. It can be changed until the runner pulls it.",
    "stream": "Everything a run did, in order. Moving here shows the world as of that entry.",
    "inspector": "One entry in full, and state, context, calls and receipts as of it.",
    "conversation": "What was said, and what the runner did meanwhile.",
    "rail": "Runs and sessions, newest first. Enter opens one.",
}


class Help(ModalScreen[None]):
    """Any key closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q,enter", "dismiss", "close", priority=True)]
    DEFAULT_CSS = """
    Help { align: center middle; }
    Help > VerticalScroll { width: 76; max-width: 96%; height: auto; max-height: 90%; padding: 0 2; }
    Help > VerticalScroll { border: round $accent; background: $surface; }
    """

    def __init__(self, where: str, bindings: Iterable[tuple[str, str]]) -> None:
        super().__init__()
        self._where = where
        self._own = tuple(bindings)
        """Keys and words of the pane itself."""

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = f"Help · {self._where}"
            box.border_subtitle = "esc closes"
            yield Static(Content("\n").join(self._lines()))

    def _lines(self) -> Iterator[Content]:
        if self._where in ABOUT:
            yield Content(ABOUT[self._where])
            yield Content("")
        for key, words in self._own:
            yield _line(key, words)
        yield Content("")
        yield Content.styled("Everywhere", "bold")
        for command in COMMANDS:
            if command.where == "app" and command.keys:
                yield _line(command.key, command.help)


def _line(key: str, words: str) -> Content:
    return Content.assemble((f"{key:>12}  ", "bold $accent"), words)


def keys_in(where: str) -> Iterator[tuple[str, str]]:
    """Of the commands of a pane, the first key and what it does."""
    own: Iterable[Command] = (command for command in COMMANDS if command.where == where and command.keys)
    return ((command.key, command.help) for command in own)
