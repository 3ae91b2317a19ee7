"""Standard input, line by line, for commands that must be able to end while a read is blocked."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from threading import Semaphore, Thread
from typing import Final

READ_BYTES: Final = 64 * 1024
MAX_LINE_BYTES: Final = 4 << 20
"""A longer line is cut. No result may be that long."""


async def stdin_lines() -> AsyncIterator[bytes]:
    """Yield the lines without their ends. Reads ahead by one piece only, so that a fast writer has to wait."""
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    requests = Semaphore(1)
    # A daemon thread that bypasses Python's buffer: a blocked read must not keep the command from ending.
    Thread(target=_read, args=(asyncio.get_running_loop(), pieces, requests), daemon=True).start()
    rest = b""
    while piece := await pieces.get():
        requests.release()
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line
        rest = rest[:MAX_LINE_BYTES]
    if rest:
        yield rest


def _read(loop: asyncio.AbstractEventLoop, pieces: "asyncio.Queue[bytes]", requests: Semaphore) -> None:
    piece = b"more"
    while piece and requests.acquire():
        try:
            piece = os.read(sys.stdin.fileno(), READ_BYTES)
        except OSError:
            piece = b""
        with suppress(RuntimeError):  # the command has ended
            loop.call_soon_threadsafe(pieces.put_nowait, piece)
