"""Background work after deletions: purges hidden sessions, and removes deleted words from the files."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Final, Protocol, TypeVar

from sqlalchemy import Connection, select

from engine.clock import Clock, Ids, Timer
from engine.events import LIVE_STATUSES
from engine.store import deletion, index_cleanup, search_index
from engine.store.batch import Transaction
from engine.store.database import Database
from engine.store.deletion import RESTORE_SECONDS, Purge
from engine.store.errors import StoreError
from engine.store.index_cleanup import IndexCleanup
from engine.store.tables import runs

T = TypeVar("T")

SLICE_SECONDS: Final = 0.002
"""How long the writer works on one slice: entries that are recorded meanwhile wait at most that long."""
PAUSE_FACTOR: Final = 49
"""Pauses between slices while a run is in progress, in times of the slice.

The clean-up uses a fiftieth of the writer's time then, so that fewer than one in a hundred entries waits for one of the
checkpoints that it causes. A million lines take about a minute.
"""
IDLE_PAUSE_FACTOR: Final = 4
MIN_PAUSE_SECONDS: Final = 0.005
START_SECONDS: Final = 1.0
"""Seconds after the start before the first look, which is not part of the start."""
RETRY_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 60.0
"""How often to look for sessions that a process hid before it died."""
SLICES_PER_CHECKPOINT: Final = 8
"""With this many slices, checkpoints in the background halve the longest commits: 8 ms instead of 18."""
WORDS_PER_SLICE: Final = 100
FIRST_PAGES: Final = 8
MAX_PAGES: Final = 1_000


class Submit(Protocol):
    """Runs an operation in the writer."""

    def __call__(self, operation: Callable[[Transaction], T], /) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be done now."""

    to_purge: str | None
    cleanups: list[IndexCleanup]
    next_purge_at: int | None
    """When a hidden session can no longer be restored; None if there is none."""
    has_live_runs: bool


