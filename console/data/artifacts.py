"""Reader of the artifacts browser: newest first, page by page."""

from typing import TYPE_CHECKING

from console.data.paged import PAGE_ROWS, PagedReader

if TYPE_CHECKING:
    from engine.api import ArtifactRow, Engine


class ArtifactReader(PagedReader["ArtifactRow"]):
    """Reads the artifacts of a session, of a run or of all, that contain a text."""

    def __init__(
        self, engine: "Engine", *, session: str | None = None, run_id: str | None = None, text: str = ""
    ) -> None:
        super().__init__(engine)
        self._session, self._run_id = session, run_id
        self.text = text
        self.rows: dict[str, ArtifactRow] = {}

    async def read_page(self) -> "list[ArtifactRow]":
        return await self._page(next(reversed(self.rows), None))

    def add_page(self, page: "list[ArtifactRow]") -> None:
        self.rows |= {row.artifact_id: row for row in page}

    async def refresh(self) -> bool:
        """If something was written, load new artifacts. Returns whether there are any."""
        if not await self.has_changed():
            return False
        page = {row.artifact_id: row for row in await self._page(None)}
        if len(page) == PAGE_ROWS and not page.keys() & self.rows.keys():
            self.rows, self.is_complete = page, False  # more is new than one page: start over
            return True
        is_new = bool(page.keys() - self.rows.keys())
        self.rows = page | self.rows
        return is_new

    async def _page(self, before: str | None) -> "list[ArtifactRow]":
        return await self._engine.artifacts.list(
            conversation_id=self._session,
            run_id=self._run_id,
            before=before,
            limit=PAGE_ROWS,
            expired=True,
            text=self.text,
        )
