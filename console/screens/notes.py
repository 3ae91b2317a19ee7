"""A few lines to be read and closed: what is new, what is wrong in a file."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from console.model.safe import one_line
from console.screens.dialog import Dialog
from console.screens.help import EDGES, LEAST, WIDEST


class Notes(Dialog[None]):
    """Under headings, a line each; arrows scroll, esc, enter or q closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss", "close", priority=True)]
    own_keys = (("esc", "close"),)
    DEFAULT_CSS = """
    Notes { align: center middle; }
    Notes > VerticalScroll { width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 0 2; }
    Notes > VerticalScroll { border: round $accent; background: $surface; scrollbar-size-vertical: 1; }
    """

    closing = "esc closes"
    """What its lower edge says."""

    def __init__(self, title: str, notes: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._title = title
        self._notes = notes
        self._text = Static()

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = self.closing
            yield self._text

    def on_resize(self) -> None:
        """In lines of the width that there is."""
        width = max(LEAST, min(WIDEST, self.size.width) - EDGES)
        self._text.update(Content("\n").join([*self._lines(width)][:-1]))

    def _lines(self, width: int) -> Iterator[Content]:
        for heading, notes in self._notes.items():
            yield Content.styled(one_line(heading, 400), "bold $accent")
            for note in notes:
                yield Content("\n".join(wrap(f"· {one_line(note, 400)}", width, subsequent_indent="  ")))
            yield Content("")