class Cleanup:
    """Carries out the work in small slices, while other writes go on."""

    def __init__(self, submit: Submit, database: Database, clock: Clock, ids: Ids) -> None:
        self._submit = submit
        self._database = database
        self._clock = clock
        self._ids = ids
        self._pages = FIRST_PAGES
        self._slice_seconds = SLICE_SECONDS
        self._slices = 0
        self._purge: tuple[str, Purge] | None = None
        self._is_rewritten = False
        self._is_log_empty = False
        self._wake = asyncio.Event()
        self._timer: Timer | None = None
        self._task: asyncio.Task[None] | None = None
        self.hidden_here: set[str] = set()
        """Sessions that this process has hidden; they are purged when it closes the database."""

    def start(self) -> None:
        """Work in the background from now on."""
        self._task = asyncio.ensure_future(self._run())

    def wake(self) -> None:
        """Look for work now, because something was hidden or deleted."""
        self._wake.set()

    async def close(self) -> None:
        """Stop, and purge the sessions that this process has hidden. The next process continues with the rest."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        for session_id in sorted(self.hidden_here):
            with suppress(StoreError):  # the session stays hidden; the next host purges it
                await self.purge(session_id)

    async def purge(self, session_id: str) -> deletion.Deleted:
        """Purge a hidden session now."""
        purge, event_id = Purge(session_id), self._ids.new("evt")
        while not await self._submit(partial(self._purge_slice, purge, event_id)):
            pass
        self.hidden_here.discard(session_id)
        return purge.deleted

    async def finish(self, max_seconds: float) -> None:
        """Work until everything is done or the time is over, without pauses: for a process that does nothing else."""
        until = self._clock.monotonic() + int(max_seconds * 1_000_000)
        self._slice_seconds = max_seconds
        self._pages = MAX_PAGES
        while self._clock.monotonic() < until:
            pause = await self._step(await self._database.read(self._look))
            if pause is None or pause == RETRY_SECONDS:
                return  # everything is done, or another process uses the database and finishes it

    async def _run(self) -> None:
        pause: float | None = START_SECONDS
        while True:
            # A pause between slices is real time; the clock of a test stands still.
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            self._wake.clear()
            try:
                work = await self._database.read(self._look)
                pause = await self._step(work)
            except Exception:  # noqa: BLE001  (a failed slice must not end the loop)
                pause = RETRY_SECONDS  # the health monitor shows a database that cannot be written
            else:
                if pause is None:
                    pause = self._set_timer(work.next_purge_at)

    def _set_timer(self, next_purge_at: int | None) -> float | None:
        """Look again when the next purge is due. Returns 0 if that was while this one looked, else None."""
        if self._timer is not None:
            self._timer.cancel()
        seconds = LOOK_SECONDS if next_purge_at is None else (next_purge_at - self._clock.now()) / 1_000_000
        if seconds <= 0:
            return 0
        self._timer = self._clock.later(seconds, self.wake)
        return None

    def _look(self, conn: Connection) -> _Work:
        now = self._clock.now()
        hidden = deletion.hidden(conn)
        waiting = [one for one in hidden if one.can_be_restored(now)]
        oldest = min((one.deleted_at for one in waiting), default=None)
        live = select(runs.c.run_id).where(runs.c.status.in_(LIVE_STATUSES)).limit(1)
        return _Work(
            to_purge=next((one.session_id for one in hidden if one not in waiting), None),
            cleanups=index_cleanup.pending(conn),
            next_purge_at=None if oldest is None else oldest + RESTORE_SECONDS * 1_000_000,
            has_live_runs=conn.execute(live).first() is not None,
        )

    async def _step(self, work: _Work) -> float | None:
        """Do one slice. Returns the seconds to wait before the next; None if nothing is to be done now."""
        if work.to_purge is not None:
            self._is_rewritten = self._is_log_empty = False
            return await self._step_purge(work.to_purge)
        if not work.cleanups:
            return None
        if not all(cleanup.is_merged for cleanup in work.cleanups):
            self._is_rewritten = self._is_log_empty = False
            seconds = await self._submit(self._merge_slice)
            self._slices += 1
            if self._slices % SLICES_PER_CHECKPOINT == 0:
                # Otherwise a commit of the writer makes the checkpoint, and everything recorded meanwhile waits.
                await asyncio.to_thread(self._database.checkpoint)
            return max(MIN_PAUSE_SECONDS, seconds * (PAUSE_FACTOR if work.has_live_runs else IDLE_PAUSE_FACTOR))
        return await self._step_files(work)

    async def _step_purge(self, session_id: str) -> float:
        if self._purge is None or self._purge[0] != session_id:
            self._purge = session_id, Purge(session_id)
        started = perf_counter()
        if await self._submit(partial(self._purge_slice, self._purge[1], self._ids.new("evt"))):
            self._purge = None
            self.hidden_here.discard(session_id)
        return max(MIN_PAUSE_SECONDS, (perf_counter() - started) * IDLE_PAUSE_FACTOR)

    async def _step_files(self, work: _Work) -> float:
        """Overwrite what the index and the tables no longer contain but the files still do."""
        if self._database.is_small and not self._is_rewritten:
            if work.has_live_runs:
                # They would wait while the file is rewritten. Only the log is emptied meanwhile, once.
                self._is_log_empty = self._is_log_empty or await asyncio.to_thread(self._database.empty_wal)
                return RETRY_SECONDS
            self._is_rewritten = await asyncio.to_thread(self._database.rewrite)
            if not self._is_rewritten:
                return RETRY_SECONDS
        if not await asyncio.to_thread(self._database.empty_wal):
            return RETRY_SECONDS
        self._is_rewritten = self._is_log_empty = False
        await self._submit(lambda tx: index_cleanup.finish(tx.connection, work.cleanups))
        return MIN_PAUSE_SECONDS

    def _purge_slice(self, purge: Purge, event_id: str, tx: Transaction) -> bool:
        return purge.delete_slice(tx.connection, at=self._clock.now(), event_id=event_id)

    def _merge_slice(self, tx: Transaction) -> float:
        """Inside the writer: forget unused words or merge some pages, and adapt the slice. Returns the seconds."""
        started = perf_counter()
        if search_index.remove_unused_words(tx.connection, WORDS_PER_SLICE):
            return perf_counter() - started
        index_cleanup.merge_slice(tx.connection, self._pages)
        seconds = perf_counter() - started
        if seconds > self._slice_seconds:
            self._pages = max(1, self._pages // 2)
        elif seconds < self._slice_seconds / 2:
            self._pages = min(MAX_PAGES, self._pages + 1)
        return seconds
