"""Sends results in groups, and calls and ends at once."""

import asyncio
import os
import select
import threading
import time
from typing import Final

GROUP_SECONDS: Final = 0.002
"""How long a result may wait for others: this halves the host's reading cost."""
GROUP_BYTES: Final = 64 * 1024
"""A group of this size is sent without waiting: the capacity of a pipe."""
MAX_UNSENT_BYTES: Final = 256 * 1024


class Outbox:
    """The writing end of the wire. Only a full pipe makes a runner wait, and its loop still runs meanwhile."""

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._loop = loop
        self._lines: list[bytes] = []
        self._size = 0
        self._sent_at = 0.0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._room = asyncio.Event()
        self._has_waiter = False
        # A thread, because results must be sent even if the runner blocks its loop afterwards.
        threading.Thread(target=self._send_late, name="trackside-outbox", daemon=True).start()

    def put(self, line: bytes) -> bool:
        """Queue a result. Returns whether the loop should get a turn."""
        with self._lock:
            self._lines.append(line)
            self._size += len(line)
            if self._size < GROUP_BYTES and time.monotonic() - self._sent_at < GROUP_SECONDS:
                if not self._wake.is_set():
                    self._wake.set()
                return False
            if not self._flush():
                self._wake.set()
            return True

    def send_next_at_once(self) -> None:
        """Send the next result at once: the host waits for the first of a run."""
        self._sent_at = 0.0

    def send(self, line: bytes) -> None:
        """Send a line and everything queued before it now."""
        with self._lock:
            self._lines.append(line)
            self._size += len(line)
            if not self._flush():
                self._wake.set()

    def send_without_waiting(self, line: bytes) -> None:
        """Send a line now, or soon if another thread, or the code that was interrupted, is writing."""
        if not self._lock.acquire(blocking=False):
            self._loop.call_soon_threadsafe(self.send, line)
            return
        try:
            self._lines.append(line)
            self._size += len(line)
            if not self._flush():
                self._wake.set()
        finally:
            self._lock.release()

    async def yield_to_loop(self) -> None:
        """Give the loop a turn, and wait while the pipe is full."""
        with self._lock:
            crowded = self._size > MAX_UNSENT_BYTES
            if crowded:
                self._room.clear()
                self._has_waiter = True
        if crowded:
            await self._room.wait()
        else:
            await asyncio.sleep(0)

    def drain(self, seconds: float) -> None:
        """Block until everything is written or the time is up, because the process is about to end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with self._lock:
                if self._flush():
                    return
            self._writable(seconds)

    def _flush(self) -> bool:
        """Write what the pipe takes. Returns True if nothing is left. The lock is held."""
        if not self._lines:
            return True
        left = memoryview(b"".join(self._lines))
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except BlockingIOError:
            pass
        except OSError:  # the runner closed our descriptor, or the host is gone; this process ends soon in both cases
            left = left[:0]
        self._lines = [bytes(left)] if left else []
        self._size = len(left)
        self._sent_at = time.monotonic()
        return not left

    def _send_late(self) -> None:
        while True:
            self._wake.wait()
            time.sleep(GROUP_SECONDS)
            self._wake.clear()
            while not self._flush_from_thread():
                self._writable(1)

    def _flush_from_thread(self) -> bool:
        with self._lock:
            done = self._flush()
            wakes = self._has_waiter and self._size <= MAX_UNSENT_BYTES // 2
            if wakes:
                self._has_waiter = False
        if wakes:
            self._loop.call_soon_threadsafe(self._room.set)
        return done

    def _writable(self, seconds: float) -> None:
        poll = select.poll()
        try:
            poll.register(self._descriptor, select.POLLOUT)
            poll.poll(seconds * 1000)
        except OSError:
            time.sleep(GROUP_SECONDS)
