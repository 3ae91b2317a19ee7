"""The host's ends of a child's pipes. asyncio protocols, not streams: 3.4 µs per event against 13.3."""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from fcntl import ioctl
from termios import FIONREAD
from typing import Final

READ_BYTES: Final = 64 * 1024
"""The most that one turn of the loop reads from a pipe, however large the child has made it."""
LINES_PER_TURN: Final = 512
"""The most lines that one turn of the loop handles; a bad or printed line takes about 10 µs."""


class ReadPipe(asyncio.Protocol):
    """A pipe that the host reads, so much in each turn of the loop that no child can occupy it."""

    def __init__(self, received: Callable[[bytes], None], ended: Callable[[], None] | None = None) -> None:
        self.closed = asyncio.Event()
        self.handled_bytes = 0
        """Bytes that were passed on."""
        self._received = received
        self._ended = ended
        self._descriptor = -1
        self._transport: asyncio.ReadTransport | None = None
        self._backlog = b""
        """Bytes that were read but are handled in later turns."""
        self._is_paused = False
        self._is_reading = True
        self._is_scheduled = False

    async def open(self, descriptor: int) -> None:
        """Start reading."""
        pipe = os.fdopen(descriptor, "rb", 0)
        self._descriptor = descriptor
        await asyncio.get_running_loop().connect_read_pipe(lambda: self, pipe)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)  # noqa: S101 - what connect_read_pipe gives
        transport.max_size = READ_BYTES  # pyright: ignore[reportAttributeAccessIssue] - asyncio reads up to 256 KiB
        self._transport = transport
        self._set_reading()

    def data_received(self, data: bytes) -> None:
        if data.count(b"\n") <= LINES_PER_TURN:
            self.handled_bytes += len(data)
            self._received(data)
        else:
            self._backlog = data
            self._handle_backlog()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the name is asyncio's
        self._transport = None
        self.closed.set()
        if self._ended is not None:
            self._ended()

    def pause(self, paused: bool) -> None:
        """Pause or resume reading: a pipe that nobody reads blocks its writer."""
        if paused == self._is_paused:
            return
        self._is_paused = paused
        self._schedule()
        self._set_reading()

    def unread_bytes(self) -> int:
        """Return how many bytes the child has written that were not passed on."""
        if self._transport is None:
            return len(self._backlog)
        with suppress(OSError):
            return len(self._backlog) + int.from_bytes(ioctl(self._descriptor, FIONREAD, bytes(4)), sys.byteorder)
        return len(self._backlog)

    def close(self) -> None:
        """Stop reading and close."""
        if self._transport is not None:
            self._transport.close()

    def _handle_backlog(self) -> None:
        """Handle some lines now and the others in the next turns. Nothing is read meanwhile."""
        self._is_scheduled = False
        if self._is_paused:
            return
        data = self._backlog
        rest = data.split(b"\n", LINES_PER_TURN)[-1] if data.count(b"\n") > LINES_PER_TURN else b""
        self._backlog = rest
        part = data[: len(data) - len(rest)]
        self.handled_bytes += len(part)
        self._received(part)
        self._schedule()
        self._set_reading()

    def _schedule(self) -> None:
        if self._backlog and not self._is_paused and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._handle_backlog)

    def _set_reading(self) -> None:
        reading = not self._is_paused and not self._backlog
        if self._transport is None or reading == self._is_reading:
            return
        self._is_reading = reading
        if reading:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()


class WritePipe(asyncio.BaseProtocol):
    """A pipe that the host writes."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.room = asyncio.Event()
        self.room.set()
        self._changed = changed
        self._transport: asyncio.WriteTransport | None = None

    async def open(self, descriptor: int) -> None:
        """Start writing."""
        pipe = os.fdopen(descriptor, "wb", 0)
        await asyncio.get_running_loop().connect_write_pipe(lambda: self, pipe)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)  # noqa: S101 - what connect_write_pipe gives
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the name is asyncio's
        self._transport = None
        self.room.set()

    def pause_writing(self) -> None:
        self.room.clear()
        self._changed()

    def resume_writing(self) -> None:
        self.room.set()
        self._changed()

    def write(self, data: bytes) -> bool:
        """Queue bytes. Returns False if the reader is gone."""
        if self._transport is None or self._transport.is_closing():
            return False
        self._transport.write(data)
        return True

    def close(self) -> None:
        """Drop queued bytes and close."""
        if self._transport is not None:
            self._transport.abort()
