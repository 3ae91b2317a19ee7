"""Readers of the state browser: keys page by page, the history of a key, and whole values."""

from typing import TYPE_CHECKING, Any, Final

from console.data.paged import PAGE_ROWS, PagedReader
from console.data.session_names import names_of
from console.model.state.keys import LoadedKeys
from engine.api import NotFound, StateChange, StateConflict

if TYPE_CHECKING:
    from engine.api import Engine, ScopeIdentity, StateRow

__all__ = ["KeyHistoryReader", "NotFound", "StateChange", "StateConflict", "StateReader"]

REFRESH_MARGIN_ROWS: Final = 30
"""Keys above the visible ones that are read again with them."""
RELOAD_PAGE_ROWS: Final = 500
"""Keys per page when all loaded keys are read again."""


class StateReader(PagedReader["StateRow"]):
    """Reads the keys that contain a text, or that the runs of a session can see."""

    def __init__(self, engine: "Engine", text: str = "", session: str | None = None) -> None:
        super().__init__(engine)
        self.text = text
        self.session = session
        self.keys = LoadedKeys()
        self.titles: dict[str | None, str] = {}
        """Titles of the sessions whose state was read."""

    async def load_more(self) -> None:
        await self._load_after(self.keys.last)

    async def read_page(self) -> "list[StateRow]":
        return await self._page(self.keys.last, PAGE_ROWS)

    def add_page(self, page: "list[StateRow]") -> None:
        self.keys.replace_after(self.keys.last, page, is_rest=len(page) < PAGE_ROWS)

    async def refresh(self, first: int) -> bool:
        """If something was written, read the keys from this row on again. Returns whether it did."""
        if not await self.has_changed():
            return False
        await self._load_after(self.keys.key_before(first - REFRESH_MARGIN_ROWS))
        return True

    async def reload(self) -> None:
        """Read all loaded keys again."""
        rows: list[StateRow] = []
        self._version = await self.read_version()
        limit = RELOAD_PAGE_ROWS
        while not (is_rest := len(page := await self._page(rows[-1] if rows else None, limit)) < limit):
            rows += page
            if len(rows) >= self.keys.count:
                break
        self.keys.replace_after(None, [*rows, *page] if is_rest else rows, is_rest=True)
        self.is_complete = is_rest

    async def value(self, scope: "ScopeIdentity", key: str, change: int | None = None) -> Any:
        return await self._engine.state.value(scope, key, change=change)

    async def _load_after(self, row: "StateRow | None") -> None:
        page = await self._page(row, PAGE_ROWS)
        is_rest = len(page) < PAGE_ROWS
        self.keys.replace_after(row, page, is_rest=is_rest)
        self.is_complete = is_rest or (self.is_complete and self.keys.last is not page[-1])

    async def _page(self, after: "StateRow | None", limit: int) -> "list[StateRow]":
        page = await self._engine.state.browse(text=self.text, conversation_id=self.session, after=after, limit=limit)
        ids = {row.identity.conversation_id for row in page if row.identity.conversation_id}
        if new := list(ids - self.titles.keys()):
            self.titles |= dict.fromkeys(new, "") | await names_of(self._engine, new)
        return page


class KeyHistoryReader(PagedReader["StateChange"]):
    """Reads the changes of one key, newest first."""

    def __init__(self, engine: "Engine", row: "StateRow") -> None:
        super().__init__(engine)
        self.row = row
        self.changes: list[StateChange] = []

    async def load_more(self) -> None:
        if not self.is_complete:
            await super().load_more()

    async def read_page(self) -> "list[StateChange]":
        before = self.changes[-1].number if self.changes else None
        return await self._engine.state.history(self.row.identity, self.row.key, before=before, limit=PAGE_ROWS)

    def add_page(self, page: "list[StateChange]") -> None:
        self.changes += page
