"""The help dialog for the current pane."""

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from console.model.commands.help import HelpLine, help_text
from console.model.commands.table import BY_ID, COMMANDS, Command
from console.ui.shared.dialog import Dialog

MAX_WIDTH_COLUMNS: Final = 76
EDGE_COLUMNS: Final = 8
"""Columns of the border, the padding and the scrollbar."""
MIN_WRAP_COLUMNS: Final = 30
"""Narrower text is cut, not wrapped."""


class Help(Dialog[None]):
    """Lists the keys of a pane. Arrows scroll; esc, enter, q or the help key closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "close", priority=True),
        Binding(BY_ID["app.help"].keys, "dismiss", "close", id="app.help", priority=True),
        Binding("t", "tour", "tour"),
    ]
    own_keys = (("t", "tour"), ("esc", "close"))
    DEFAULT_CSS = """
    Help { align: center middle; }
    Help > VerticalScroll { width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 0 2; }
    Help > VerticalScroll { border: round $accent; background: $surface; scrollbar-size-vertical: 1; }
    """

    def __init__(self, where: str, commands: Sequence[Command] = COMMANDS) -> None:
        super().__init__()
        self._where = where
        self._commands = commands
        self._text = Static()

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = f"Help · {self._where}"
            box.border_subtitle = "arrows scroll · t tour · esc close"
            yield self._text

    async def action_tour(self) -> None:
        """Close the help and start the tour."""
        self.dismiss()
        await self.app.run_action("app.perform('app.tour')")

    def on_resize(self) -> None:
        """Wrap the text to the width."""
        lines = help_text(
            self._where,
            max(MIN_WRAP_COLUMNS, min(MAX_WIDTH_COLUMNS, self.size.width) - EDGE_COLUMNS),
            self._commands,
        )
        self._text.update(Content("\n").join(_shown(line) for line in lines))


def _shown(line: HelpLine) -> Content:
    return Content.assemble((line.key, "bold $accent"), (line.text, "bold" if line.is_heading else ""))
