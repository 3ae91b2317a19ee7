"""The line with the tab names."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from console.ui.shared.crash_guard import PaneGuard

_FULL, _SHORT, _NUMBERS = range(3)
"""Forms of the names: full, short, or numbers for all but the open tab."""
LAYOUTS: Final = ((" │ ", _FULL), (" ", _FULL), (" ", _SHORT), (" ", _NUMBERS))
"""Separator and form of the names, the widest first."""


class TabStrip(PaneGuard, Widget):
    """The names of the tabs, as long as there is room for; each can be clicked."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"strip--shown", "strip--other", "strip--between", "strip--remark"}
    DEFAULT_CSS = """
    TabStrip { height: 1; padding: 0 1; }
    TabStrip > .strip--shown { color: $text-accent; text-style: bold underline; }
    TabStrip > .strip--other { color: $text-muted; }
    TabStrip > .strip--between { color: $text-disabled; }
    TabStrip > .strip--remark { color: $text-accent; text-style: bold; }
    """

    shown: reactive[int] = reactive(0)
    remark: reactive[str] = reactive("")
    """Shown at the right edge if there is room."""

    @dataclass
    class Chosen(Message):
        """Posted when the user clicks a tab."""

        index: int

    def __init__(self, names: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self._names = names
        """Full and short name by tab."""
        self._ends: list[int] = []
        """The column behind each name and its separator."""

    def render(self) -> Content:
        width = self.content_size.width
        layouts = [(between, self._names_in(form)) for between, form in LAYOUTS]
        between, names = next((layout for layout in layouts if _columns(*layout) <= width), layouts[-1])
        self._ends, end, parts = [], 0, list[Content]()
        for index, name in enumerate(names):
            style = "strip--shown" if index == self.shown else "strip--other"
            parts.append(Content.styled(name, self.get_visual_style(style)))
            end += cell_len(name) + cell_len(between)
            self._ends.append(end)
        line = Content.styled(between, self.get_visual_style("strip--between")).join(parts)
        room = width - _columns(between, names)
        if self.remark and room > len(self.remark) + 1:
            remark = Content.styled(self.remark, self.get_visual_style("strip--remark"))
            line = Content.assemble(line, " " * (room - len(self.remark)), remark)
        return line

    def on_click(self, event: events.Click) -> None:
        column = event.x - self.styles.padding.left
        index = next((index for index, end in enumerate(self._ends) if column < end), None)
        if index is not None and column >= 0:
            self.post_message(self.Chosen(index))

    def jump_offsets(self) -> Iterator[Offset]:
        """The offsets of the names, for jump mode."""
        yield from (Offset(self.styles.padding.left + start, 0) for start in [0, *self._ends][: len(self._ends)])

    def _names_in(self, form: int) -> list[str]:
        if form == _NUMBERS:
            return [pair[_SHORT] if index == self.shown else str(index + 1) for index, pair in enumerate(self._names)]
        return [pair[form] for pair in self._names]


def _columns(between: str, names: list[str]) -> int:
    return sum(cell_len(name) for name in names) + cell_len(between) * (len(names) - 1)
