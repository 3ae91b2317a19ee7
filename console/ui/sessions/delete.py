"""Deletes sessions after a delay in which the user can undo it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from console.data.health import error_text
from console.model.text.safe import one_line
from console.model.text.units import number

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.shared.services import AppServices
    from engine.api import SessionRow

UNDO_SECONDS: Final = 8.0
"""Seconds within which a delete can be undone."""
MAX_TITLE_CHARACTERS: Final = 60


class Timer(Protocol):
    def stop(self) -> None: ...


SetTimer = Callable[[float, Callable[[], object]], Timer]
RunInBackground = Callable[[Awaitable[object]], None]
Delete = Callable[[str], Awaitable[str]]
"""Deletes a session. Returns the text that is shown if the delay was cut short."""
Finished = Callable[[str, bool], object]
"""Called when a delete has ended, with the session's id and whether it is deleted."""


class PendingDeletes:
    """Sessions that will be deleted when their delay is over. Nothing is deleted earlier, so undo loses nothing."""

    def __init__(
        self, delete: Delete, set_timer: SetTimer, run_in_background: RunInBackground, finished: Finished
    ) -> None:
        self._delete = delete
        self._set_timer = set_timer
        self._run_in_background = run_in_background
        self._finished = finished
        self._timers: dict[str, Timer] = {}
        """Sessions whose delete can be undone."""
        self._deletes: dict[str, asyncio.Task[str]] = {}
        """Sessions that are being deleted: hidden too, but no longer restorable."""

    @property
    def session_ids(self) -> frozenset[str]:
        """The sessions that are no longer listed."""
        return frozenset([*self._timers, *self._deletes])

    @property
    def can_undo(self) -> bool:
        return bool(self._timers)

    @property
    def why_no_undo(self) -> str | None:
        """Why no delete can be undone; None if one can."""
        if self.can_undo:
            return None
        if self._deletes:
            return "The session is being deleted and cannot be restored."
        return f"No session was deleted in the last {number(round(UNDO_SECONDS), 'second')}."

    def add(self, session_id: str) -> None:
        """Delete a session after the delay."""
        if session_id not in self.session_ids:
            self._timers[session_id] = self._set_timer(
                UNDO_SECONDS, lambda: self._run_in_background(self._delete_now(session_id))
            )

    def undo(self) -> str | None:
        """Keep the session that was added last. Returns its id."""
        if not self._timers:
            return None
        session_id, timer = self._timers.popitem()
        timer.stop()
        return session_id

    async def finish(self) -> list[str]:
        """Delete everything now, before the app quits.

        Returns a text for each session that was not deleted, and for each whose delay was cut short.
        """
        texts: list[str] = []
        for session_id in [*self._deletes, *self._timers]:
            is_early = session_id in self._timers
            try:
                text = await self._delete_now(session_id)
            except Exception as error:  # noqa: BLE001  (the others are deleted all the same)
                texts.append(error_text(error))
            else:
                texts += [text] if is_early else []
        return texts

    async def _delete_now(self, session_id: str) -> str:
        """Delete a session, or wait for a delete in progress."""
        if (timer := self._timers.pop(session_id, None)) is not None:
            timer.stop()
            self._deletes[session_id] = asyncio.ensure_future(self._carry_out(session_id))
        if (delete := self._deletes.get(session_id)) is None:
            return ""
        return await asyncio.shield(delete)  # a cancelled caller must not cancel the delete

    async def _carry_out(self, session_id: str) -> str:
        is_deleted = False
        try:
            text = await self._delete(session_id)
            is_deleted = True
            return text
        finally:
            # Not earlier, so that the session is not listed again while it is being deleted.
            del self._deletes[session_id]
            self._finished(session_id, is_deleted)


class NotDeleted(Exception):
    """The session was used after the user deleted it."""


class _DeletedSession(NamedTuple):
    """A session as it was when the user deleted it."""

    row: "SessionRow"
    title: str
    replacement: str | None
    """The session that was started instead, if the deleted one was active."""


class SessionDeleter:
    """Deletes sessions on behalf of the session browser."""

    def __init__(self, services: "AppServices", active_session: "ActiveSession", set_timer: SetTimer) -> None:
        self._services = services
        self._session = active_session
        self._deleted: dict[str, _DeletedSession] = {}
        self.pending = PendingDeletes(self._delete, set_timer, self._run, self._finish)

    def _run(self, work: Awaitable[object]) -> None:
        """Run a delete; an open full screen says so if it is slow."""
        if (top := self._services.full_screen) is not None:
            top.run_with_progress("Deleting the session…", work)
        else:
            self._services.run_in_background(work)

    def delete(self, row: "SessionRow", title: str) -> None:
        """Delete a session after the delay. If it is the active one, a new session is started."""
        session_id, replacement = row.session.session_id, None
        self.pending.add(session_id)
        if session_id == self._session.session_id:
            self._session.start_session()
            replacement = self._session.session_id
            self._services.run_in_background(self._services.updater.enter_session(replacement))
        self._deleted[session_id] = _DeletedSession(row, one_line(title, MAX_TITLE_CHARACTERS), replacement)
        self._update_run_list()

    def undo(self) -> str | None:
        """Restore the session deleted last; enter it again if its replacement is still active and empty."""
        session_id = self.pending.undo()
        if session_id is not None:
            deleted, updater = self._deleted.pop(session_id), self._services.updater
            if deleted.replacement == self._session.session_id and not updater.conversation.blocks:
                self._services.run_in_background(updater.enter_session(session_id))
            self._update_run_list()
            self._services.show_toast(f"“{deleted.title}” is restored.")
        return session_id

    async def _delete(self, session_id: str) -> str:
        deleted, engine = self._deleted.pop(session_id), self._session.engine
        if session_id == self._session.session_id:
            raise NotDeleted(f"“{deleted.title}” is not deleted: it is open.")
        for row in await engine.sessions.browse(ids=[session_id], limit=1):
            if row.session.last_active > deleted.row.session.last_active:
                raise NotDeleted(f"“{deleted.title}” is not deleted: it has new messages.")
            await engine.sessions.delete(session_id)
        return f"Deleted “{deleted.title}”."

    def _finish(self, session_id: str, is_deleted: bool) -> None:
        from console.ui.sessions.screen import SessionsScreen  # noqa: PLC0415

        if is_deleted:
            self._services.updater.run_list.forget(session_id)
        self._update_run_list()
        if (browser := self._services.find_screen(SessionsScreen)) is not None:
            browser.finish_delete(session_id, is_deleted=is_deleted)

    def _update_run_list(self) -> None:
        """Hide the pending sessions in the list at the side."""
        updater = self._services.updater
        updater.run_list.pending_deletes = self.pending.session_ids
        updater.refresh("rail")
