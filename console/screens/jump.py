"""Letters over all that can be jumped to: one picture of the screen as it was when they were asked for."""

from collections.abc import Sequence
from typing import ClassVar

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
from console.model.jump import labels
from console.screens.dialog import Dialog


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
        line = Strip([Segment(segment.text, style) for segment in text]).adjust_cell_length(width, style)
        for label, spot in self._places:
            if spot.place.y == y and label.startswith(self.typed):
                line = self._put(line, label, spot.place.x, width)
        return line

    def _put(self, line: Strip, label: str, x: int, width: int) -> Strip:
        left = label[len(self.typed) :]
        x = min(x, width - len(left))
        shown = Strip([Segment(left, self._style("rest" if self.typed else "label"))])
        return Strip.join([line.crop(0, x), shown, line.crop(x + len(left), width)])

    def _style(self, part: str) -> Style:
        style = self.get_component_rich_style(f"letters--{part}")
        return Style(color=style.color, bgcolor=style.bgcolor, bold=style.bold)


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
