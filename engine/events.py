"""The news: what subscribers hear, in order, once it is on disk. Loads no database, so that a screen can draw first."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final, NamedTuple, Self

from engine.clock import rfc3339
from engine.facts.entry import Entry, Mark
from engine.intake.mime import UNKNOWN as UNKNOWN_TYPE
from engine.intake.mime import mime_type_of
from engine.run.deltas import DeltaText

__all__ = [
    "UNKNOWN_TYPE", "DeltaText", "Entry", "Hub", "Mark", "Subscription", "Told", "mime_type_of", "rfc3339",
]  # fmt: skip

BUFFER: Final = 10_000
"""Entries kept for a subscriber that is slow; beyond that it reads from the database what it missed."""
PAGE: Final = 1_000


class Told(NamedTuple):
    """One entry that is on disk, with its global row."""

    row: int
    entry: Entry


Reread = Callable[[int, int], Coroutine[Any, Any, list[tuple[int, Entry]]]]
"""Entries after a row, at most so many."""


class Subscription:
    """Entries from a row on, without a gap, in bounded memory. A slow reader harms nobody but its own freshness.

    Batches come straight from the writer as long as they join on; where rows are missing (a full buffer, or another
    process wrote them) they are read from the database.
    """

    def __init__(self, hub: "Hub", since: int, run_id: str | None) -> None:
        self._hub = hub
        self._row = since
        self._run_id = run_id
        self._fresh: deque[tuple[int, list[Entry]]] = deque()
        self._size = 0
        self._is_behind = True
        """Whether the database may hold entries that will not come by themselves."""
        self._rung = asyncio.Event()
        self._closed = False

    def __aiter__(self) -> AsyncIterator[list[Told]]:
        return self._batches()

    def close(self) -> None:
        """Hear no more; an iteration that waits ends."""
        self._closed = True
        self._hub.leave(self)
        self._rung.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def hear(self, first_row: int, entries: list[Entry]) -> None:
        """A committed batch. What does not fit is forgotten here and read again later."""
        if self._size <= BUFFER:
            self._fresh.append((first_row, entries))
            self._size += len(entries)
        else:
            self._is_behind = True
        self._rung.set()

    def ring(self) -> None:
        """Something may have been written by another process."""
        self._is_behind = True
        self._rung.set()

    async def _batches(self) -> AsyncIterator[list[Told]]:
        while not self._closed:
            self._rung.clear()
            batch = self._joined() or await self._missed()
            if batch:
                chosen = [told for told in batch if self._run_id in (None, told.entry.run_id)]
                if chosen:
                    yield chosen
            elif not self._closed:
                await self._rung.wait()

    def _joined(self) -> list[Told]:
        """The oldest fresh batch, if it begins right after what was told last."""
        while self._fresh:
            first_row, entries = self._fresh[0]
            if first_row > self._row + 1:
                self._is_behind = True
                return []
            self._fresh.popleft()
            self._size -= len(entries)
            told = [
                Told(first_row + place, entry) for place, entry in enumerate(entries) if first_row + place > self._row
            ]
            if told:
                self._row = told[-1].row
                return told
        return []

    async def _missed(self) -> list[Told]:
        if not self._is_behind:
            return []
        # Before the look, not after: what is written while it reads rings again and must not be forgotten.
        self._is_behind = False
        try:
            told = [Told(row, entry) for row, entry in await self._hub.reread(self._row, PAGE)]
        except BaseException:
            self._is_behind = True
            raise
        if len(told) == PAGE:
            self._is_behind = True
        if told:
            self._row = told[-1].row
        return told


class Hub:
    """Who wants to hear of entries."""

    def __init__(self, reread: Reread) -> None:
        self.reread = reread
        self._subscriptions: set[Subscription] = set()

    def subscribe(self, since: int, run_id: str | None) -> Subscription:
        subscription = Subscription(self, since, run_id)
        self._subscriptions.add(subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)

    def tell(self, first_row: int, entries: list[Entry]) -> None:
        """Pass on a committed batch; every subscriber gets the same lists."""
        for subscription in self._subscriptions:
            subscription.hear(first_row, entries)

    def ring(self) -> None:
        """Have everyone look for what other processes wrote."""
        for subscription in self._subscriptions:
            subscription.ring()

    @property
    def is_heard(self) -> bool:
        return bool(self._subscriptions)

    def close(self) -> None:
        for subscription in tuple(self._subscriptions):
            subscription.close()
