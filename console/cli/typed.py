"""Standard input, a line at a time, read only when one is wanted."""

import asyncio
import os
import sys
from contextlib import suppress
from threading import Semaphore, Thread
from typing import Final

PIECE: Final = 64 * 1024


class Typed:
    """What a person types, or a script has typed for them. Nothing is read ahead: `yes` would never end."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._wanted = Semaphore(0)
        self._is_asked = False
        self._reader: Thread | None = None
        self._has_ended = sys.stdin is None
        self.is_terminal = sys.stdin is not None and sys.stdin.isatty()

    async def line(self) -> str | None:
        """The next line; nothing at the end."""
        if self._has_ended:
            return None
        if self._reader is None:
            # A daemon, and past Python's own buffer: whoever waits for a person must not keep the command from ending.
            self._reader = Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True)
            self._reader.start()
        if not self._is_asked:  # else one is on its way that nobody waited for in the end
            self._is_asked = True
            self._wanted.release()
        line = await self._lines.get()
        self._is_asked = False
        self._has_ended = line is None
        return line

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        kept = b""
        while self._wanted.acquire():
            while b"\n" not in kept:
                try:
                    piece = os.read(sys.stdin.fileno(), PIECE)
                except OSError:
                    piece = b""
                if not piece:
                    break
                kept += piece
            line, _, kept = kept.partition(b"\n") if kept else (None, b"", b"")
            text = None if line is None else line.decode("utf-8", "replace")
            with suppress(RuntimeError):  # the command has ended meanwhile
                loop.call_soon_threadsafe(self._lines.put_nowait, text)
            if text is None:
                return
