"""What of a screen can be jumped to. To jump is to click without a mouse."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from textual.events import Click
from textual.geometry import Offset, Region
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input, TextArea

from console.widgets.fields import Choice
from console.widgets.guard import pane_of

_END: Final = 3
"""Columns before the end of a field, where letters hardly ever lie on what is written."""


@runtime_checkable
class Landing(Protocol):
    """A widget with more than one place to go to."""

    def landings(self) -> Iterator[Offset]:
        """Where in it a click has something to choose."""
        ...


@dataclass(frozen=True, slots=True)
class Spot:
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


def spots(screen: Screen[object]) -> list[Spot]:
    """All of them: panes and fields first, then rows and tabs, then keys that are shown anyway; no two in one place."""
    found = [*_fields(screen), *_rows(screen), *_links(screen)]
    kept: list[Spot] = []
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


def _fields(screen: Screen[object]) -> Iterator[Spot]:
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
        yield Spot(place, widget, is_click=isinstance(widget, Button))


def _links(screen: Screen[object]) -> Iterator[Spot]:
    """What a line offers to be clicked: the keys at the bottom."""
    for y, strip in enumerate(screen._compositor.render_strips()):  # noqa: SLF001  (Textual has no other way to see)
        x, before = 0, None
        for segment in strip:
            action = segment.style.meta.get("@click") if segment.style is not None and segment.style._meta else None  # noqa: SLF001
            if action is not None and action != before:
                yield Spot(Offset(x, y), screen.get_widget_at(x, y)[0], action=str(action))
            before = action
            x += segment.cell_length


def _rows(screen: Screen[object]) -> Iterator[Spot]:
    for widget, region in _seen(screen):
        if isinstance(widget, Landing):
            for landing in widget.landings():
                place = widget.region.offset + landing
                if place in region:
                    yield Spot(place, widget)
