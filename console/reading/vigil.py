"""Looks every second at what may go wrong around the console: the database, other processes, the news from both."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from console.model.trouble import Trouble
from console.stage import Stage

if TYPE_CHECKING:
    from engine.api import FactsError

PATIENCE: Final = 3
"""Looks that may fail before it is said: one that another process disturbed says nothing."""


class Vigil:
    """Keeps what is wrong now, and forgets it when it is over."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.others: tuple[int, ...] = ()
        """Processes that host on the same database."""
        self._unreadable: Trouble | None = None
        self._failed = 0
        self._trying: asyncio.Task[None] | None = None

    @property
    def trouble(self) -> Trouble | None:
        """What a person should know, and what to do about it."""
        hindrance = self._stage.engine.hindrance
        if hindrance is not None:
            return Trouble.of(hindrance)
        deaf = self._stage.deafness
        return self._unreadable if deaf is None else Trouble.of(deaf, "what is new cannot be read, trying again")

    async def look(self) -> None:
        """Once a second."""
        self._try_to_write()
        try:
            await self._look_for_others()
        except _known_errors() as error:
            self._failed += 1
            self._unreadable = Trouble.of(error) if self._failed >= PATIENCE else None
        else:
            self._failed, self._unreadable = 0, None

    async def _look_for_others(self) -> None:
        engine = self._stage.engine
        hosts = await engine.hosts()
        self.others = tuple(host.pid for host in hosts if host.is_alive and host.host_id != engine.host_id)
        if engine.hindrance is None and any(not host.is_alive for host in hosts):
            await engine.recover()

    def _try_to_write(self) -> None:
        """Where nothing runs nothing is written, and nobody would notice that the trouble is over."""
        if self._stage.engine.hindrance is not None and (self._trying is None or self._trying.done()):
            self._trying = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        with suppress(_known_errors()):  # it is the hindrance that we know of
            await self._stage.engine.try_to_write()


def _known_errors() -> "type[FactsError]":
    from engine.api import FactsError  # noqa: PLC0415

    return FactsError
