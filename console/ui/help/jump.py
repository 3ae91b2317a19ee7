"""What of a screen can be jumped to. To jump is to click without a mouse."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol, runtime_checkable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Offset, Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Button, Input, TextArea

from console.model.commands.jump_labels import Label, make_labels, place_labels
from console.model.commands.table import BY_ID
from console.ui.shared.crash_guard import pane_of
from console.ui.shared.dialog import Dialog
from console.ui.shared.fields import Choice

_END: Final = 3
"""Columns before the end of a field, where letters hardly ever lie on what is written."""


@runtime_checkable
class JumpContainer(Protocol):
    """A widget with more than one place to go to."""

    def jump_offsets(self) -> Iterator[Offset]:
        """Where in it a click has something to choose."""
        ...


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """A place on the screen, and what is there."""

    place: Offset
    widget: Widget
    is_click: bool = True
    """More than to have the focus."""
    action: str = ""
    """What a line offers there; by now it may offer something else."""

    def go(self) -> None:
        """Be there, as if it had been clicked."""
        widget, (x, y) = self.widget, self.place
        if widget.focusable:
            widget.focus()
        if self.action:
            widget.call_later(widget.run_action, self.action)
        elif self.is_click:
            left, top = self.widget.region.offset
            style = widget.screen.get_style_at(x, y)
            widget.post_message(Click(widget, x - left, y - top, 0, 0, 1, False, False, False, x, y, style))


def spots(screen: Screen[object]) -> list[JumpTarget]:
    """All of them: panes and fields first, then rows and tabs, then keys that are shown anyway; no two in one place."""
    found = [*_fields(screen), *_rows(screen), *_links(screen)]
    kept: list[JumpTarget] = []
    taken: set[tuple[int, int]] = set()
    for spot in found:
        x, y = spot.place
        if not {(x, y), (x + 1, y)} & taken:
            taken |= {(x, y), (x + 1, y)}
            kept.append(spot)
    return kept


def _seen(screen: Screen[object]) -> Iterator[tuple[Widget, Region]]:
    """Widgets with the part of them that is in sight."""
    for widget in screen.walk_children(Widget):
        region = screen.find_widget(widget).visible_region if widget.is_on_screen else Region()
        if region:
            yield widget, region


def _fields(screen: Screen[object]) -> Iterator[JumpTarget]:
    """All that can have the focus; a pane is known by its corner, what is written in by its end."""
    for widget, region in _seen(screen):
        if not widget.focusable:
            continue
        pane = pane_of(widget)
        framed = pane if pane is not None and pane.styles.border_top[0] else widget
        if isinstance(framed, Input | TextArea | Choice) and not framed.styles.border_top[0]:
            place = Offset(max(region.x, region.right - _END), region.y)
        else:
            corner = framed.region.offset if framed.is_on_screen else region.offset
            place = corner + Offset(1 if framed.styles.border_left[0] and framed.region.width > 2 else 0, 0)
        yield JumpTarget(place, widget, is_click=isinstance(widget, Button))


def _links(screen: Screen[object]) -> Iterator[JumpTarget]:
    """What a line offers to be clicked: the keys at the bottom."""
    for y, strip in enumerate(screen._compositor.render_strips()):  # noqa: SLF001  (Textual has no other way to see)
        x, before = 0, None
        for segment in strip:
            action = segment.style.meta.get("@click") if segment.style is not None and segment.style._meta else None  # noqa: SLF001
            if action is not None and action != before:
                yield JumpTarget(Offset(x, y), screen.get_widget_at(x, y)[0], action=str(action))
            before = action
            x += segment.cell_length


def _rows(screen: Screen[object]) -> Iterator[JumpTarget]:
    for widget, region in _seen(screen):
        if isinstance(widget, JumpContainer):
            for landing in widget.jump_offsets():
                place = widget.region.offset + landing
                if place in region:
                    yield JumpTarget(place, widget)


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

    def __init__(self, below: Sequence[Strip], places: Sequence[tuple[str, JumpTarget]]) -> None:
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
        for x, shown in place_labels(labels, width, lambda at: below.crop(at, at + 1).text in _EMPTY):
            label = Strip([Segment(shown, self._style("rest" if self.typed else "label"))])
            line = Strip.join([line.crop(0, x), label, line.crop(x + len(shown), width)])
        return line

    def _style(self, part: str) -> Style:
        style = self.get_component_rich_style(f"letters--{part}")
        if part == "below":
            return Style(color=style.color, bgcolor=style.bgcolor, bold=style.bold)
        # Turned around by the terminal, so that a label is one also where there are no colours.
        return Style(color=style.bgcolor, bgcolor=style.color, bold=style.bold, reverse=True)


class Jump(Dialog[JumpTarget | None]):
    """A letter, or two, and one is there. Any key that leads nowhere leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "leave", priority=True),
        Binding(BY_ID["app.jump"].keys, "dismiss", "leave", id="app.jump", priority=True),
    ]
    DEFAULT_CSS = """
    Jump { background: $background; }
    """

    def __init__(self, below: Screen[object], found: Sequence[JumpTarget]) -> None:
        super().__init__()
        self._places = list(zip(make_labels(len(found)), found, strict=False))
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
