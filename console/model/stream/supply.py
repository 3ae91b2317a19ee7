"""Reads what a timeline wants; the timeline itself never waits."""

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from console.model.stream.timeline import Timeline
from console.model.stream.wants import EntriesWanted, MarksWanted, Want
from engine.events import Entry, Mark

GAP: Final = 8
"""Entries that are read and not needed, rather than beginning another read."""


class Journals(Protocol):
    """What reads journals: the engine, or a list in a test."""

    async def index(self, run_id: str, *, after: int = 0, limit: int = ...) -> list[Mark]: ...
    async def journal(self, run_id: str, *, after: int | None = ..., limit: int = ...) -> list[Entry]: ...
    async def find(self, run_id: str, text: str, *, first: int, last: int) -> list[int]: ...


async def supply(timeline: Timeline, want: Want, journals: Journals) -> None:
    """Read one thing that is wanted and hand it over; what could not be read may be wanted again."""
    run_id = timeline.run_id
    try:
        if isinstance(want, MarksWanted):
            timeline.take_marks(want, await journals.index(run_id, after=want.after, limit=want.limit))
        elif isinstance(want, EntriesWanted):
            entries: list[Entry] = []
            for first, last in stretches(want.positions):
                entries += await journals.journal(run_id, after=first - 1, limit=last - first + 1)
            timeline.take_entries(want, entries)
        else:
            found = await journals.find(run_id, want.text, first=want.first, last=want.last)
            timeline.take_matches(want, found)
    except BaseException:
        timeline.give_up(want)
        raise


def stretches(positions: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First and last of the parts that rising positions are read in."""
    first = last = 0
    for position in positions:
        if first and position - last > GAP:
            yield first, last
            first = 0
        first, last = first or position, position
    if first:
        yield first, last
