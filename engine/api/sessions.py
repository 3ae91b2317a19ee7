"""Sessions and their transcripts."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from sqlalchemy import Connection

from engine.api.core import EngineCore
from engine.journal.secret_mask import SecretMask
from engine.queue.leftovers import drop_with_session
from engine.store import deletion, sessions, sizes, transcript
from engine.store.batch import Transaction
from engine.store.deletion import Deleted, HiddenSession, KeptData
from engine.store.errors import SessionRefused, StoreError
from engine.store.hidden_sessions import is_hidden
from engine.store.sessions import Session, SessionRow, Summary
from engine.store.sizes import StoredSize
from engine.store.transcript import TranscriptLine


class SessionsApi:
    """Create, read, change, fork and delete sessions."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    async def get(self, session_id: str) -> Summary:
        """One session by its id, or the one that was active `last`."""
        return await self._core.read(lambda conn: sessions.summary(conn, sessions.find(conn, session_id).session_id))

    async def find(self, name: str) -> Summary:
        """The session that a user names: by its id, as `last`, or by a unique beginning of its id, in this order."""

        def read(conn: Connection) -> Summary:
            return sessions.summary(conn, sessions.find(conn, name, by_beginning=True).session_id)

        return await self._core.read(read)

    async def exists(self, session_id: str) -> bool:
        """Whether the session is stored: not before its first event, and not after its deletion."""
        return await self._core.read(lambda conn: sessions.is_there(conn, session_id))

    async def rename(self, session_id: str, title: str | None) -> None:
        shown = (await self._core.secret_mask()).cover_value(title)
        await self._core.edit(lambda tx: sessions.rename(tx.connection, session_id, shown))

    async def set_metadata(
        self, session_id: str, metadata: Mapping[str, Any], *, remove: Collection[str] = ()
    ) -> Session:
        """Set some keys of a session's metadata and remove others. The rest of the metadata stays."""
        shown = (await self._core.secret_mask()).cover_value(dict(metadata))
        return await self._core.edit(lambda tx: sessions.set_metadata(tx.connection, session_id, shown, remove=remove))

    async def create(
        self,
        session_id: str | None = None,
        *,
        user_id: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Session:
        """Create a root session before its first message, with a new id unless one is given.

        Raises SessionRefused if the id is taken, not valid or contains a secret.
        """
        own_id, now = session_id if session_id is not None else self._core.ids.new("ses"), self._core.now()
        mask = await self._core.secret_mask()
        _refuse_secret_id(own_id, mask)
        user_id, title, metadata = mask.cover_value([user_id, title, metadata])
        return await self._core.edit(
            lambda tx: sessions.create(tx.connection, own_id, at=now, user_id=user_id, title=title, metadata=metadata)
        )

    async def spawn(
        self,
        parent_id: str,
        child_id: str | None = None,
        *,
        user_id: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Session:
        """Create a child of a session, with an empty transcript and, unless it is given, the user of the parent."""
        own_id, now = child_id if child_id is not None else self._core.ids.new("ses"), self._core.now()
        mask = await self._core.secret_mask()
        _refuse_secret_id(own_id, mask)
        user_id, title, metadata = mask.cover_value([user_id, title, metadata])
        return await self._core.edit(
            lambda tx: sessions.spawn(
                tx.connection, parent_id, own_id, at=now, user_id=user_id, title=title, metadata=metadata
            )
        )

    async def fork(self, session_id: str, *, at: int | str | None = None, title: str | None = None) -> Session:
        """Create a child with a session's transcript up to a line, by its `seq` or id, and its state of that time.

        Without a line, the child gets everything on disk now; output of a live run that is not committed is left out.
        """
        child_id, now, numbers = self._core.ids.new("ses"), self._core.now(), count(1)
        title = (await self._core.secret_mask()).cover_value(title)
        return await self._core.edit(
            lambda tx: sessions.fork(
                tx.connection,
                session_id,
                child_id,
                until=at,
                at=now,
                new_id=lambda: f"{child_id}:{next(numbers)}",
                title=title,
            )
        )

    async def hide(self, session_id: str) -> HiddenSession:
        """Delete a session so that it can be restored for eight seconds; then, or when the engine closes, purge it.

        The session is out of every list, search and call at once. Its queued messages are dropped, and their tickets
        fail with SessionDeleted, also in other processes. Raises SessionRefused if a run is in progress in it.
        """
        hidden = await self._hide(session_id)
        self._core.cleanup.hidden_here.add(session_id)
        await self._follow_deletion()
        return hidden

    async def restore(self, session_id: str) -> Session:
        """Show a hidden session again, also one that another process has hidden; its queued messages stay dropped.

        Raises SessionRefused if it was deleted more than eight seconds ago, and NotFound if it is purged.
        """
        now = self._core.now()
        session = await self._core.edit(lambda tx: deletion.restore(tx.connection, session_id, now=now))
        self._core.cleanup.hidden_here.discard(session_id)
        return session

    async def list_restorable(self) -> list[HiddenSession]:
        """The hidden sessions that can be restored now, the one that was deleted last first."""
        now = self._core.now()
        return [one for one in await self._core.read(deletion.hidden) if one.can_be_restored(now)]

    async def delete(self, session_id: str) -> Deleted:
        """Delete a session at once with its transcript, conversation state, artifacts and runs, but not its children.

        Its queued messages are dropped, and their tickets fail with SessionDeleted, also in other processes.
        """
        if not await self._core.read(lambda conn: is_hidden(conn, session_id)):
            await self._hide(session_id)
        deleted = await self._core.cleanup.purge(session_id)
        await self._follow_deletion()
        return deleted

    async def kept_data(self, session_id: str) -> KeptData:
        """What deleting a session would not touch, because it was copied or is shared on purpose."""
        return await self._core.read(lambda conn: deletion.kept_data(conn, session_id))

    async def _hide(self, session_id: str) -> HiddenSession:
        now = self._core.now()

        def hide(tx: Transaction) -> HiddenSession:
            hidden = deletion.hide(tx.connection, session_id, at=now)
            drop_with_session(tx, session_id, at=now)
            return hidden

        return await self._core.edit(hide)

    async def _follow_deletion(self) -> None:
        self._core.cleanup.wake()
        if self._core.host is not None:
            with suppress(StoreError):  # the session is deleted; the host follows again at its next poll
                await self._core.host.follow_decisions()

    async def transcript(
        self,
        conversation_id: str,
        *,
        thread_id: str | None = None,
        bot_id: str | None = None,
        workspace_id: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> list[TranscriptLine]:
        """Lines of a conversation in all threads and of all bots: newest first, or ascending after a line.

        `thread_id`, `bot_id` and `workspace_id` select some of them; an empty text selects the lines without one.
        """
        return await self._core.fetch(
            transcript.session_page_query(
                conversation_id,
                thread_id=thread_id,
                bot_id=bot_id,
                workspace_id=workspace_id,
                before=before,
                after=after,
                limit=limit,
            )
        )

    async def tree(self, session_id: str, *, limit: int = 1_000) -> list[SessionRow]:
        """A session and its descendants, last active first; those nearest to the session if there are too many."""

        def read(conn: Connection) -> list[SessionRow]:
            ids = sessions.family(conn, session_id, limit=limit)
            return sessions.browse_page(conn, ids=ids, limit=len(ids))

        return await self._core.read(read)

    async def browse(
        self,
        *,
        text: str = "",
        user_id: str | None = None,
        parent_id: str | None = None,
        ids: Sequence[str] | None = None,
        before: SessionRow | None = None,
        limit: int = 100,
    ) -> list[SessionRow]:
        """A page of sessions with counts, last active first, after `before`, the last row of the previous page.

        Every word of `text` must be in the title or id; `parent_id` selects one session's children, `ids` the named
        sessions that exist. Runs, lines and children are counted up to 10,000.
        """
        return await self._core.read(
            lambda conn: sessions.browse_page(
                conn, text=text, user_id=user_id, parent_id=parent_id, ids=ids, before=before, limit=limit
            )
        )

    async def sizes(self, session_ids: Collection[str]) -> dict[str, StoredSize]:
        """How much each of these sessions takes on disk. What several sessions share counts for each of them."""
        return await self._core.read(lambda conn: sizes.of_sessions(conn, session_ids))

    async def list(self, *, user_id: str | None = None, before: str | None = None, limit: int = 100) -> list[Session]:
        """Sessions, last active first."""
        return await self._core.read(lambda conn: sessions.page(conn, user_id=user_id, before=before, limit=limit))


def _refuse_secret_id(session_id: str, mask: SecretMask) -> None:
    """Raise SessionRefused if an id contains a secret: ids are listed and compared everywhere, so none is masked."""
    if (name := mask.secret_in_name(session_id)) is not None:
        raise SessionRefused(f"the session id contains the secret {name}. Use an id without it.")
