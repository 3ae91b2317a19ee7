"""What the state browser reads: keys in pages, what became of one, and whole values."""

from typing import TYPE_CHECKING, Any, Final

from console.model.states.keys import Keys
from console.naming import names_of

if TYPE_CHECKING:
    from engine.api import Engine, ScopeIdentity, StateChange, StateRow

PAGE: Final = 100
AROUND: Final = 30
"""Keys above those that are seen that are read again with them."""
MANY: Final = 500
"""Keys that are read again together when a person has changed some."""


class Desk:
    """Asks the engine for keys that hold a text, or that a session's runs can see; keeps what was read."""

    def __init__(self, engine: "Engine", text: str = "", session: str | None = None) -> None:
        self._engine = engine
        self.text = text
        self.session = session
        self.keys = Keys()
        self.titles: dict[str | None, str] = {}
        """Of the conversations whose state was read."""
        self.is_whole = False
        self._row = -1

    async def begin(self) -> None:
        """The first page, and from when on something is new."""
        self._row = await self._engine.last_row()
        await self._read_after(None)

    async def read_more(self) -> None:
        """The keys after the last."""
        await self._read_after(self.keys.last)

    async def freshen(self, first: int) -> bool:
        """If anything happened since, read again what is seen from that entry on; whether that was so."""
        last = await self._engine.last_row()
        if last == self._row:
            return False
        self._row = last
        await self._read_after(self.keys.before(first - AROUND))
        return True

    async def read_again(self) -> None:
        """All that was read."""
        rows: list[StateRow] = []
        self._row = await self._engine.last_row()
        while not (is_rest := len(page := await self._page(rows[-1] if rows else None, MANY)) < MANY):
            rows += page
            if len(rows) >= self.keys.count:
                break
        self.keys.put([*rows, *page] if is_rest else rows, None, is_rest=True)
        self.is_whole = is_rest

    async def value(self, scope: "ScopeIdentity", key: str, change: int | None = None) -> Any:
        return await self._engine.state_value(scope, key, change=change)

    async def _read_after(self, row: "StateRow | None") -> None:
        page = await self._page(row, PAGE)
        is_rest = len(page) < PAGE
        self.keys.put(page, row, is_rest=is_rest)
        self.is_whole = is_rest or (self.is_whole and self.keys.last is not page[-1])

    async def _page(self, after: "StateRow | None", limit: int) -> "list[StateRow]":
        page = await self._engine.states(text=self.text, conversation_id=self.session, after=after, limit=limit)
        named = {row.identity.conversation_id for row in page if row.identity.conversation_id}
        if new := list(named - self.titles.keys()):
            self.titles |= dict.fromkeys(new, "") | await names_of(self._engine, new)
        return page


class Past:
    """What became of one key, newest first."""

    def __init__(self, engine: "Engine", row: "StateRow") -> None:
        self._engine = engine
        self.of = row
        self.changes: list[StateChange] = []
        self.is_whole = False

    async def read_more(self) -> None:
        """The changes before the last that was read."""
        if self.is_whole:
            return
        before = self.changes[-1].number if self.changes else None
        page = await self._engine.state_history(self.of.identity, self.of.key, before=before, limit=PAGE)
        self.changes += page
        self.is_whole = len(page) < PAGE
