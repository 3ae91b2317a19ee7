"""A person's changes to what waits: each is one decision of the writer, and each is noted."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol

from engine.clock import Clock, Ids
from engine.facts import queue, runs
from engine.facts.batch import Transaction
from engine.facts.errors import AlreadyDecided, CannotSteer, Elsewhere
from engine.facts.journal import Entry
from engine.facts.queue import COVERED, Fate, Mode, QueueItem
from engine.facts.writer import Writer
from engine.run.live import LiveRun
from engine.run.order import Slot
from engine.run.ruling import Ruled, Ruling, telling
from engine.run.ticket import Waiting
from engine.steering.claims import enlist, why_not
from engine.steering.items import audit, covered, files_told, said, unfit

Told = dict[str, Any]
Change = Callable[[Transaction, QueueItem, Entry | None], tuple[QueueItem, Told]]
"""Inside the writer: the item as it stands after the change, and what is noted of it."""


class Line(Protocol):
    """Where messages wait for a slot."""

    waiting: dict[str, Waiting]

    def run_in(self, slot: Slot) -> LiveRun | None: ...

    def look(self, slot: Slot) -> None: ...


class Edits:
    """Changes items of this host's queue. An item that was pulled or decided first is left as it is, and it says so."""

    def __init__(
        self,
        writer: Writer,
        line: Line,
        live: Callable[[str], LiveRun | None],
        read: Callable[[str], Awaitable[QueueItem]],
        host: str,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._writer = writer
        self._line = line
        self._live = live
        self._read = read
        self._host = host
        self._clock = clock
        self._ids = ids
        self._turning = asyncio.Lock()
        """One message is turned at a time: where it waits is changed before the writer is asked, and after."""

    async def edit(self, item_id: str, text: str) -> QueueItem:
        """Say something else."""
        if not text.strip():
            raise CannotSteer("there is nothing in it to say. Withdraw the message instead.")

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, Told]:
            edited = self._saying(item, text)
            why = unfit(said(edited)) if item.mode == Mode.STEER else None
            if why is not None:
                raise CannotSteer(f"the run could never take it in: {why}.")
            return queue.save(tx.connection, edited), {"before": item.text, "after": text}

        return await self._change(item_id, "edited", change)

    async def move(self, item_id: str, before: str | None) -> QueueItem:
        """Put it before another message of its conversation, or behind all of them."""

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, Told]:
            return queue.move(tx.connection, item.item_id, before), {"before": before}

        return await self._change(item_id, "moved", change)

    async def hold(self, item_id: str) -> QueueItem:
        """Keep it back: neither a run nor the slot takes it until it is released."""
        return await self._turn_to(item_id, "held", Fate.HELD)

    async def release(self, item_id: str) -> QueueItem:
        return await self._turn_to(item_id, "released", Fate.QUEUED)

    async def withdraw(self, item_id: str) -> QueueItem:
        """Take it back; it was never said."""
        now = self._clock.now()

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, Told]:
            gone = queue.decide(tx.connection, item.item_id, Fate.WITHDRAWN, at=now)
            if item.fate == Fate.HELD:
                gone = queue.save(tx.connection, replace(gone, metadata={**gone.metadata, queue.WAS_HELD: True}))
            return gone, {"text": item.text}

        item = await self._change(item_id, "withdrawn", change)
        waiting = self._line.waiting.pop(item_id, None)
        if waiting is not None:
            waiting.ticket.started.cancel()
        if (run := self._claimant(item)) is not None:
            run.claims.pop(item_id, None)
        return item

    async def turn(self, item_id: str, mode: Mode) -> QueueItem:
        """Let it wait for the end of the run, or offer it to the run at work."""
        async with self._turning:
            item = await self._read(item_id)
            self._check_host(item)
            if mode is Mode.STEER:
                return item if item.mode == Mode.STEER else await self._into_the_run(item)
            return await self._after_the_run(item) if item.mode == Mode.STEER else item

    async def _into_the_run(self, item: QueueItem) -> QueueItem:
        waiting = self._line.waiting.get(item.item_id)
        run = None if waiting is None or waiting.order.slot is None else self._line.run_in(waiting.order.slot)
        if waiting is None or run is None:
            raise CannotSteer("there is no run at work that could take it in.")
        await run.begun.wait()
        why = why_not(run, waiting.order) or unfit(said(item))
        if why is not None:
            raise CannotSteer(f"it cannot go into the run: {why}.")
        now = self._clock.now()

        def change(tx: Transaction, item: QueueItem, entry: Entry | None) -> tuple[QueueItem, Told]:
            if entry is None or not runs.is_live(tx.connection, entry.run_id):
                raise CannotSteer("the run has just ended.")
            claimed, warnings = enlist(tx, run, waiting.order, item, entry, now)
            # The run hears of the message here for the first time, so its journal has to say what it is.
            told: Told = {"mode": Mode.STEER, "text": claimed.text, **files_told(claimed)}
            return queue.save(tx.connection, claimed), told | ({"warnings": warnings} if warnings else {})

        run.claims[item.item_id] = waiting
        try:
            turned = await self._change(item.item_id, "turned", change, found=item, run=run)
        except BaseException:
            run.claims.pop(item.item_id, None)
            raise
        self._line.waiting.pop(item.item_id, None)
        waiting.ticket.claimed_by, waiting.ticket.waits_for = run.order.run_id, None
        if not waiting.ticket.started.done():
            waiting.ticket.started.set_result(run.order.run_id)
        return turned

    async def _after_the_run(self, item: QueueItem) -> QueueItem:
        run = self._claimant(item)
        waiting = None if run is None else run.claims.get(item.item_id)
        if run is None or waiting is None:
            raise AlreadyDecided(f"message {item.item_id} is {item.fate}; it can no longer be changed.")

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, Told]:
            return queue.save(tx.connection, replace(item, mode=Mode.AFTER)), {"mode": Mode.AFTER}

        self._line.waiting[item.item_id] = waiting
        try:
            turned = await self._change(item.item_id, "turned", change)
        except BaseException:
            self._line.waiting.pop(item.item_id, None)
            raise
        run.claims.pop(item.item_id, None)
        waiting.ticket.claimed_by, waiting.ticket.waits_for = None, run.order.run_id
        if waiting.ticket.started.done():
            waiting.ticket.started = asyncio.get_running_loop().create_future()
        return turned

    async def dismiss(self, item_id: str) -> QueueItem:
        """Have no more use for what was dropped; whose it was does not matter, since nobody waits for it."""
        now, event_id = self._clock.now(), self._ids.new("evt")

        def decide(tx: Transaction) -> QueueItem:
            item = queue.dismiss(tx.connection, item_id, at=now)
            note = {"steering": {"status": "dismissed", "item_id": item_id, "source_event_id": item.event_id}}
            audit(tx, item, "steering.dismissed", event_id, at=now, source="person", metadata=note)
            return item

        return await self._writer.submit(decide)

    async def _turn_to(self, item_id: str, word: str, fate: Fate) -> QueueItem:
        now = self._clock.now()

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, Told]:
            return queue.decide(tx.connection, item.item_id, fate, at=now), {}

        return await self._change(item_id, word, change)

    async def _change(
        self,
        item_id: str,
        word: str,
        change: Change,
        *,
        found: QueueItem | None = None,
        run: LiveRun | None = None,
    ) -> QueueItem:
        """One change, noted in the log and, where a run of ours has the item, in that run's journal.

        With `found` the writer is asked at once: what was checked before still holds.
        """
        found = found or await self._read(item_id)
        run = run or self._claimant(found)
        kind, now, event_id = f"steering.{word}", self._clock.now(), self._ids.new("evt")

        def decide(tx: Transaction, entry: Entry | None) -> tuple[QueueItem, Told]:
            item = queue.editable(tx.connection, item_id)
            self._check_host(item)
            if (item.mode, item.run_id) != (found.mode, found.run_id):
                raise AlreadyDecided(f"message {item_id} was changed meanwhile; look at it again.")
            changed, told = change(tx, item, entry)
            note = {"steering": {"status": word, "item_id": item_id, "source_event_id": item.event_id}}
            run_id = entry.run_id if entry is not None else None
            audit(tx, item, kind, event_id, at=now, source="person", run_id=run_id, metadata=note)
            return changed, {"item_id": item_id, **told}

        if run is None or run.is_over:
            changed = await self._writer.submit(lambda tx: decide(tx, None)[0])
        else:
            ruling = Ruling(run.recorder, "person", kind, {"item_id": item_id})
            changed = (await self._writer.submit(lambda tx: _settled(tx, ruling, decide))).get()
        if changed.mode != Mode.STEER and (slot := _slot(changed)) is not None:
            self._line.look(slot)
        return changed

    def _check_host(self, item: QueueItem) -> None:
        if item.host != self._host and item.fate not in queue.FINAL:
            raise Elsewhere(f"message {item.item_id} waits in another process; change it there.")

    def _saying(self, item: QueueItem, text: str) -> QueueItem:
        """The item with another text, and what may be recorded of that. The writer's thread only looks."""
        edited, run = replace(item, text=text), self._claimant(item)
        waiting = self._line.waiting.get(item.item_id) or (run and run.claims.get(item.item_id))
        known = [order.marks for order in (waiting and waiting.order, run and run.order) if order is not None]
        metadata = {key: value for key, value in item.metadata.items() if key != COVERED}
        return replace(edited, metadata={**metadata, **covered(said(edited).input, *known)})

    def _claimant(self, item: QueueItem) -> LiveRun | None:
        return self._live(item.run_id) if item.mode == Mode.STEER and item.run_id is not None else None


def _settled(
    tx: Transaction, ruling: Ruling, decide: Callable[[Transaction, Entry | None], tuple[QueueItem, Told]]
) -> Ruled[QueueItem]:
    def act(tx: Transaction, entry: Entry) -> tuple[QueueItem, Entry]:
        changed, told = decide(tx, entry)
        return changed, telling(entry, told)

    return ruling.settle(tx, act)


def _slot(item: QueueItem) -> Slot | None:
    return None if item.conversation_id is None else (item.conversation_id, item.thread_id)
