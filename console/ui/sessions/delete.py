"""Sessions that were deleted a moment ago: they go when the moment is over, and until then they can come back."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from console.model.text.safe import one_line
from console.model.text.units import number

if TYPE_CHECKING:
    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.ui.main.updater import ScreenUpdater
    from console.ui.shared.full_screen import FullScreen
    from engine.api import SessionRow

    _App = App[None]
else:
    _App = object

MOMENT: Final = 8.0
"""Seconds in which it can be undone."""


class Timer(Protocol):
    """What is going to happen, unless it is stopped."""

    def stop(self) -> None: ...


Later = Callable[[float, Callable[[], object]], Timer]
Do = Callable[[Awaitable[object]], None]
Delete = Callable[[str], Awaitable[str]]
"""Gives what is said of it where its moment was cut short."""
Over = Callable[[str, bool], object]
"""Told when a moment is over: of which session, and whether it is gone."""


class Parting:
    """Nothing is deleted before its moment is over: that is how it can be undone, whatever happens meanwhile."""

    def __init__(self, delete: Delete, later: Later, do: Do, over: Over) -> None:
        self._delete = delete
        self._later = later
        self._do = do
        self._over = over
        self._going: dict[str, Timer] = {}
        """Those that can come back."""
        self._leaving: dict[str, asyncio.Task[str]] = {}
        """Those that are being deleted: they are not to be seen either, but nothing brings them back."""

    @property
    def going(self) -> frozenset[str]:
        """Those that are not to be seen any more."""
        return frozenset([*self._going, *self._leaving])

    @property
    def can_be_undone(self) -> bool:
        return bool(self._going)

    @property
    def why_no_undo(self) -> str | None:
        """Why none of them can come back."""
        if self.can_be_undone:
            return None
        if self._leaving:
            return "its moment is over: it is being deleted, and cannot come back"
        return f"nothing was deleted in the last {number(round(MOMENT), 'second')}"

    def put(self, session_id: str) -> None:
        """Let a session go, unless someone wants it back."""
        if session_id not in self.going:
            self._going[session_id] = self._later(MOMENT, lambda: self._do(self._part(session_id)))

    def take_back(self) -> str | None:
        """The last of them is not deleted after all."""
        if not self._going:
            return None
        session_id, timer = self._going.popitem()
        timer.stop()
        return session_id

    async def finish(self) -> list[str]:
        """Do now what was to be done: nobody can want them back any more.

        Gives what is said of those that stay, and of those that could have come back a little longer.
        """
        said: list[str] = []
        for session_id in [*self._leaving, *self._going]:
            is_early = session_id in self._going
            try:
                words = await self._part(session_id)
            except Exception as error:  # noqa: BLE001  (the others go all the same)
                said.append(str(error))
            else:
                said += [words] if is_early else []
        return said

    async def _part(self, session_id: str) -> str:
        """Delete it now, or wait until that is done where it was begun."""
        if (timer := self._going.pop(session_id, None)) is not None:
            timer.stop()
            self._leaving[session_id] = asyncio.ensure_future(self._let_go(session_id))
        if (leaving := self._leaving.get(session_id)) is None:
            return ""
        return await asyncio.shield(leaving)  # who waits for it may be stopped; what was begun may not

    async def _let_go(self, session_id: str) -> str:
        is_gone = False
        try:
            words = await self._delete(session_id)
            is_gone = True
            return words
        finally:
            # Only now, so that it is not seen again for the time that this takes; one that could not go is back.
            del self._leaving[session_id]
            self._over(session_id, is_gone)


class NotDeleted(Exception):
    """Something was said in it since: it is wanted, though nobody took it back."""


class _Going(NamedTuple):
    """A session as it was when it was deleted."""

    row: "SessionRow"
    title: str
    instead: str | None
    """The session that was begun in its place, where it was the one that is shown."""


class PendingDeletes(_App):
    """The part of the app that deletes sessions."""

    stage: "ActiveSession"
    _parting: Parting | None = None
    _going: dict[str, _Going]

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "ScreenUpdater": ...
        @property
        def cover(self) -> "FullScreen | None": ...
        def do(self, act: Any, said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information", seconds: float | None = None) -> None: ...

    @property
    def parting(self) -> Parting:
        """What was deleted a moment ago."""
        if self._parting is None:
            self._going = {}
            self._parting = Parting(self._delete, self.set_timer, self._do_parting, self._moment_over)
        return self._parting

    def _do_parting(self, act: Awaitable[object]) -> None:
        """Where sessions are listed, it is said that this takes long."""
        if (cover := self.cover) is not None:
            cover.do("deleting the session…", act)
        else:
            self.do(act)

    def part_with(self, row: "SessionRow", title: str) -> None:
        """Delete a session, unless it is wanted back. Who is in it is in a new one at once."""
        session_id, instead = row.session.session_id, None
        self.parting.put(session_id)
        if session_id == self.stage.session:
            self.stage.new_session()
            instead = self.stage.session
            self.do(self.hearing.enter(instead))
        self._going[session_id] = _Going(row, one_line(title, 60), instead)
        self._list()

    def take_back(self) -> str | None:
        """Have the last of them back; who was in it is in it again, unless they have gone on."""
        session_id = self.parting.take_back()
        if session_id is not None:
            going = self._going.pop(session_id)
            if going.instead == self.stage.session and not self.hearing.talk.blocks:
                self.do(self.hearing.enter(session_id))
            self._list()
            self.tell(f"“{going.title}” is back")
        return session_id

    async def _delete(self, session_id: str) -> str:
        going, engine = self._going.pop(session_id), self.stage.engine
        if session_id == self.stage.session:
            raise NotDeleted(f"“{going.title}” is not deleted: you are in it")
        for now in await engine.sessions.browse(ids=[session_id], limit=1):
            if now.session.last_active > going.row.session.last_active:
                raise NotDeleted(f"“{going.title}” is not deleted: something was said in it since")
            await engine.sessions.delete(session_id)
        return f"deleted “{going.title}”"

    def _moment_over(self, session_id: str, is_gone: bool) -> None:
        from console.ui.sessions.screen import SessionsScreen  # noqa: PLC0415

        if is_gone:
            self.hearing.listing.forget(session_id)
        self._list()
        for screen in self.screen_stack:
            if isinstance(screen, SessionsScreen):
                screen.finish_delete(session_id, is_deleted=is_gone)

    def _list(self) -> None:
        """Have the rail leave out what is going."""
        self.hearing.listing.going = self.parting.going
        self.hearing.refresh("rail")
