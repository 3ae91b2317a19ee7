"""Deletes and restores sessions on behalf of the session browser. The engine decides how long each can be restored."""

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from console.data.health import error_text
from console.model.sessions.kept_data import kept_data_text
from console.model.text.safe import one_line
from console.model.text.units import number

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.shared.services import AppServices
    from engine.api import HiddenSession, SessionRow

UNDO_SECONDS: Final = 8.0
"""Seconds within which a deleted session can be restored; the hint is shown as long."""
MAX_TITLE_CHARACTERS: Final = 60


class _DeletedSession(NamedTuple):
    """A session that the user has deleted."""

    title: str
    hidden: "HiddenSession | None" = None
    """None until the engine has hidden it."""
    replacement: str | None = None
    """The session that was started instead, if the deleted one was active."""


class SessionDeleter:
    """Remembers the deleted sessions, the last one at the end, and restores them in reverse order."""

    def __init__(self, services: "AppServices", active_session: "ActiveSession") -> None:
        self._services = services
        self._session = active_session
        self._deleted: dict[str, _DeletedSession] = {}
        self._tasks: dict[str, asyncio.Task[str]] = {}
        """Sessions that the engine is about to hide."""

    @property
    def pending(self) -> frozenset[str]:
        """Sessions that are about to be hidden, and are no longer listed."""
        return frozenset(self._tasks)

    @property
    def can_undo(self) -> bool:
        return self._last() is not None

    @property
    def why_no_undo(self) -> str | None:
        """Why no session can be restored; None if one can."""
        return None if self.can_undo else f"No session was deleted in the last {number(round(UNDO_SECONDS), 'second')}."

    async def load(self) -> None:
        """Find the sessions that were deleted before a crash, or in another process, and can be restored."""
        for hidden in reversed(await self._session.engine.sessions.list_restorable()):
            if hidden.session_id not in self._deleted:
                title = one_line(hidden.title or hidden.session_id, MAX_TITLE_CHARACTERS)
                self._deleted[hidden.session_id] = _DeletedSession(title, hidden)

    def delete(self, row: "SessionRow", title: str) -> "asyncio.Task[str]":
        """Hide a session. If it is the active one, a new session is started.

        The task returns a sentence about the data that is not deleted with it.
        """
        session_id, replacement = row.session.session_id, None
        if session_id == self._session.session_id:
            self._session.start_session()
            replacement = self._session.session_id
            self._services.run_in_background(self._services.updater.enter_session(replacement))
        self._deleted.pop(session_id, None)  # it was deleted and restored before
        self._deleted[session_id] = _DeletedSession(one_line(title, MAX_TITLE_CHARACTERS), None, replacement)
        task = self._tasks[session_id] = asyncio.ensure_future(self._hide(session_id))
        self._update_run_list()
        return task

    async def undo(self) -> str | None:
        """Restore the session deleted last; enter it again if its replacement is still active and empty.

        Returns its id; None if none can be restored.
        """
        if (session_id := self._last()) is None:
            return None
        deleted, updater = self._deleted.pop(session_id), self._services.updater
        if (task := self._tasks.get(session_id)) is not None:
            await asyncio.shield(task)
        await self._session.engine.sessions.restore(session_id)
        updater.run_list.start_over()
        if deleted.replacement == self._session.session_id and not updater.conversation.blocks:
            self._services.run_in_background(updater.enter_session(session_id))
        self._update_run_list()
        self._services.show_toast(f"“{deleted.title}” is restored.")
        return session_id

    async def finish(self) -> list[str]:
        """Wait for the deletions in progress, before the app quits.

        Returns a text for each session that was not deleted, and for each that can no longer be restored because the
        engine purges it when it is closed.
        """
        texts: list[str] = []
        for session_id, task in list(self._tasks.items()):
            try:
                await asyncio.shield(task)
            except Exception as error:  # noqa: BLE001  (the others are deleted all the same)
                self._deleted.pop(session_id, None)
                texts.append(error_text(error))
        return texts + [f"Deleted “{deleted.title}”." for deleted in self._deleted.values() if self._is_fresh(deleted)]

    async def _hide(self, session_id: str) -> str:
        sessions, hidden = self._session.engine.sessions, None
        try:
            kept = await sessions.kept_data(session_id)
            hidden = await sessions.hide(session_id)
            if (deleted := self._deleted.get(session_id)) is not None:
                self._deleted[session_id] = deleted._replace(hidden=hidden)
            return kept_data_text(kept)
        finally:
            # Not earlier, so that the session is not listed again while it is being hidden.
            del self._tasks[session_id]
            if hidden is None:
                self._deleted.pop(session_id, None)
            self._finish(session_id, is_deleted=hidden is not None)

    def _finish(self, session_id: str, *, is_deleted: bool) -> None:
        from console.ui.sessions.screen import SessionsScreen  # noqa: PLC0415

        if is_deleted:
            self._services.updater.run_list.forget(session_id)
        self._update_run_list()
        if (browser := self._services.find_screen(SessionsScreen)) is not None:
            browser.finish_delete(session_id, is_deleted=is_deleted)

    def _last(self) -> str | None:
        """The session that is restored next."""
        return next((name for name in reversed(self._deleted) if self._is_fresh(self._deleted[name])), None)

    def _is_fresh(self, deleted: _DeletedSession) -> bool:
        return deleted.hidden is None or deleted.hidden.can_be_restored(self._session.engine.now())

    def _update_run_list(self) -> None:
        """Read the list at the side again, without the sessions that are about to be hidden."""
        updater = self._services.updater
        updater.run_list.pending_deletes = self.pending
        updater.refresh("rail")
