"""Jump mode: labels every target on the screen with letters; typing them acts like a click there."""

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

_COLUMNS_BEFORE_END: Final = 3
"""A label of an input field starts this many columns before its end, where it rarely covers text."""


@runtime_checkable
class JumpContainer(Protocol):
    """A widget that contains jump targets."""

    def jump_offsets(self) -> Iterator[Offset]:
        """The offsets in the widget at which a click does something."""
        ...


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """A target of jump mode."""

    offset: Offset
    """Where it is on the screen."""
    widget: Widget
    is_click: bool = True
    """Whether the widget is also clicked, not only focused."""
    action: str = ""
    """The action of a link there when jump mode was opened; the link may have changed since."""

    def activate(self) -> None:
        """Focus the widget, and run the action or click at the offset."""
        widget, (x, y) = self.widget, self.offset
        if widget.focusable:
            widget.focus()
        if self.action:
            widget.call_later(widget.run_action, self.action)
        elif self.is_click:
            left, top = self.widget.region.offset
            style = widget.screen.get_style_at(x, y)
            widget.post_message(Click(widget, x - left, y - top, 0, 0, 1, False, False, False, x, y, style))


def find_targets(screen: Screen[object]) -> list[JumpTarget]:
    """All targets without overlaps: panes and fields first, then rows and tabs, then the keys of the footer."""
    targets: list[JumpTarget] = []
    taken: set[tuple[int, int]] = set()
    for target in (*_fields(screen), *_rows(screen), *_links(screen)):
        x, y = target.offset
        if not {(x, y), (x + 1, y)} & taken:
            taken |= {(x, y), (x + 1, y)}
            targets.append(target)
    return targets


def _visible(screen: Screen[object]) -> Iterator[tuple[Widget, Region]]:
    """The visible widgets with their visible regions."""
    for widget in screen.walk_children(Widget):
        region = screen.find_widget(widget).visible_region if widget.is_on_screen else Region()
        if region:
            yield widget, region


def _fields(screen: Screen[object]) -> Iterator[JumpTarget]:
    """Every focusable widget: the target of a pane is its corner, that of an input field is its end."""
    for widget, region in _visible(screen):
        if not widget.focusable:
            continue
        pane = pane_of(widget)
        framed = pane if pane is not None and pane.styles.border_top[0] else widget
        if isinstance(framed, Input | TextArea | Choice) and not framed.styles.border_top[0]:
            offset = Offset(max(region.x, region.right - _COLUMNS_BEFORE_END), region.y)
        else:
            corner = framed.region.offset if framed.is_on_screen else region.offset
            offset = corner + Offset(1 if framed.styles.border_left[0] and framed.region.width > 2 else 0, 0)
        yield JumpTarget(offset, widget, is_click=isinstance(widget, Button))


def _links(screen: Screen[object]) -> Iterator[JumpTarget]:
    """The links on the screen, such as the keys of the footer."""
    for y, strip in enumerate(screen._compositor.render_strips()):  # noqa: SLF001  (Textual has no public access)
        x, before = 0, None
        for segment in strip:
            action = segment.style.meta.get("@click") if segment.style is not None and segment.style._meta else None  # noqa: SLF001
            if action is not None and action != before:
                yield JumpTarget(Offset(x, y), screen.get_widget_at(x, y)[0], action=str(action))
            before = action
            x += segment.cell_length


def _rows(screen: Screen[object]) -> Iterator[JumpTarget]:
    for widget, region in _visible(screen):
        if isinstance(widget, JumpContainer):
            for inside in widget.jump_offsets():
                offset = widget.region.offset + inside
                if offset in region:
                    yield JumpTarget(offset, widget)


_BLANK_CHARACTERS: Final = frozenset(" ─━│┃╭╰┌└├+-|")
"""Characters that a label may cover: spaces and borders."""


class JumpLabels(Widget):
    """Draws a faint copy of the screen below with the labels on it. The copy is not updated, so that no label moves."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"jump-labels--label", "jump-labels--rest", "jump-labels--below"}
    DEFAULT_CSS = """
    JumpLabels { width: 1fr; height: 1fr; }
    JumpLabels > .jump-labels--label { background: $accent; color: $background; text-style: bold; }
    JumpLabels > .jump-labels--rest { background: $warning; color: $background; text-style: bold; }
    JumpLabels > .jump-labels--below { color: $text-muted; background: $background; }
    """

    def __init__(self, below: Sequence[Strip], targets: Sequence[tuple[str, JumpTarget]]) -> None:
        super().__init__()
        self._below = below
        self._targets = targets
        self.typed = ""

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        style = self._style("below")
        text = self._below[y] if y < len(self._below) else Strip([])
        line = below = Strip([Segment(segment.text, style) for segment in text]).adjust_cell_length(width, style)
        labels = [
            Label(target.offset.x, label[len(self.typed) :], target.widget.region.x)
            for label, target in self._targets
            if target.offset.y == y and label.startswith(self.typed)
        ]
        for x, shown in place_labels(labels, width, lambda at: below.crop(at, at + 1).text in _BLANK_CHARACTERS):
            label = Strip([Segment(shown, self._style("rest" if self.typed else "label"))])
            line = Strip.join([line.crop(0, x), label, line.crop(x + len(shown), width)])
        return line

    def _style(self, part: str) -> Style:
        style = self.get_component_rich_style(f"jump-labels--{part}")
        if part == "below":
            return Style(color=style.color, bgcolor=style.bgcolor, bold=style.bold)
        # Reversed by the terminal, so that a label is visible without colours too.
        return Style(color=style.bgcolor, bgcolor=style.color, bold=style.bold, reverse=True)


class JumpMode(Dialog[JumpTarget | None]):
    """Returns the target whose letters were typed, or None after any other key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close", priority=True),
        Binding(BY_ID["app.jump"].keys, "dismiss", "close", id="app.jump", priority=True),
    ]
    DEFAULT_CSS = """
    JumpMode { background: $background; }
    """

    def __init__(self, below: Screen[object], targets: Sequence[JumpTarget]) -> None:
        super().__init__()
        self._targets = list(zip(make_labels(len(targets)), targets, strict=False))
        self._labels = JumpLabels(below._compositor.render_strips(), self._targets)  # noqa: SLF001

    def compose(self) -> ComposeResult:
        yield self._labels

    def on_key(self, event: events.Key) -> None:
        event.stop()
        if event.key == "backspace":
            self._labels.typed = ""
        elif event.character is not None and event.character.isalpha():
            self._type(event.character.lower())
        else:
            self.dismiss(None)
            return
        self._labels.refresh()

    def on_click(self) -> None:
        self.dismiss(None)

    def on_resize(self, event: events.Resize) -> None:
        """Close: the copy of the screen no longer matches."""
        if self._labels.size.width and event.size != self._labels.size:
            self.dismiss(None)

    def _type(self, letter: str) -> None:
        typed = self._labels.typed + letter
        matching = [(label, target) for label, target in self._targets if label.startswith(typed)]
        if not matching:
            self.dismiss(None)
        elif matching[0][0] == typed:
            self.dismiss(matching[0][1])
        else:
            self._labels.typed = typed
