"""Full-text search in transcripts."""

from engine.api.core import EngineCore
from engine.store import search
from engine.store.search import Hits, WholeSession
from engine.store.transcript_line import TranscriptLine


class SearchApi:
    """Find transcript lines, in one conversation with all its threads and bots, or in all."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    async def lines(
        self, query: str, *, conversation_id: str | None = None, limit: int = 20
    ) -> tuple[list[TranscriptLine], int]:
        """The lines that match a query, newest first, and the number of matches up to 1,000."""
        place = None if conversation_id is None else WholeSession(conversation_id)
        return await self._core.read(lambda conn: search.find(conn, query, place, limit=limit))

    async def hits(
        self, query: str, *, conversation_id: str | None = None, before: int | None = None, limit: int = 50
    ) -> Hits:
        """A page of matching lines, newest first, each with its session's title and its journal entry.

        `before` is the `seq` of the last line of the previous page.
        """
        place = None if conversation_id is None else WholeSession(conversation_id)
        return await self._core.read(lambda conn: search.page(conn, query, place, before=before, limit=limit))

    async def line_at(self, run_id: str, position: int) -> TranscriptLine | None:
        """The last transcript line that a run had written at one of its entries."""
        return await self._core.read(lambda conn: search.line_at(conn, run_id, position))
