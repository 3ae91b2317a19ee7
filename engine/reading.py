"""The reading half of the facade: runs, journals and facts of one database, as a person looks at them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from engine.clock import Clock
from engine.events import Entry
from engine.facts import artifacts, hosts, journal, runs, search, sessions, state, transcript
from engine.facts.artifacts import READ as ARTIFACT_READ
from engine.facts.artifacts import ArtifactRow
from engine.facts.database import Database
from engine.facts.errors import NotFound
from engine.facts.journal import Mark
from engine.facts.rows import Place
from engine.facts.runs import RunRow
from engine.facts.sessions import Session, Summary
from engine.facts.state import Kept, Written
from engine.facts.transcript import Line

T = TypeVar("T")


class Reading:
    """Looks into an open database and changes nothing in it."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @property
    def database_path(self) -> Path:
        return self._database.path

    def now(self) -> int:
        """The engine's own time, in microseconds."""
        return self._clock.now()

    async def integrity(self) -> list[str]:
        """What SQLite finds wrong with the database; nothing when it is sound."""
        return await asyncio.to_thread(self._database.integrity)

    # Runs and their journals

    async def run(self, name: str) -> RunRow:
        """A run by id, by a unique beginning of it, or `last`."""
        return await self._read(lambda conn: runs.find(conn, name))

    async def runs(
        self,
        *,
        before: str | None = None,
        after: str | None = None,
        limit: int = 100,
        status: str | None = None,
        conversation_id: str | None = None,
        runner_id: str | None = None,
    ) -> list[RunRow]:
        """Runs, newest first, before a run id; or the nearest after one, rising."""
        return await self._read(
            lambda conn: runs.page(
                conn,
                before=before,
                after=after,
                limit=limit,
                status=status,
                conversation_id=conversation_id,
                runner_id=runner_id,
            )
        )

    async def has_host(self, run: RunRow) -> bool:
        """Whether the process that hosts a run is there; if not, the next that opens to host closes the run."""
        return run.host not in await self._read(hosts.dead_hosts)

    async def journal(
        self, run_id: str, *, after: int | None = None, before: int | None = None, limit: int = 100
    ) -> list[Entry]:
        """A page of a run's journal: rising after a position, or falling before one."""
        return await self._read(lambda conn: journal.page(conn, run_id, after=after, before=before, limit=limit))

    async def entries(self, run_id: str, *, after: int = 0) -> AsyncIterator[Entry]:
        """A run's whole journal, page by page."""
        while page := await self.journal(run_id, after=after, limit=1_000):
            for entry in page:
                yield entry
            after = page[-1].position

    async def index(self, run_id: str, *, after: int = 0, limit: int = 16_384) -> list[Mark]:
        """What a run's journal holds and how large it is, without the data itself, rising after a position."""
        return await self._read(lambda conn: journal.index(conn, run_id, after=after, limit=limit))

    async def entries_at(self, run_id: str, positions: Sequence[int]) -> list[Entry]:
        """The entries at these positions, rising."""
        return await self._read(lambda conn: journal.at_positions(conn, run_id, positions))

    async def outline(
        self, run_id: str, *, before: int | None = None, after: int | None = None, limit: int = 400
    ) -> list[Entry]:
        """A run's entries that make up its conversation, rising: the last before a position, or the first after one."""
        return await self._read(lambda conn: journal.outline(conn, run_id, before=before, after=after, limit=limit))

    async def deltas(self, run_id: str, *, after: int, before: int, limit: int = 1_000) -> list[Entry]:
        """The pieces of messages between two positions of a run's journal, rising; an outline leaves them out."""
        return await self._read(lambda conn: journal.deltas(conn, run_id, after=after, before=before, limit=limit))

    async def find(self, run_id: str, text: str, *, first: int, last: int) -> list[int]:
        """Positions in a range of a run's journal that hold a text."""
        return await self._read(lambda conn: journal.holding(conn, run_id, text, first=first, last=last))

    async def last_position(self, run_id: str) -> int:
        """The position of a run's newest entry; 0 where it has none."""
        return await self._read(lambda conn: journal.last_position(conn, run_id))

    async def last_row(self) -> int:
        """The newest global row: subscribe since here to hear only what is new."""
        return await self._read(journal.last_row)

    async def version(self) -> int:
        """Another number after every write, of this process and of others: a cheap sign to read again."""
        return await self._database.version()

    # Conversations

    async def sessions(
        self, *, user_id: str | None = None, before: str | None = None, limit: int = 100
    ) -> list[Session]:
        """Sessions, the last active first."""
        return await self._read(lambda conn: sessions.page(conn, user_id=user_id, before=before, limit=limit))

    async def session(self, session_id: str) -> Summary:
        """One session by its id, or the one that was active `last`."""
        return await self._read(lambda conn: sessions.summary(conn, sessions.find(conn, session_id).session_id))

    async def has_session(self, session_id: str) -> bool:
        """Whether there is such a session: none before something was said in it, nor after it was deleted."""
        return await self._read(lambda conn: sessions.is_there(conn, session_id))

    async def transcript(
        self, conversation_id: str, *, before: int | None = None, after: int | None = None, limit: int = 100
    ) -> list[Line]:
        """Lines of a conversation's main thread: newest first, or rising after one."""
        place = await self._place(conversation_id)
        return await self._read(lambda conn: transcript.page(conn, place, before=before, after=after, limit=limit))

    async def search(
        self, query: str, *, conversation_id: str | None = None, limit: int = 20
    ) -> tuple[list[Line], int]:
        """Lines that hold what was typed, newest first, of one conversation or all; and how many, up to 1,000."""
        place = None if conversation_id is None else await self._place(conversation_id)
        return await self._read(lambda conn: search.find(conn, query, place, limit=limit))

    # State and artifacts

    async def state(
        self, *, conversation_id: str | None = None, runner_id: str | None = None, limit: int = 1_000
    ) -> list[Kept]:
        """What is kept in all scopes, for a person to look through; of a conversation, all that its runs can see."""
        return await self._read(
            lambda conn: state.browse(conn, conversation_id=conversation_id, runner_id=runner_id, limit=limit)
        )

    async def state_at(self, run_id: str, position: int) -> dict[str, dict[str, Written]]:
        """The run's scopes as they were at an entry, with who wrote each key."""
        return await self._read(lambda conn: _state_at(conn, run_id, position))

    async def artifacts(
        self,
        *,
        run_id: str | None = None,
        conversation_id: str | None = None,
        before: str | None = None,
        limit: int = 100,
        expired: bool = False,
        text: str = "",
    ) -> list[ArtifactRow]:
        """Artifacts, newest first, before an artifact id; those that have expired only where that is asked for.

        `text` is looked for in name, type and id.
        """
        now = self._clock.now()
        return await self._read(
            lambda conn: artifacts.page(
                conn,
                run_id=run_id,
                conversation_id=conversation_id,
                now=now,
                before=before,
                limit=limit,
                expired=expired,
                text=text,
            )
        )

    async def artifact(self, artifact_id: str, *, expired: bool = False) -> ArtifactRow:
        """What is known of an artifact; of one that has expired only where that is asked for."""
        now = self._clock.now()
        return await self._read(lambda conn: artifacts.get(conn, artifact_id, now=now, expired=expired))

    async def artifact_bytes(self, artifact_id: str, *, offset: int = 0, limit: int = ARTIFACT_READ) -> bytes:
        """A range of an artifact's content."""
        now = self._clock.now()
        return await self._read(lambda conn: artifacts.read_range(conn, artifact_id, offset, limit, now=now))

    # Inside

    async def _read(self, query: Callable[[Connection], T]) -> T:
        return await self._database.read(query)

    async def _place(self, conversation_id: str) -> Place:
        """Where a person means when they only name the conversation: the bot and workspace of its last run."""
        if found := await self.runs(conversation_id=conversation_id, limit=1):
            return Place(conversation_id, None, found[0].bot_id, found[0].workspace_id)
        with suppress(NotFound):
            # A fork has lines before it has a run.
            line = await self._read(lambda conn: transcript.line_of(conn, conversation_id, None))
            return Place(conversation_id, None, line.bot_id, line.workspace_id)
        return Place(conversation_id)


def _state_at(conn: Connection, run_id: str, position: int) -> dict[str, dict[str, Written]]:
    run = runs.get(conn, run_id)
    row = journal.row_of(conn, run_id, position)
    if row is None:
        raise NotFound(f"run {run_id} has no entry at position {position}")
    scopes: Mapping[str, str] = (run.authorization or {}).get("state_scopes", {})
    found = state.at(conn, scopes.values(), row)
    return {scope: found[key] for scope, key in scopes.items()}
