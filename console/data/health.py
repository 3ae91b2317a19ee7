"""Problems of the database and of the engine: a short text for the header, and a sentence that says what to do."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from console.model.commands.key_labels import key_of
from console.model.sessions.stored_size import MAKE_ROOM
from console.model.text.safe import one_line
from console.model.text.sentence import as_sentence
from console.model.text.units import size

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from engine.api import StoreError

MAX_PROBLEM_CHARACTERS: Final = 400
MAX_SHORT_CHARACTERS: Final = 60
MISSED_CHECKS_ALLOWED: Final = 3
"""Failed checks in a row before a problem is shown: another process may disturb a single one."""
_SHORT_TEXTS: Final = {
    "DatabaseLocked": "database locked, waiting for it",
    "DiskFull": "no space left on the disk",
    "DiskFailed": "the disk failed",
    "DatabaseReadOnly": "database cannot be written",
    "DatabaseNewer": "database of a newer Trackside",
    "DatabaseDamaged": "database is damaged",
    "DatabaseForeign": "not a Trackside database",
    "DatabaseMissing": "database does not exist",
    "DatabaseInUse": "database open in another process",
    "UpgradeInProgress": "upgraded by another process, waiting for it",
}
"""By the name of the error's class: the engine's own sentence begins with a path and is too long for the header."""
_TEMPORARY: Final = frozenset({"DatabaseLocked", "UpgradeInProgress"})


def error_text(error: BaseException) -> str:
    """The text of an error as a sentence. Names the key that fixes it instead of an option of the command line."""
    return as_sentence(_plain_text(error))


def _plain_text(error: BaseException) -> str:
    """The text of an error as a part of another sentence."""
    found = getattr(error, "found", None)
    if isinstance(found, str):
        return f"{found}. {key_of('app.runners')} chooses one."
    if type(error).__name__ == "FormError":
        return f"{error} {key_of('app.settings')} opens its settings."
    return str(error) or type(error).__name__


class HealthProblem(NamedTuple):
    """A problem that is shown until it is over."""

    short: str
    text: str
    is_temporary: bool = False
    """The problem ends by itself, and the user need not do anything."""

    @classmethod
    def of(cls, error: BaseException, what: str = "") -> "HealthProblem":
        """The problem that an error means; `what` failed because of it."""
        cause = one_line(_plain_text(error), MAX_PROBLEM_CHARACTERS)
        text = f"{what}: {cause}" if what else cause
        name = type(error).__name__
        short = _SHORT_TEXTS.get(name, one_line(text, MAX_SHORT_CHARACTERS))
        return cls(short, as_sentence(text), name in _TEMPORARY)


class HealthMonitor:
    """Holds the current problem, and the other processes on the same database."""

    def __init__(self, active_session: "ActiveSession") -> None:
        self._session = active_session
        self.problem: HealthProblem | None = None
        """The current problem, as of the last tick."""
        self.other_pids: tuple[int, ...] = ()
        """Other processes that host runs on the same database."""
        self._read_problem: HealthProblem | None = None
        self._failed_checks = 0
        self._write_check: asyncio.Task[None] | None = None

    def set_open_error(self, error: BaseException | None) -> None:
        """Set the problem that keeps the engine from opening; None when it is open."""
        self.problem = HealthProblem.of(error) if error is not None else None

    def update(self) -> None:
        """Update `problem`. Called once a tick; reads nothing from the database."""
        write_error, subscription_error = self._session.engine.write_error, self._session.subscription_error
        if write_error is not None:
            self.problem = HealthProblem.of(write_error)
        elif subscription_error is not None:
            self.problem = HealthProblem.of(subscription_error, "New entries cannot be read, trying again")
        else:
            self.problem = self._read_problem

    async def check(self) -> None:
        """Check that the database can be read and written, and look for other processes. Called once a second."""
        self._check_writing()
        try:
            await self._find_other_hosts()
        except _store_error() as error:
            self._failed_checks += 1
            is_shown = self._failed_checks >= MISSED_CHECKS_ALLOWED
            self._read_problem = HealthProblem.of(error) if is_shown else None
        else:
            self._failed_checks, self._read_problem = 0, None

    async def disk_warning(self) -> str | None:
        """Return a warning if the database is larger than the project allows; None if not."""
        engine = self._session.engine
        limit = engine.project.disk_limit_bytes()
        if limit is None:
            return None
        try:
            used = (await engine.disk_usage()).used_bytes
        except _store_error():
            return None  # the next check shows what is wrong
        if used <= limit:
            return None
        return (
            f"The database has {size(used)}; `trackside doctor` lists its largest sessions, `{MAKE_ROOM}` makes room."
        )

    async def _find_other_hosts(self) -> None:
        engine = self._session.engine
        hosts = await engine.hosts()
        self.other_pids = tuple(host.pid for host in hosts if host.is_alive and host.host_id != engine.host_id)
        if engine.write_error is None and any(not host.is_alive for host in hosts):
            await engine.recover()

    def _check_writing(self) -> None:
        """Try to write while writing fails: without a run nothing else is written that could show its end."""
        if self._session.engine.write_error is not None and (self._write_check is None or self._write_check.done()):
            self._write_check = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        with suppress(_store_error()):  # `write_error` has it
            await self._session.engine.check_writable()


def _store_error() -> "type[StoreError]":
    from engine.api import StoreError  # noqa: PLC0415  (loads the engine)

    return StoreError
