"""The writer: all writes and decisions go through its queue and are committed in groups."""

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

from engine.store.batch import Batch, Item, Operation, Transaction
from engine.store.entries import Entry
from engine.store.errors import StoreError, WriterClosed, sqlite_code, translate

T = TypeVar("T")

BATCH_ITEMS: Final = 1024
"""Items in one transaction. Four batches fit in the queue, so the loop refills it while one is written."""
MAX_QUEUED_ITEMS: Final = 4096
MAX_QUEUED_BYTES: Final = 4 << 20
MAX_QUEUED_OPERATIONS: Final = 512
"""Few, because an operation takes as long as fifty entries, and the end of a run waits for those before it."""
_NEVER: Final = sys.maxsize
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class _ClosedQueue:
    """Replaces the queue of a closed writer and raises, so that `append` needs no check."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, item: Item) -> None:  # noqa: ARG002
        raise WriterClosed(f"{self._path} is closed. Open it again to record more.")


class Writer:
    """Writes in one thread, which owns the only writing connection, in the order of the queue.

    An idle writer commits at once; otherwise it collects items for `window_seconds`, or until an operation is
    queued. `on_committed` is called with committed entries, on the loop, before the futures of the same commit resolve.
    If the disk or the database fails, everything queued by then fails, so that no entry is written after a gap. All
    methods must be called in the loop's thread.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        path: Path,
        *,
        on_committed: Callable[[int, list[Entry]], None],
        on_failure: Callable[[StoreError], None],
        window_seconds: float = 0.004,
        busy_seconds: float = 30.0,
    ) -> None:
        self._connect = connect
        self._path = path
        self._on_committed = on_committed
        self._on_failure = on_failure
        self._window_seconds = window_seconds
        self._busy_seconds = busy_seconds
        """Seconds to retry while another process has the database locked."""
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Item] = deque()
        self._incoming: deque[Item] | _ClosedQueue = self._queue
        # Totals of queued items, written by the loop and read by both sides. No lock: the GIL orders these integers.
        self._added = 0
        self._added_size = 0
        self._submitted = 0
        # `_taken…` is written by the thread: items it took. `_done…` is written by the loop: items that are finished.
        self._taken = 0
        self._taken_submitted = 0
        self._done = 0
        self._done_submitted = 0
        self._done_size = 0
        self._wake_at = _NEVER
        """The item count at which the sleeping thread is to be woken."""
        self._wakeups: SimpleQueue[None] = SimpleQueue()
        self._acknowledged = threading.Event()
        self._room_callbacks: list[Callable[[], None]] = []
        self._closed: asyncio.Future[None] | None = None
        self.current_error: StoreError | None = None
        """The error that the thread retries, or its last failure; None after a successful write. Set by the thread."""
        self._connection: Connection | None = None
        self._driver: sqlite3.Connection | None = None
        self._thread = threading.Thread(target=self._run, name="trackside-writer", daemon=True)
        self._thread.start()

    # The loop's side

    def append(self, entry: Entry) -> None:
        """Queue one entry, in about a microsecond. Never blocks, so callers must check `full`."""
        self._incoming.append(entry)
        self._added += 1
        self._added_size += len(entry.data)
        if self._added >= self._wake_at:
            self._wake_thread()

    def submit(self, operation: Callable[[Transaction], T], size: int = 0) -> asyncio.Future[T]:
        """Queue an operation. The future resolves after the commit; cancelling it does not cancel the operation.

        `size` is the memory that a large operation keeps; it counts like the data of an entry.
        """
        future: asyncio.Future[T] = self._loop.create_future()
        self._incoming.append(Operation(operation, future, size))
        self._added += 1
        self._added_size += size
        self._submitted += 1
        if self._wake_at != _NEVER:
            self._wake_thread()
        return future

    async def flush(self) -> None:
        """Return when everything queued before is committed. Raises if the commit failed."""
        if self._done != self._added:
            await self.submit(lambda _: None)

    @property
    def full(self) -> bool:
        """Whether producers should pause until `when_room` calls them."""
        return (
            self._added - self._done > MAX_QUEUED_ITEMS
            or self._added_size - self._done_size > MAX_QUEUED_BYTES
            or self._submitted - self._done_submitted > MAX_QUEUED_OPERATIONS
        )

    def when_room(self, call: Callable[[], None]) -> None:
        """Call `call` once, on the loop, when the queue is at most half full; soon, if it already is."""
        if self._has_room():
            self._loop.call_soon(call)
        else:
            self._room_callbacks.append(call)

    async def close(self) -> None:
        """Commit what is queued, end the thread and close the connection."""
        if self._closed is None:
            self._closed = self._loop.create_future()
            self._incoming = _ClosedQueue(self._path)
            self._wakeups.put(None)
        await asyncio.shield(self._closed)
        self._thread.join()

    def _wake_thread(self) -> None:
        self._wake_at = _NEVER
        self._wakeups.put(None)

    def _has_room(self) -> bool:
        return (
            self._added - self._done <= MAX_QUEUED_ITEMS // 2
            and self._added_size - self._done_size <= MAX_QUEUED_BYTES // 2
            and self._submitted - self._done_submitted <= MAX_QUEUED_OPERATIONS // 2
        )

    def _make_room(self) -> None:
        if self._room_callbacks and self._has_room():
            calls, self._room_callbacks = self._room_callbacks, []
            for call in calls:
                self._loop.call_soon(call)

    def _committed(self, batch: Batch) -> None:
        self._done += len(batch.items)
        self._done_size += batch.size
        self._done_submitted += len(batch.results)
        try:
            if batch.entries:
                self._on_committed(batch.first_row, batch.entries)
            for refused in batch.refused:
                self._on_failure(refused)
        finally:
            for future, result, error in batch.results:
                if future.done():
                    continue
                if error is None:
                    future.set_result(result)
                else:
                    future.set_exception(error)
            self._make_room()

    def _fail_all(self, error: StoreError, futures: list[asyncio.Future[Any]]) -> None:
        """Fail the batch that could not be written and everything queued since, then let the thread continue."""
        futures.extend(item.future for item in self._queue if isinstance(item, Operation))
        self._queue.clear()
        self._taken = self._done = self._added
        self._taken_submitted = self._done_submitted = self._submitted
        self._done_size = self._added_size
        try:
            self._on_failure(error)
        finally:
            for future in futures:
                if not future.done():
                    future.set_exception(error)
            self._acknowledged.set()
            self._make_room()

    # The thread's side

    def _run(self) -> None:
        last_commit = -math.inf
        while self._await_work(last_commit):
            batch = self._take()
            try:
                connection, driver = self._connected()
                self._execute_when_free(driver, "BEGIN IMMEDIATE")
                batch.write(connection, driver)
                self._execute_when_free(driver, "COMMIT")
            except Exception as error:  # noqa: BLE001  (the futures must get every error)
                if not self._report_failure(self._translated(error), batch):
                    break
            else:
                self.current_error = None
                if not self._call_on_loop(self._committed, batch):
                    break
            last_commit = time.monotonic()
        self._disconnect()
        self._call_on_loop(self._end)

    def _end(self) -> None:
        if self._closed is not None and not self._closed.done():
            self._closed.set_result(None)

    def _call_on_loop(self, call: Callable[..., None], *arguments: object) -> bool:
        """Schedule a call on the loop. Returns False if the loop is closed."""
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:
            return False
        return True

    def _await_work(self, last_commit: float) -> bool:
        """Sleep until there is a batch to write. Returns False if the writer is closed and everything is written."""
        while not self._queue:
            if self._closed is not None:
                return bool(self._queue)
            self._sleep(self._taken + 1, None)
        # Items that arrive within a window after the last commit are a stream: collect them until the window ends.
        until = last_commit + self._window_seconds
        while (left := until - time.monotonic()) > 0:
            if self._closed is not None or self._submitted > self._taken_submitted or len(self._queue) >= BATCH_ITEMS:
                break
            self._sleep(self._taken + BATCH_ITEMS, left)
        return True

    def _sleep(self, wake_at: int, seconds: float | None) -> None:
        self._wake_at = wake_at
        # Checked again after `_wake_at` is set: an item that was queued before that did not wake the thread.
        if self._added >= wake_at or self._submitted > self._taken_submitted or self._closed is not None:
            self._wake_at = _NEVER
            return
        with suppress(Empty):
            self._wakeups.get(timeout=seconds)
        self._wake_at = _NEVER

    def _take(self) -> Batch:
        queue = self._queue
        items = [queue.popleft() for _ in range(min(len(queue), BATCH_ITEMS))]
        batch = Batch(items, self._path)
        self._taken += len(items)
        self._taken_submitted += len(batch.futures)
        return batch

    def _execute_when_free(self, driver: sqlite3.Connection, statement: str) -> None:
        until = time.monotonic() + self._busy_seconds
        while True:
            try:
                driver.execute(statement)
            except sqlite3.OperationalError as error:
                # Each attempt has already waited for the connection's busy timeout.
                if sqlite_code(error) not in _BUSY or time.monotonic() >= until:
                    raise
                self.current_error = translate(error, self._path)
            else:
                return

    def _connected(self) -> tuple[Connection, sqlite3.Connection]:
        if self._connection is None or self._driver is None:
            self._connection = self._connect()
            self._driver = cast(sqlite3.Connection, self._connection.connection.driver_connection)
        return self._connection, self._driver

    def _disconnect(self) -> None:
        """Close the connection, which is not reused after a disk failure. SQLite rolls back an open transaction."""
        connection, self._connection, self._driver = self._connection, None, None
        if connection is not None:
            try:
                connection.close()
            except (sqlite3.Error, DBAPIError):
                connection.invalidate()

    def _translated(self, error: Exception) -> StoreError:
        if isinstance(error, StoreError):
            return error
        if isinstance(error, DBAPIError | sqlite3.Error | OSError):
            return translate(error, self._path)
        return StoreError(
            f"{self._path} could not be written: {error!r}. This is a bug in Trackside; please report it."
        )

    def _report_failure(self, error: StoreError, batch: Batch) -> bool:
        """Pass the failed batch to the loop, and wait until the loop has dropped everything queued after it.

        Returns False if the loop is closed.
        """
        self._disconnect()
        self.current_error = error
        self._acknowledged.clear()
        if not self._call_on_loop(self._fail_all, error, batch.futures):
            return False
        while not self._acknowledged.wait(1.0):
            if self._loop.is_closed():
                return False
        return True
