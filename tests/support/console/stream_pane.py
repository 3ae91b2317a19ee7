"""The stream pane in an app of its own: how tests open it, press its keys and read its rows."""

from collections.abc import Sequence
from typing import Any

from textual.pilot import Pilot

from console.model.stream.timeline import Timeline
from console.ui.stream.pane import StreamPane
from engine.api import Entry
from tests.support.console.stream_data import Lists, PaneApp, entry

WIDE = (100, 24)


def past(entries: Sequence[Entry], **options: Any) -> PaneApp:
    """The pane with a run that is over: its entries are read when they are needed."""
    return PaneApp(Timeline("run", last=len(entries)), Lists(entries), **options)


def live(entries: Sequence[Entry], **options: Any) -> PaneApp:
    """The pane with a run in progress that has sent these entries."""
    timeline = Timeline("run")
    timeline.append(entries)
    return PaneApp(timeline, Lists(entries), **options)


def notes(count: int, start: int = 1) -> list[Entry]:
    """Entries that each have a row."""
    return [
        entry(position, "output", {"stream": "out", "text": f"n{position}"}) for position in range(start, start + count)
    ]


async def press(app: PaneApp, pilot: Pilot[None], *keys: str) -> None:
    """Press keys, and after each wait until the pane has its entries."""
    for key in keys:
        await pilot.press(key)
        await app.settle()
    await pilot.pause()


def rows(app: PaneApp) -> list[str]:
    """The rows without heading and borders."""
    return [line for line in app.screen_text[2:-1] if line]


def subtitle(app: PaneApp) -> str:
    """The text in the bottom border."""
    return app.screen_text[-1].strip("─╯ ")


def cursors(app: PaneApp) -> list[int | None]:
    """The positions that the pane has posted."""
    return [event.position for event in app.posted if isinstance(event, StreamPane.CursorMoved)]


def column(app: PaneApp, name: str) -> list[str]:
    """The texts of a column."""
    span = {"#": (0, 7), "time": (8, 19)}[name]
    return [row[slice(*span)].strip(" ›") for row in rows(app)]


async def type_filter(app: PaneApp, pilot: Pilot[None], text: str) -> None:
    await pilot.press("slash", *["space" if each == " " else each for each in text], "enter")
    await app.settle()
    await pilot.pause()
