"""Performs the reads that a timeline requests."""

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from console.model.stream.index import EntriesRequest, HeadsRequest, ReadRequest
from console.model.stream.timeline import Timeline
from engine.events import Entry, EntryHead

MAX_GAP_ENTRIES: Final = 8
"""Unneeded entries between two needed ones that are read rather than starting another read."""


class JournalReader(Protocol):
    """Reads journals: the engine, or a list in tests."""

    async def index(self, run_id: str, *, after: int = 0, limit: int = ...) -> list[EntryHead]: ...
    async def journal(self, run_id: str, *, after: int | None = ..., limit: int = ...) -> list[Entry]: ...
    async def find_text(self, run_id: str, text: str, *, first: int, last: int) -> list[int]: ...


async def perform_read(timeline: Timeline, request: ReadRequest, journals: JournalReader) -> None:
    """Perform one read that a timeline has requested. After a failure the timeline may request it again."""
    run_id = timeline.run_id
    try:
        if isinstance(request, HeadsRequest):
            timeline.add_heads(request, await journals.index(run_id, after=request.after, limit=request.limit))
        elif isinstance(request, EntriesRequest):
            entries: list[Entry] = []
            for first, last in read_ranges(request.positions):
                entries += await journals.journal(run_id, after=first - 1, limit=last - first + 1)
            timeline.add_entries(request, entries)
        else:
            found = await journals.find_text(run_id, request.text, first=request.first, last=request.last)
            timeline.add_matches(request, found)
    except BaseException:
        timeline.read_failed(request)
        raise


def read_ranges(positions: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges, first to last, in which ascending positions are read."""
    first = last = 0
    for position in positions:
        if first and position - last > MAX_GAP_ENTRIES:
            yield first, last
            first = 0
        first, last = first or position, position
    if first:
        yield first, last
