"""The tabs of a narrow screen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive

from console.model.text.piece import Piece
from console.ui.shared.styled_text import StyledText


class PaneTabs(StyledText):
    """Shows the tabs as `[1 Chat]  2 Stream 2.1k  3 State  4 Runs`."""

    DEFAULT_CSS = """
    PaneTabs { height: 1; padding: 0 1; }
    """

    shown: reactive[str] = reactive("")
    counts: reactive[Mapping[str, str]] = reactive({})

    @dataclass
    class Chosen(Message):
        """Posted when the user clicks a tab."""

        name: str

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(id="tabs")
        self._names = names

    def render(self) -> Content:
        return Content("  ").join(self._tab(number, name) for number, name in enumerate(self._names, start=1))

    def on_click(self, event: events.Click) -> None:
        column = 1
        for number, name in enumerate(self._names, start=1):
            width = self._tab(number, name).cell_length
            if column <= event.x < column + width:
                self.post_message(self.Chosen(name))
                return
            column += width + 2

    def jump_offsets(self) -> Iterator[Offset]:
        """Positions of the tabs, for jump mode."""
        column = 1
        for number, name in enumerate(self._names, start=1):
            yield Offset(column, 0)
            column += self._tab(number, name).cell_length + 2

    def _tab(self, number: int, name: str) -> Content:
        text = " ".join([str(number), name.capitalize(), *([self.counts[name]] if name in self.counts else [])])
        is_shown = name == self.shown
        return self.content_of([Piece(f"[{text}]" if is_shown else text, "key" if is_shown else "faint")])
