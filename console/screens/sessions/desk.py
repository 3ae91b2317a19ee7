"""What the session browser reads, in windows: pages of sessions, their parents, and what a search finds."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from console.model.columns import cut
from console.model.safe import one_line
from console.model.sessions.rows import title_of
from console.model.sessions.tree import Tree
from console.naming import names_of
from engine.api import Reach, reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.api import Engine, Hit, Line, SessionRow

PAGE: Final = 100
NAMED: Final = 20
"""Sessions that are shown above the lines that a search finds."""
HITS: Final = 50
LAST: Final = 6
"""Lines of a session that are told beside it."""
COUNTED: Final = 1_000
"""Up to here the engine counts what it finds."""
ECHOED: Final = 30
"""Columns of a query that are said again."""
_BACK: Final = "esc shows all."
_WORDS: Final = "the last one from three letters on also by its beginning. Titles are found by any part."
_NO_LINES: Final = {
    Reach.NOTHING: "no word for lines in it",
    Reach.WHOLE: "no line has that whole word",
    Reach.BEGINNING: "no line has a word that begins so",
    Reach.ANYWHERE: "no lines",
}
_NEEDED: Final = {
    Reach.NOTHING: "Lines are found by words, and there is none in it. Titles are found by any part.",
    Reach.WHOLE: f"Lines are found by whole words, {_WORDS}",
    Reach.BEGINNING: f"Lines are found by whole words, {_WORDS}",
}
"""What lines need; where nothing stands between words, as in Chinese, they need nothing."""


@dataclass
class Found:
    """What a search has found so far."""

    query: str
    sessions: "list[SessionRow]" = field(default_factory=list["SessionRow"])
    hits: "list[Hit]" = field(default_factory=list["Hit"])
    total: int = 0
    is_whole: bool = False

    @property
    def ids(self) -> list[str]:
        """The sessions of all of it."""
        return [row.session.session_id for row in self.sessions] + [hit.line.conversation_id for hit in self.hits]

    def renew(self, rows: "Mapping[str, SessionRow]") -> bool:
        """What was found in these sessions goes by what they are called now; whether that is something else."""
        was = self.sessions, self.hits
        self.sessions = [rows.get(row.session.session_id, row) for row in self.sessions]
        self.hits = [
            hit._replace(title=title_of(row)) if (row := rows.get(hit.line.conversation_id)) is not None else hit
            for hit in self.hits
        ]
        return was != (self.sessions, self.hits)

    @property
    def titles(self) -> str:
        """How many sessions: no more are read than are seen at once, so that the lines below are seen, too."""
        return f"{len(self.sessions)}" if len(self.sessions) < NAMED else f"the first {NAMED}"

    @property
    def lines(self) -> str:
        """How many lines, as far as they are counted."""
        return f"{self.total:,}" if self.total < COUNTED else f"{COUNTED:,}+"

    @property
    def remark(self) -> str:
        """What was found, in a few words, and why no lines were where titles are."""
        named = len(self.sessions)
        parts = [f"{named}{'+' if named >= NAMED else ''} {'title' if named == 1 else 'titles'}"] if named else []
        parts += [f"{self.lines} {'line' if self.total == 1 else 'lines'}"] if self.total else []
        if named and not self.total:
            parts.append(_NO_LINES[reach(self.query)])
        return f"found: {' · '.join(parts)}" if parts else "nothing found"

    @property
    def nothing(self) -> str:
        """What is said where it is nothing: for what, and what would be found."""
        query = cut(one_line(self.query, ECHOED), ECHOED)
        said = [f"Nothing was found for “{query}”.", _NEEDED.get(reach(self.query), ""), _BACK]
        return "\n".join(filter(None, said))


class Desk:
    """Asks the engine; keeps what was read."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self.tree = Tree()
        self._edge: SessionRow | None = None
        """The last of the last page: an older one that is known already is only somebody's parent."""
        self.is_whole = False
        self._names: dict[str, str] = {}
        """Of parents of what was found."""
        self._version = -1
        self._ahead: list[str] = []
        """Those that are to be read again."""
        self._is_due = False
        """Something was written since that was begun."""

    async def begin(self) -> None:
        """The first page, and from when on something is new."""
        self._version = await self._engine.version()
        await self.read_more()

    async def last_words(self, session_id: str) -> "list[Line]":
        """What was said in a session last, the oldest first."""
        return (await self._engine.transcript(session_id, limit=LAST))[::-1]

    async def read_more(self) -> None:
        """The next page of sessions."""
        page = await self._engine.browse_sessions(before=self._edge, limit=PAGE)
        self.is_whole = len(page) < PAGE
        self._edge = page[-1] if page else self._edge
        self.tree.add(page)
        await self._read_parents()

    async def freshen(self, seen: "Iterable[str]" = (), found: Found | None = None) -> bool:
        """If anything was written since: what is new, and what became of those that are seen, and of found ones.

        All others are read again a page at a time, each time this is asked. Whether there is anything to be shown.
        """
        version, ids, is_new = await self._engine.version(), list[str](), False
        if version != self._version:
            self._version, self._is_due = version, True
            is_new = self.tree.add(await self._engine.browse_sessions(limit=PAGE))
            await self._read_parents()
            ids += seen
        if self._is_due and not self._ahead:
            self._is_due = False
            self._ahead = [*dict.fromkeys([*self.tree.ids, *(found.ids if found is not None else ())])]
        ids += self._ahead[:PAGE]
        del self._ahead[:PAGE]
        return await self._check(ids, found) or is_new

    async def _check(self, ids: "Sequence[str]", found: Found | None) -> bool:
        """Read these again; whether any has changed, or is gone."""
        if not ids:
            return False
        rows = {row.session.session_id: row for row in await self._engine.browse_sessions(ids=ids, limit=len(ids))}
        gone = {session_id for session_id in ids if session_id not in rows}
        is_new = self.tree.add(row for name, row in rows.items() if self.tree.row_of(name) is not None)
        if found is not None:
            is_new = found.renew(rows) or is_new
        for session_id in gone:
            self.lose(session_id, found)
        return is_new or bool(gone)

    async def read_again(self, session_id: str) -> None:
        """One session as it is now."""
        found = await self._engine.browse_sessions(ids=[session_id], limit=1)
        self.tree.add(found)
        if not found:
            self.tree.lose([session_id])

    def lose(self, session_id: str, found: Found | None) -> None:
        """It is gone, and what was found in it."""
        self.tree.lose([session_id])
        if found is not None:
            found.sessions = [row for row in found.sessions if row.session.session_id != session_id]
            found.hits = [hit for hit in found.hits if hit.line.conversation_id != session_id]

    async def read_children(self, session_id: str) -> None:
        """What came of a session, as far as a page goes."""
        self.tree.add(await self._engine.browse_sessions(parent_id=session_id, limit=PAGE))

    async def search(self, query: str) -> Found:
        """Sessions of that title, and the newest lines."""
        sessions = await self._engine.browse_sessions(text=query, limit=NAMED)
        parents = {row.session.parent_session_id for row in sessions} - {None, *self._names}
        self._names |= await names_of(self._engine, [name for name in parents if name])
        hits, total = await self._engine.hits(query, limit=HITS)
        return Found(query, sessions, await self._named(hits), total, is_whole=len(hits) < HITS)

    async def search_more(self, found: Found) -> None:
        """Lines that were said before those that were found."""
        if found.is_whole or not found.hits:
            return
        hits, _ = await self._engine.hits(found.query, before=found.hits[-1].line.seq, limit=HITS)
        found.hits += await self._named(hits)
        found.is_whole = len(hits) < HITS

    async def _named(self, hits: "Sequence[Hit]") -> "list[Hit]":
        """These, each with what its session is called."""
        names = await names_of(self._engine, {hit.line.conversation_id for hit in hits if not hit.title})
        return [hit._replace(title=hit.title or names.get(hit.line.conversation_id)) for hit in hits]

    def name_of(self, session_id: str | None) -> str:
        """What a session is called that others came from; nothing where it is not known, or gone."""
        row = self.tree.row_of(session_id or "")
        return title_of(row) if row is not None else self._names.get(session_id or "", "")

    async def _read_parents(self) -> None:
        while missing := self.tree.missing():
            found = await self._engine.browse_sessions(ids=missing, limit=len(missing))
            self.tree.add(found)
            self.tree.lose(set(missing) - {row.session.session_id for row in found})
