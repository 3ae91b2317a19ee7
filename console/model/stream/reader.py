"""Performs the reads that a timeline requests."""

from collections.abc import Sequence
from typing import Protocol

from console.model.stream.index import EntriesRequest, HeadsRequest, ReadRequest
from console.model.stream.timeline import Timeline
from engine.events import Entry, EntryHead


class JournalReader(Protocol):
    """Reads journals: the engine, or a list in tests."""

    async def index(self, run_id: str, *, after: int = 0, limit: int = ...) -> list[EntryHead]: ...
    async def entries_at(self, run_id: str, positions: Sequence[int]) -> list[Entry]: ...
    async def find_text(self, run_id: str, text: str, *, first: int, last: int) -> list[int]: ...


async def perform_read(timeline: Timeline, request: ReadRequest, journals: JournalReader) -> None:
    """Perform one read that a timeline has requested. After a failure the timeline may request it again."""
    run_id = timeline.run_id
    try:
        if isinstance(request, HeadsRequest):
            timeline.add_heads(request, await journals.index(run_id, after=request.after, limit=request.limit))
        elif isinstance(request, EntriesRequest):
            timeline.add_entries(request, await journals.entries_at(run_id, request.positions))
        else:
            found = await journals.find_text(run_id, request.text, first=request.first, last=request.last)
            timeline.add_matches(request, found)
    except BaseException:
        timeline.read_failed(request)
        raise
