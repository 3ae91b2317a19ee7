"""Bounds how many large replies of a run are in memory: those being read, encoded, or not yet read by the runner."""

import asyncio
from typing import Final

MAX_LARGE_REPLIES: Final = 2
"""A reply has at most 16 MiB, a page of a run's own data about 2 MiB."""


class ReplySlots:
    """The slots of one run."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(MAX_LARGE_REPLIES)

    def new(self) -> "ReplySlot":
        return ReplySlot(self._free)


class ReplySlot:
    """The slot of one call: taken before its reply is made, and released once the runner can get it, or never will."""

    def __init__(self, free: asyncio.Semaphore) -> None:
        self._free = free
        self._is_taken = False

    async def take(self) -> None:
        """Wait for a free slot, if this one is not taken yet."""
        if not self._is_taken:
            await self._free.acquire()
            self._is_taken = True

    def release(self) -> None:
        if self._is_taken:
            self._is_taken = False
            self._free.release()
