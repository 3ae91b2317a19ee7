"""Reader of the session browser: pages of sessions, their parents, and search results."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from console.data.paged import PAGE_ROWS, PagedReader
from console.data.session_names import names_of
from console.model.sessions.rows import title_of
from console.model.sessions.tree import SessionTree
from console.model.text.columns import cut
from console.model.text.safe import one_line
from engine.api import Hit, Reach, reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.api import Engine, SessionRow, StoredSize, TranscriptLine

MAX_TITLES: Final = 20
"""Sessions listed above the lines that a search finds."""
LINES_PER_PAGE: Final = 50
LAST_LINES: Final = 6
"""Lines of a session shown in its details."""
MAX_COUNT: Final = 1_000
"""The engine counts found lines up to this number."""
QUERY_COLUMNS: Final = 30
"""Columns of the query in the text for no results."""
_BACK: Final = "esc shows all sessions."
_NO_LINES: Final = {
    Reach.NOTHING: "the query has no word",
    Reach.WHOLE: "no message has this word",
    Reach.ANYWHERE: "no messages",
}
_NEEDED: Final = {
    Reach.NOTHING: "Messages are found by words, and the query has none. Titles are found by any part.",
    Reach.WHOLE: "Messages are found by whole words, or by three or more letters. Titles are found by any part.",
}
"""How lines are found. Scripts without spaces, such as Chinese, need no explanation."""


@dataclass(frozen=True, slots=True)
class SessionDetails:
    """What the details of a session show in addition to its row."""

    last_lines: "Sequence[TranscriptLine]" = ()
    """Oldest first."""
    size: "StoredSize | None" = None


@dataclass
class SearchResults:
    """The results of a search that are loaded so far."""

    query: str
    sessions: "list[SessionRow]" = field(default_factory=list["SessionRow"])
    hits: "list[Hit]" = field(default_factory=list["Hit"])
    total: int = 0
    is_complete: bool = False

    @property
    def ids(self) -> list[str]:
        """The sessions of all results."""
        return [row.session.session_id for row in self.sessions] + [hit.line.conversation_id for hit in self.hits]

    def update_titles(self, rows: "Mapping[str, SessionRow]") -> bool:
        """Use the current rows and titles of these sessions. Returns whether anything changed."""
        before = self.sessions, self.hits
        self.sessions = [rows.get(row.session.session_id, row) for row in self.sessions]
        self.hits = [
            hit._replace(title=title_of(row)) if (row := rows.get(hit.line.conversation_id)) is not None else hit
            for hit in self.hits
        ]
        return before != (self.sessions, self.hits)

    @property
    def titles(self) -> str:
        """The number of sessions as text. At most MAX_TITLES are read, so that the lines below stay visible."""
        return f"{len(self.sessions)}" if len(self.sessions) < MAX_TITLES else f"the first {MAX_TITLES}"

    @property
    def lines(self) -> str:
        """The number of lines as text."""
        return f"{self.total:,}" if self.total < MAX_COUNT else f"{MAX_COUNT:,}+"

    @property
    def remark(self) -> str:
        """A short summary, with the reason if titles but no lines were found."""
        named = len(self.sessions)
        parts = [f"{named}{'+' if named >= MAX_TITLES else ''} {'title' if named == 1 else 'titles'}"] if named else []
        parts += [f"{self.lines} {'message' if self.total == 1 else 'messages'}"] if self.total else []
        if named and not self.total:
            parts.append(_NO_LINES[reach(self.query)])
        return f"Found: {' · '.join(parts)}" if parts else "Nothing found"

    @property
    def nothing(self) -> str:
        """The text for no results: the query, and what a search finds."""
        query = cut(one_line(self.query, QUERY_COLUMNS), QUERY_COLUMNS)
        lines = [f"No results for “{query}”.", _NEEDED.get(reach(self.query), ""), _BACK]
        return "\n".join(filter(None, lines))


class SessionReader(PagedReader["SessionRow"]):
    """Reads sessions and searches them; keeps the loaded ones as a tree."""

    def __init__(self, engine: "Engine") -> None:
        super().__init__(engine)
        self.tree = SessionTree()
        self._edge: SessionRow | None = None
        """The last row of the last page. Older rows in the tree are only parents of others."""
        self._names: dict[str, str] = {}
        """Titles of the parents of found sessions."""
        self._to_check: list[str] = []
        """Sessions that are read again, a page at a time."""
        self._is_check_due = False
        """Something was written since `_to_check` was filled."""

    async def read_version(self) -> int:
        return await self._engine.data_version()

    async def load_details(self, session_id: str) -> SessionDetails:
        """The last lines and the size of a session."""
        sessions = self._engine.sessions
        lines = await sessions.transcript(session_id, limit=LAST_LINES)
        return SessionDetails(lines[::-1], (await sessions.sizes([session_id]))[session_id])

    async def load_more(self) -> None:
        await super().load_more()
        await self._load_parents()

    async def read_page(self) -> "list[SessionRow]":
        return await self._engine.sessions.browse(before=self._edge, limit=PAGE_ROWS)

    def add_page(self, page: "list[SessionRow]") -> None:
        self._edge = page[-1] if page else self._edge
        self.tree.add(page)

    async def refresh(self, visible: "Iterable[str]" = (), found: SearchResults | None = None) -> bool:
        """If something was written: load new sessions, and read the visible and the found ones again.

        All others are read again one page per call. Returns whether the list has changed.
        """
        ids, is_new = list[str](), False
        if await self.has_changed():
            self._is_check_due = True
            is_new = self.tree.add(await self._engine.sessions.browse(limit=PAGE_ROWS))
            await self._load_parents()
            ids += visible
        if self._is_check_due and not self._to_check:
            self._is_check_due = False
            self._to_check = [*dict.fromkeys([*self.tree.ids, *(found.ids if found is not None else ())])]
        ids += self._to_check[:PAGE_ROWS]
        del self._to_check[:PAGE_ROWS]
        return await self._check(ids, found) or is_new

    async def _check(self, ids: "Sequence[str]", found: SearchResults | None) -> bool:
        """Read these sessions again. Returns whether any changed or was deleted."""
        if not ids:
            return False
        rows = {row.session.session_id: row for row in await self._engine.sessions.browse(ids=ids, limit=len(ids))}
        gone = {session_id for session_id in ids if session_id not in rows}
        is_new = self.tree.add(row for name, row in rows.items() if self.tree.row_of(name) is not None)
        if found is not None:
            is_new = found.update_titles(rows) or is_new
        for session_id in gone:
            self.remove(session_id, found)
        return is_new or bool(gone)

    async def reload(self, session_id: str) -> None:
        """Read one session again."""
        found = await self._engine.sessions.browse(ids=[session_id], limit=1)
        self.tree.add(found)
        if not found:
            self.tree.remove([session_id])

    def remove(self, session_id: str, found: SearchResults | None) -> None:
        """Remove a deleted session and its search results."""
        self.tree.remove([session_id])
        if found is not None:
            found.sessions = [row for row in found.sessions if row.session.session_id != session_id]
            found.hits = [hit for hit in found.hits if hit.line.conversation_id != session_id]

    async def load_children(self, session_id: str) -> None:
        """Load the first page of the forks of a session."""
        self.tree.add(await self._engine.sessions.browse(parent_id=session_id, limit=PAGE_ROWS))

    async def search(self, query: str) -> SearchResults:
        """Find sessions by title, and the newest lines."""
        sessions = await self._engine.sessions.browse(text=query, limit=MAX_TITLES)
        parents = {row.session.parent_session_id for row in sessions} - {None, *self._names}
        self._names |= await names_of(self._engine, [name for name in parents if name])
        hits, total = await self._engine.search.hits(query, limit=LINES_PER_PAGE)
        return SearchResults(
            query, sessions, await self._with_titles(hits), total, is_complete=len(hits) < LINES_PER_PAGE
        )

    async def search_more(self, found: SearchResults) -> None:
        """Load the next page of found lines."""
        if found.is_complete or not found.hits:
            return
        hits, _ = await self._engine.search.hits(found.query, before=found.hits[-1].line.seq, limit=LINES_PER_PAGE)
        found.hits += await self._with_titles(hits)
        found.is_complete = len(hits) < LINES_PER_PAGE

    async def _with_titles(self, hits: "Sequence[Hit]") -> "list[Hit]":
        """Add the title of its session to each line."""
        names = await names_of(self._engine, {hit.line.conversation_id for hit in hits if not hit.title})
        return [hit._replace(title=hit.title or names.get(hit.line.conversation_id)) for hit in hits]

    def name_of(self, session_id: str | None) -> str:
        """The title of a parent session; empty if it is not known or deleted."""
        row = self.tree.row_of(session_id or "")
        return title_of(row) if row is not None else self._names.get(session_id or "", "")

    async def _load_parents(self) -> None:
        while missing := self.tree.missing_parents():
            found = await self._engine.sessions.browse(ids=missing, limit=len(missing))
            self.tree.add(found)
            self.tree.remove(set(missing) - {row.session.session_id for row in found})
