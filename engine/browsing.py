"""The windows of the facade: state, sessions, what was said and what came in, for a person who looks around."""

from collections.abc import Sequence
from typing import Any

from engine.facts import hits, session_pages, state_pages
from engine.facts.hits import Hits
from engine.facts.line import Line
from engine.facts.scopes import Scope, ScopeIdentity
from engine.facts.session_pages import SessionRow
from engine.facts.state_pages import StateChange, StateRow
from engine.reading import Reading
from engine.run.past import PastEvent, past_event


class Browsing(Reading):
    """Looks through what grows. Each call is one short read in a thread, whatever the database holds."""

    # What came in

    async def event_of(self, name: str) -> PastEvent:
        """The event of this id or of a run, as it came in, with the bytes that came with it."""
        now = self._clock.now()
        return await self._read(lambda conn: past_event(conn, name, now=now))

    # Sessions

    async def browse_sessions(
        self,
        *,
        text: str = "",
        user_id: str | None = None,
        parent_id: str | None = None,
        ids: Sequence[str] | None = None,
        before: SessionRow | None = None,
        limit: int = 100,
    ) -> list[SessionRow]:
        """Sessions, the last active first, after the last row of the page before.

        All words of `text` are in title or id; `parent_id` gives one session's children, `ids` those of these that
        there are. Runs, lines and children are counted up to 10,000.
        """
        return await self._read(
            lambda conn: session_pages.page(
                conn, text=text, user_id=user_id, parent_id=parent_id, ids=ids, before=before, limit=limit
            )
        )

    async def hits(
        self, query: str, *, conversation_id: str | None = None, before: int | None = None, limit: int = 50
    ) -> Hits:
        """Lines that hold what was typed, newest first, each with its session's title and its entry in the journal.

        `before` is the `seq` of the last line of the page before.
        """
        place = None if conversation_id is None else await self._place(conversation_id)
        return await self._read(lambda conn: hits.page(conn, query, place, before=before, limit=limit))

    async def line_at(self, run_id: str, position: int) -> Line | None:
        """The last that was said in a run by one of its entries; nothing where that is nothing."""
        return await self._read(lambda conn: hits.line_at(conn, run_id, position))

    # State

    async def states(
        self,
        *,
        scope: Scope | None = None,
        runner_id: str | None = None,
        conversation_id: str | None = None,
        text: str = "",
        after: StateRow | None = None,
        limit: int = 100,
    ) -> list[StateRow]:
        """Keys of all scopes of all runners, with the beginning of each value, after the last row of the page before.

        Of a conversation, all that its runs can see; `text` is in the key or in whose it is.
        """
        return await self._read(
            lambda conn: state_pages.page(
                conn,
                scope=scope,
                runner_id=runner_id,
                conversation_id=conversation_id,
                text=text,
                after=after,
                limit=limit,
            )
        )

    async def state_value(self, scope: ScopeIdentity, key: str, *, change: int | None = None) -> Any:
        """The whole value of a key as it is, or as one of its changes left it."""
        return await self._read(lambda conn: state_pages.value(conn, scope, key, change=change))

    async def state_history(
        self, scope: ScopeIdentity, key: str, *, before: int | None = None, limit: int = 100
    ) -> list[StateChange]:
        """What became of a key and who did it, newest first, before a change's number."""
        return await self._read(lambda conn: state_pages.changes(conn, scope, key, before=before, limit=limit))

    async def scopes_of(self, name: str) -> dict[Scope, ScopeIdentity]:
        """The scopes that a run was given, also those that hold nothing yet."""
        run = await self.run(name)
        return await self._read(lambda conn: state_pages.scopes_of_run(conn, run.run_id))

    async def scope(self, scope_key: str) -> ScopeIdentity:
        """A scope by its key or a unique beginning of it, as far as something is kept in it."""
        return await self._read(lambda conn: state_pages.find_scope(conn, scope_key))
