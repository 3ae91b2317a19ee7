"""Help about the pane one is in."""

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.model.glyphs import Glyphs
from console.model.help_text import Line, help_text

WIDEST: Final = 76
_EDGES: Final = 8
"""Columns of the border, the padding and the scrollbar."""
_LEAST: Final = 30
"""Columns below which nothing is wrapped any more: it is cut."""


class Help(ModalScreen[None]):
    """Arrows scroll; esc, enter, q or f1 again closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q,enter", "dismiss", "close", priority=True)]
    DEFAULT_CSS = """
    Help { align: center middle; }
    Help > VerticalScroll { width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 0 2; }
    Help > VerticalScroll { border: round $accent; background: $surface; scrollbar-size-vertical: 1; }
    """

    def __init__(self, where: str, glyphs: Glyphs) -> None:
        super().__init__()
        self._where = where
        self._glyphs = glyphs
        self._text = Static()

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = f"Help · {self._where}"
            box.border_subtitle = "arrows scroll · esc closes"
            yield self._text

    def on_resize(self) -> None:
        """In lines of the width that there is."""
        lines = help_text(self._where, max(_LEAST, min(WIDEST, self.size.width) - _EDGES), self._glyphs)
        self._text.update(Content("\n").join(_shown(line) for line in lines))


def _shown(line: Line) -> Content:
    return Content.assemble((line.key, "bold $accent"), (line.words, "bold" if line.is_heading else ""))
