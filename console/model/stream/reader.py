"""Reads the entries that a timeline asks for."""

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from console.model.stream.index import EntriesWanted, MarksWanted, Want
from console.model.stream.timeline import Timeline
from engine.events import Entry, EntryHead

GAP: Final = 8
"""Unneeded entries between two needed ones that are read rather than starting another read."""


class JournalReader(Protocol):
    """Reads journals: the engine, or a list in tests."""

    async def index(self, run_id: str, *, after: int = 0, limit: int = ...) -> list[EntryHead]: ...
    async def journal(self, run_id: str, *, after: int | None = ..., limit: int = ...) -> list[Entry]: ...
    async def find_text(self, run_id: str, text: str, *, first: int, last: int) -> list[int]: ...


async def supply(timeline: Timeline, want: Want, journals: JournalReader) -> None:
    """Carry out one read request of a timeline. After a failure the timeline may request it again."""
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
            found = await journals.find_text(run_id, want.text, first=want.first, last=want.last)
            timeline.take_matches(want, found)
    except BaseException:
        timeline.give_up(want)
        raise


def stretches(positions: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The ranges in which rising positions are read."""
    first = last = 0
    for position in positions:
        if first and position - last > GAP:
            yield first, last
            first = 0
        first, last = first or position, position
    if first:
        yield first, last
