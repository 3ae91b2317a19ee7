"""Sends results in groups, and calls and ends at once."""

import asyncio
import os
import select
import threading
import time
from typing import Final

WINDOW: Final = 0.002
"""Seconds that a result may wait for others: this halves the host's reading cost."""
GROUP: Final = 64 * 1024
"""Bytes that are sent without waiting: the capacity of a pipe."""
CROWDED: Final = 256 * 1024


class Outbox:
    """The writing end of the wire. Only a full pipe makes a runner wait, and its loop still runs meanwhile."""

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._loop = loop
        self._lines: list[bytes] = []
        self._size = 0
        self._left_at = 0.0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._room = asyncio.Event()
        self._someone_waits = False
        # A thread, because a runner that blocks its loop should still be seen to have said what it said.
        threading.Thread(target=self._send_late, name="trackside-outbox", daemon=True).start()

    def put(self, line: bytes) -> bool:
        """Queue a result. Returns whether the loop should get a turn."""
        with self._lock:
            self._lines.append(line)
            self._size += len(line)
            if self._size < GROUP and time.monotonic() - self._left_at < WINDOW:
                if not self._wake.is_set():
                    self._wake.set()
                return False
            if not self._flush():
                self._wake.set()
            return True

    def hurry(self) -> None:
        """Send the next result at once: the host waits for the first of a run."""
        self._left_at = 0.0

    def send(self, line: bytes) -> None:
        """Send a line and everything queued before it now."""
        with self._lock:
            self._lines.append(line)
            self._size += len(line)
            if not self._flush():
                self._wake.set()

    async def breathe(self) -> None:
        """Give the loop a turn, and wait while the pipe is full."""
        with self._lock:
            crowded = self._size > CROWDED
            if crowded:
                self._room.clear()
                self._someone_waits = True
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
        except OSError:  # the runner closed our descriptor, or the host is gone: either ends this process soon
            left = left[:0]
        self._lines = [bytes(left)] if left else []
        self._size = len(left)
        self._left_at = time.monotonic()
        return not left

    def _send_late(self) -> None:
        while True:
            self._wake.wait()
            time.sleep(WINDOW)
            self._wake.clear()
            while not self._flush_from_thread():
                self._writable(1)

    def _flush_from_thread(self) -> bool:
        with self._lock:
            done = self._flush()
            tell = self._someone_waits and self._size <= CROWDED // 2
            if tell:
                self._someone_waits = False
        if tell:
            self._loop.call_soon_threadsafe(self._room.set)
        return done

    def _writable(self, seconds: float) -> None:
        poll = select.poll()
        try:
            poll.register(self._descriptor, select.POLLOUT)
            poll.poll(seconds * 1000)
        except OSError:
            time.sleep(WINDOW)
