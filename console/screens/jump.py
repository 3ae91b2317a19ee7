"""Letters over all that can be jumped to: one picture of the screen as it was when they were asked for."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from console.acts.jumping import Spot
from console.model.commands import BY_ID
from console.model.jump import Label, in_brackets, labels
from console.screens.dialog import Dialog

_EMPTY: Final = frozenset(" ─━│┃╭╰┌└├+-|")
"""What can be written over without a loss: nothing, and the lines around a pane."""


class Letters(Widget):
    """Draws the screen below, faint, and the letters on it. It stands still, so that no letter moves under a finger."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"letters--label", "letters--rest", "letters--below"}
    DEFAULT_CSS = """
    Letters { width: 1fr; height: 1fr; }
    Letters > .letters--label { background: $accent; color: $background; text-style: bold; }
    Letters > .letters--rest { background: $warning; color: $background; text-style: bold; }
    Letters > .letters--below { color: $text-muted; background: $background; }
    """

    def __init__(self, below: Sequence[Strip], places: Sequence[tuple[str, Spot]]) -> None:
        super().__init__()
        self._below = below
        self._places = places
        self.typed = ""

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        style = self._style("below")
        text = self._below[y] if y < len(self._below) else Strip([])
        line = below = Strip([Segment(segment.text, style) for segment in text]).adjust_cell_length(width, style)
        labels = [
            Label(spot.place.x, label[len(self.typed) :], spot.widget.region.x)
            for label, spot in self._places
            if spot.place.y == y and label.startswith(self.typed)
        ]
        for x, shown in in_brackets(labels, width, lambda at: below.crop(at, at + 1).text in _EMPTY):
            label = Strip([Segment(shown, self._style("rest" if self.typed else "label"))])
            line = Strip.join([line.crop(0, x), label, line.crop(x + len(shown), width)])
        return line

    def _style(self, part: str) -> Style:
        style = self.get_component_rich_style(f"letters--{part}")
        if part == "below":
            return Style(color=style.color, bgcolor=style.bgcolor, bold=style.bold)
        # Turned around by the terminal, so that a label is one also where there are no colours.
        return Style(color=style.bgcolor, bgcolor=style.color, bold=style.bold, reverse=True)


class Jump(Dialog[Spot | None]):
    """A letter, or two, and one is there. Any key that leads nowhere leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "leave", priority=True),
        Binding(BY_ID["app.jump"].keys, "dismiss", "leave", id="app.jump", priority=True),
    ]
    DEFAULT_CSS = """
    Jump { background: $background; }
    """

    def __init__(self, below: Screen[object], found: Sequence[Spot]) -> None:
        super().__init__()
        self._places = list(zip(labels(len(found)), found, strict=False))
        self._letters = Letters(below._compositor.render_strips(), self._places)  # noqa: SLF001  (as Textual's own)

    def compose(self) -> ComposeResult:
        yield self._letters

    def on_key(self, event: events.Key) -> None:
        event.stop()
        if event.key == "backspace":
            self._letters.typed = ""
        elif event.character is not None and event.character.isalpha():
            self._type(event.character.lower())
        else:
            self.dismiss(None)
            return
        self._letters.refresh()

    def on_click(self) -> None:
        self.dismiss(None)

    def on_resize(self, event: events.Resize) -> None:
        """Of another size the picture is not true any more."""
        if self._letters.size.width and event.size != self._letters.size:
            self.dismiss(None)

    def _type(self, letter: str) -> None:
        typed = self._letters.typed + letter
        left = [(label, spot) for label, spot in self._places if label.startswith(typed)]
        if not left:
            self.dismiss(None)
        elif left[0][0] == typed:
            self.dismiss(left[0][1])
        else:
            self._letters.typed = typed
