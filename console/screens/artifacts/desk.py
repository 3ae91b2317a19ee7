"""What the artifacts browser reads: a page at a time, newest first, and what is new since."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.api import ArtifactRow, Engine

PAGE: Final = 100


class Desk:
    """Asks the engine for those of a session, of a run or of all, that hold a text; keeps what was read."""

    def __init__(
        self, engine: "Engine", *, session: str | None = None, run_id: str | None = None, text: str = ""
    ) -> None:
        self._engine = engine
        self._session, self._run_id = session, run_id
        self.text = text
        self.rows: dict[str, ArtifactRow] = {}
        self.is_whole = False
        self._row = -1

    async def begin(self) -> None:
        """The first page, and from when on something is new."""
        self._row = await self._engine.last_row()
        await self.read_more()

    async def read_more(self) -> None:
        """Those before the last."""
        page = await self._page(next(reversed(self.rows), None))
        self.rows |= {row.artifact_id: row for row in page}
        self.is_whole = len(page) < PAGE

    async def freshen(self) -> bool:
        """If anything happened since, see what was made meanwhile; whether there was something."""
        last = await self._engine.last_row()
        if last == self._row:
            return False
        self._row = last
        page = {row.artifact_id: row for row in await self._page(None)}
        if len(page) == PAGE and not page.keys() & self.rows.keys():
            self.rows, self.is_whole = page, False  # too much is new to know what lies between
            return True
        is_new = bool(page.keys() - self.rows.keys())
        self.rows = page | self.rows
        return is_new

    async def _page(self, before: str | None) -> "list[ArtifactRow]":
        return await self._engine.artifacts(
            conversation_id=self._session,
            run_id=self._run_id,
            before=before,
            limit=PAGE,
            expired=True,
            text=self.text,
        )
