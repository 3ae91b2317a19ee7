"""The one writer: every write and every decision is an operation on its queue, committed in groups."""

import asyncio
import math
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar, cast

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from engine.facts.batch import Batch, Item, Operation, Transaction
from engine.facts.errors import FactsError, WriterClosed, sqlite_code, translate
from engine.facts.journal import Entry

T = TypeVar("T")

BATCH: Final = 1024
"""Items in one transaction. Four batches fit the queue, so the loop refills it while one is written."""
MOST_QUEUED: Final = 4096
MOST_QUEUED_BYTES: Final = 8 << 20
MOST_OPERATIONS: Final = 512
"""Each takes as long as fifty entries, and whoever ends a run waits for those before it."""
_NEVER: Final = sys.maxsize
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class _Shut:
    """Stands in for the queue of a closed writer, so that `append` need not look whether it is one."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, item: Item) -> None:  # noqa: ARG002
        raise WriterClosed(f"{self._path} was closed; nothing more can be recorded in it.")


class Writer:
    """One thread owns the only writing connection; the order of its queue is the order in the database.

    It commits at once when it was idle, and otherwise gathers for `window` seconds; an operation ends the gathering.
    `told` hears of entries after their commit, on the loop, before the futures of the same commit resolve.
    Where the disk or the database fails, everything queued by then fails with it: no entry is written behind a gap.
    All methods belong to the loop's thread.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        path: Path,
        *,
        told: Callable[[int, list[Entry]], None],
        failed: Callable[[FactsError], None],
        window: float = 0.004,
        patience: float = 30.0,
    ) -> None:
        self._connect = connect
        self._path = path
        self._told = told
        self._failed = failed
        self._window = window
        self._patience = patience
        """How long to try for a database that another process has locked."""
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Item] = deque()
        self._incoming: deque[Item] | _Shut = self._queue
        # Written by the loop only, read by both: what was ever queued. No lock: the GIL orders these few integers.
        self._added = 0
        self._added_size = 0
        self._submitted = 0
        # Written by the thread: what it took. Written by the loop: what is done with.
        self._taken = 0
        self._taken_submitted = 0
        self._done = 0
        self._done_submitted = 0
        self._done_size = 0
        self._ring_at = _NEVER
        """The count of items at which the sleeping thread wants the bell."""
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._acknowledged = threading.Event()
        self._room: list[Callable[[], None]] = []
        self._closed: asyncio.Future[None] | None = None
        self.hindrance: FactsError | None = None
        """What the thread waits for, or failed at and has not got over since. Written by the thread."""
        self._connection: Connection | None = None
        self._driver: sqlite3.Connection | None = None
        self._thread = threading.Thread(target=self._work, name="facts-writer", daemon=True)
        self._thread.start()

    # The loop's side

    def append(self, entry: Entry) -> None:
        """Queue one entry. About a microsecond; never blocks, so mind `full`."""
        self._incoming.append(entry)
        self._added += 1
        self._added_size += len(entry.data)
        if self._added >= self._ring_at:
            self._ring()

    def submit(self, operation: Callable[[Transaction], T]) -> asyncio.Future[T]:
        """Queue a decision. The future resolves after the commit; cancelling it does not take the operation back."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._incoming.append(Operation(operation, future))
        self._added += 1
        self._submitted += 1
        if self._ring_at != _NEVER:
            self._ring()
        return future

    async def flush(self) -> None:
        """Return when all that was queued before is committed; raise if that failed."""
        if self._done != self._added:
            await self.submit(lambda _: None)

    @property
    def full(self) -> bool:
        """Whether producers should pause until `when_room` calls."""
        return (
            self._added - self._done > MOST_QUEUED
            or self._added_size - self._done_size > MOST_QUEUED_BYTES
            or self._submitted - self._done_submitted > MOST_OPERATIONS
        )

    def when_room(self, call: Callable[[], None]) -> None:
        """Call once, on the loop, when the queue is below half again; soon, if it is now."""
        if self._has_room():
            self._loop.call_soon(call)
        else:
            self._room.append(call)

    async def close(self) -> None:
        """Commit what is queued, end the thread, give the connection back."""
        if self._closed is None:
            self._closed = self._loop.create_future()
            self._incoming = _Shut(self._path)
            self._bell.put(None)
        await asyncio.shield(self._closed)
        self._thread.join()

    def _ring(self) -> None:
        self._ring_at = _NEVER
        self._bell.put(None)

    def _has_room(self) -> bool:
        return (
            self._added - self._done <= MOST_QUEUED // 2
            and self._added_size - self._done_size <= MOST_QUEUED_BYTES // 2
            and self._submitted - self._done_submitted <= MOST_OPERATIONS // 2
        )

    def _make_room(self) -> None:
        if self._room and self._has_room():
            calls, self._room = self._room, []
            for call in calls:
                self._loop.call_soon(call)

    def _committed(self, batch: Batch) -> None:
        self._done += len(batch.items)
        self._done_size += batch.size
        self._done_submitted += len(batch.results)
        try:
            if batch.entries:
                self._told(batch.first_row, batch.entries)
            for refused in batch.refused:
                self._failed(refused)
        finally:
            for future, result, error in batch.results:
                if future.done():
                    continue
                if error is None:
                    future.set_result(result)
                else:
                    future.set_exception(error)
            self._make_room()

    def _lost(self, error: FactsError, futures: list[asyncio.Future[Any]]) -> None:
        """Fail what the thread could not write and all that was queued since, then let it try again."""
        futures.extend(item.future for item in self._queue if isinstance(item, Operation))
        self._queue.clear()
        self._taken = self._done = self._added
        self._taken_submitted = self._done_submitted = self._submitted
        self._done_size = self._added_size
        try:
            self._failed(error)
        finally:
            for future in futures:
                if not future.done():
                    future.set_exception(error)
            self._acknowledged.set()
            self._make_room()

    # The thread's side

    def _work(self) -> None:
        last_commit = -math.inf
        while self._await_work(last_commit):
            batch = self._take()
            try:
                connection, driver = self._connected()
                self._patiently(driver, "BEGIN IMMEDIATE")
                batch.write(connection, driver)
                self._patiently(driver, "COMMIT")
            except Exception as error:  # noqa: BLE001  (whatever it was, the futures must hear of it)
                if not self._give_up(self._translated(error), batch):
                    break
            else:
                self.hindrance = None
                if not self._tell(self._committed, batch):
                    break
            last_commit = time.monotonic()
        self._disconnect()
        self._tell(self._end)

    def _end(self) -> None:
        if self._closed is not None and not self._closed.done():
            self._closed.set_result(None)

    def _tell(self, call: Callable[..., None], *arguments: object) -> bool:
        """Whether the loop is still there to hear it."""
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:
            return False
        return True

    def _await_work(self, last_commit: float) -> bool:
        """Sleep until there is something to write and it has gathered; False when closed and all is written."""
        while not self._queue:
            if self._closed is not None:
                return bool(self._queue)
            self._sleep(self._taken + 1, None)
        # Work that comes within a window of the last commit is a stream: let it gather, but no longer than that.
        until = last_commit + self._window
        while (left := until - time.monotonic()) > 0:
            if self._closed is not None or self._submitted > self._taken_submitted or len(self._queue) >= BATCH:
                break
            self._sleep(self._taken + BATCH, left)
        return True

    def _sleep(self, ring_at: int, seconds: float | None) -> None:
        self._ring_at = ring_at
        # Looked at again after the bell is set: an append that came before it did not ring.
        if self._added >= ring_at or self._submitted > self._taken_submitted or self._closed is not None:
            self._ring_at = _NEVER
            return
        with suppress(Empty):
            self._bell.get(timeout=seconds)
        self._ring_at = _NEVER

    def _take(self) -> Batch:
        queue = self._queue
        items = [queue.popleft() for _ in range(min(len(queue), BATCH))]
        batch = Batch(items, self._path)
        self._taken += len(items)
        self._taken_submitted += len(batch.futures)
        return batch

    def _patiently(self, driver: sqlite3.Connection, statement: str) -> None:
        until = time.monotonic() + self._patience
        while True:
            try:
                driver.execute(statement)
            except sqlite3.OperationalError as error:
                # Each try has waited for the connection's own busy timeout already.
                if sqlite_code(error) not in _BUSY or time.monotonic() >= until:
                    raise
                self.hindrance = translate(error, self._path)
            else:
                return

    def _connected(self) -> tuple[Connection, sqlite3.Connection]:
        if self._connection is None or self._driver is None:
            self._connection = self._connect()
            self._driver = cast(sqlite3.Connection, self._connection.connection.driver_connection)
        return self._connection, self._driver

    def _disconnect(self) -> None:
        """A connection that saw the disk fail is not trusted again; SQLite rolls back what it left open."""
        connection, self._connection, self._driver = self._connection, None, None
        if connection is not None:
            try:
                connection.close()
            except (sqlite3.Error, DBAPIError):
                connection.invalidate()

    def _translated(self, error: Exception) -> FactsError:
        if isinstance(error, FactsError):
            return error
        if isinstance(error, DBAPIError | sqlite3.Error | OSError):
            return translate(error, self._path)
        return FactsError(f"{self._path} could not be written: {error!r}. This is a fault of Trackside; please report.")

    def _give_up(self, error: FactsError, batch: Batch) -> bool:
        """Hand the failed batch to the loop, and write nothing before the loop has dropped what came after it."""
        self._disconnect()
        self.hindrance = error
        self._acknowledged.clear()
        if not self._tell(self._lost, error, batch.futures):
            return False
        while not self._acknowledged.wait(1.0):
            if self._loop.is_closed():
                return False
        return True
