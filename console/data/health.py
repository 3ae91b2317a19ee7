"""What is wrong with the database or the engine: in a few words, and in a sentence that says what to do."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from console.data.active_session import ActiveSession
from console.model.commands.key_labels import key_of
from console.model.text.safe import one_line

_SHORT: Final = {
    "DatabaseLocked": "database locked, waiting for it",
    "DiskFull": "no space left on the disk",
    "DiskFailed": "the disk failed",
    "DatabaseReadOnly": "database cannot be written",
    "DatabaseNewer": "database of a newer trackside",
    "DatabaseDamaged": "database is damaged",
    "DatabaseForeign": "not a trackside database",
    "DatabaseMissing": "no database there",
}
"""By the name of the error: the engine's own sentence begins with a path, which leaves no room for the rest."""


def words_of(error: BaseException) -> str:
    """What an error says; and the key that mends it here, in place of an option of the command line."""
    found = getattr(error, "found", None)
    if isinstance(found, str):
        return f"{found}. {key_of('app.runners')} chooses one."
    if type(error).__name__ == "FormError":
        return f"{error} {key_of('app.settings')} opens its settings."
    return str(error) or type(error).__name__


class HealthProblem(NamedTuple):
    """Said until it is over."""

    short: str
    words: str
    passes: bool = False
    """It is over by itself: whoever waits need do nothing."""

    @classmethod
    def of(cls, error: BaseException, what: str = "") -> "HealthProblem":
        """What an error means; `what` failed because of it."""
        said = one_line(words_of(error), 400)
        words = f"{what}: {said}" if what else said
        name = type(error).__name__
        return cls(_SHORT.get(name, one_line(words, 60)), words, name == "DatabaseLocked")


if TYPE_CHECKING:
    from engine.api import StoreError

MISSED_CHECKS_ALLOWED: Final = 3
"""Looks that may fail before it is said: one that another process disturbed says nothing."""


class HealthMonitor:
    """Keeps what is wrong now, and forgets it when it is over."""

    def __init__(self, stage: ActiveSession) -> None:
        self._stage = stage
        self.others: tuple[int, ...] = ()
        """Processes that host on the same database."""
        self._unreadable: HealthProblem | None = None
        self._failed = 0
        self._trying: asyncio.Task[None] | None = None

    @property
    def trouble(self) -> HealthProblem | None:
        """What a person should know, and what to do about it."""
        hindrance = self._stage.engine.write_error
        if hindrance is not None:
            return HealthProblem.of(hindrance)
        deaf = self._stage.deafness
        return self._unreadable if deaf is None else HealthProblem.of(deaf, "what is new cannot be read, trying again")

    async def look(self) -> None:
        """Once a second."""
        self._try_to_write()
        try:
            await self._look_for_others()
        except _known_errors() as error:
            self._failed += 1
            self._unreadable = HealthProblem.of(error) if self._failed >= MISSED_CHECKS_ALLOWED else None
        else:
            self._failed, self._unreadable = 0, None

    async def _look_for_others(self) -> None:
        engine = self._stage.engine
        hosts = await engine.hosts()
        self.others = tuple(host.pid for host in hosts if host.is_alive and host.host_id != engine.host_id)
        if engine.write_error is None and any(not host.is_alive for host in hosts):
            await engine.recover()

    def _try_to_write(self) -> None:
        """Where nothing runs nothing is written, and nobody would notice that the trouble is over."""
        if self._stage.engine.write_error is not None and (self._trying is None or self._trying.done()):
            self._trying = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        with suppress(_known_errors()):  # it is the hindrance that we know of
            await self._stage.engine.check_writable()


def _known_errors() -> "type[StoreError]":
    from engine.api import StoreError  # noqa: PLC0415

    return StoreError
