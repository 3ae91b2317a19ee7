"""Where a widget is on the screen, and the text that is shown there."""

from contextlib import suppress
from typing import Any

from textual.errors import NoWidget
from textual.geometry import Offset, Region
from textual.pilot import Pilot
from textual.widget import Widget

from console.app import Trackside
from tests.support.console.pilot import shown, until


def visible_region(widget: Widget) -> Region:
    """Return the visible part of a widget, which is empty if the widget is hidden."""
    with suppress(NoWidget):
        return widget.screen.find_widget(widget).visible_region
    return Region()


def text_in(app: Trackside, pane: Widget) -> str:
    """Return the text of one pane, without the rest of the screen."""
    region = pane.region
    lines = shown(app).split("\n")[region.y : region.bottom]
    return "\n".join(line[region.x : region.right] for line in lines)


async def find_text(pilot: Pilot[Any], app: Trackside, text: str, within: Widget | None = None) -> Offset:
    """Wait until the text is on the screen, or in one widget, and return its place on the screen."""
    await until(pilot, lambda: _offset_of(app, text, within) is not None)
    offset = _offset_of(app, text, within)
    assert offset is not None
    return offset


def _offset_of(app: Trackside, text: str, within: Widget | None) -> Offset | None:
    region = app.screen.region if within is None else within.region
    for y, line in enumerate(shown(app).split("\n")):
        x = line.find(text, region.x)
        if region.y <= y < region.bottom and 0 <= x < region.right:
            return Offset(x, y)
    return None
