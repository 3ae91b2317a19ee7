"""The user's changes to queued messages. Each is one decision of the writer, and each is recorded."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

from engine.clock import Clock, Ids
from engine.events import FINAL_FATES, EntryKind, Fate, Mode, Source
from engine.journal.recorded_decision import DecisionResult, RecordedDecision, with_data
from engine.journal.secret_mask import SecretMask
from engine.queue.claims import ClaimedEvents, claim_item, reason_not_claimable
from engine.queue.dispatch import Dispatcher
from engine.queue.items import (
    attachment_summary,
    current_envelope,
    log_queue_event,
    masked_parts,
    reason_not_deliverable,
)
from engine.run.live import LiveRun
from engine.run.run_order import Slot
from engine.store import queue, runs
from engine.store.batch import Transaction
from engine.store.entries import Entry
from engine.store.errors import AlreadyDecided, CannotSteer, OwnedByOtherHost
from engine.store.queue import COVERED, QueueItem, as_shown
from engine.store.writer import Writer

EntryData = dict[str, Any]
Change = Callable[[Transaction, QueueItem, Entry | None], tuple[QueueItem, EntryData]]
"""Inside the writer: returns the changed item and the data of the entry that records the change."""


class QueueEditor:
    """Changes messages in this host's queue. Raises AlreadyDecided if a message was pulled or decided before."""

    def __init__(
        self,
        writer: Writer,
        dispatcher: Dispatcher,
        claimed: ClaimedEvents,
        live: Callable[[str], LiveRun | None],
        read: Callable[[str], Awaitable[QueueItem]],
        host: str,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._writer = writer
        self._dispatcher = dispatcher
        self._claimed = claimed
        self._live = live
        self._read = read
        self._host = host
        self._clock = clock
        self._ids = ids
        self._mode_lock = asyncio.Lock()
        """One change of mode at a time: `pending` and `claimed` are changed before the writer decides, and after."""

    async def edit(self, item_id: str, text: str) -> QueueItem:
        """Change the text of a message."""
        if not text.strip():
            raise CannotSteer("The text is empty. Withdraw the message instead.")

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, EntryData]:
            masks = self._masks(item)
            edited = _with_text(item, _put_back(text, masks), masks)
            reason = reason_not_deliverable(current_envelope(edited)) if item.mode == Mode.STEER else None
            if reason is not None:
                raise CannotSteer(f"The message cannot be delivered to the run: {reason}.")
            return queue.save(tx.connection, edited), {"before": as_shown(item).text, "after": as_shown(edited).text}

        return await self._change(item_id, EntryKind.STEERING_EDITED, change)

    async def move(self, item_id: str, before: str | None) -> QueueItem:
        """Move a message before another one of its conversation, or to the end."""

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, EntryData]:
            return queue.move(tx.connection, item.item_id, before), {"before": before}

        return await self._change(item_id, EntryKind.STEERING_MOVED, change)

    async def pause(self, item_id: str) -> QueueItem:
        """Keep a message in the queue until it is resumed: it is neither delivered nor started."""
        return await self._set_fate(item_id, EntryKind.STEERING_PAUSED, Fate.PAUSED)

    async def resume(self, item_id: str) -> QueueItem:
        return await self._set_fate(item_id, EntryKind.STEERING_RESUMED, Fate.QUEUED)

    async def withdraw(self, item_id: str) -> QueueItem:
        """Take a message out of the queue. It does not appear in the transcript."""
        now = self._clock.now()

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, EntryData]:
            withdrawn = queue.decide(tx.connection, item.item_id, Fate.WITHDRAWN, at=now)
            if item.fate == Fate.PAUSED:
                metadata = {**withdrawn.metadata, queue.WAS_PAUSED: True}
                withdrawn = queue.save(tx.connection, replace(withdrawn, metadata=metadata))
            return withdrawn, {"text": withdrawn.text}

        item = await self._change(item_id, EntryKind.STEERING_WITHDRAWN, change)
        event = self._dispatcher.pending.pop(item_id, None)
        if event is not None:
            event.ticket.started.cancel()
        if (run := self._claiming_run(item)) is not None:
            self._claimed.remove(run.order.run_id, item_id)
        return item

    async def set_mode(self, item_id: str, mode: Mode) -> QueueItem:
        """Offer a message to the run in progress (STEER), or keep it until the end of that run."""
        async with self._mode_lock:
            item = await self._read(item_id)
            self._check_host(item)
            if mode is Mode.STEER:
                return item if item.mode == Mode.STEER else await self._steer(item)
            return await self._keep_until_after(item) if item.mode == Mode.STEER else item

    async def _steer(self, item: QueueItem) -> QueueItem:
        event = self._dispatcher.pending.get(item.item_id)
        run = None if event is None or event.order.slot is None else self._dispatcher.run_in_slot(event.order.slot)
        if event is None or run is None:
            raise CannotSteer("No run is in progress that could receive the message.")
        await run.started.wait()
        reason = reason_not_claimable(run, event.order) or reason_not_deliverable(current_envelope(item))
        if reason is not None:
            raise CannotSteer(f"The run cannot receive the message: {reason}.")
        now = self._clock.now()

        def change(tx: Transaction, item: QueueItem, entry: Entry | None) -> tuple[QueueItem, EntryData]:
            if entry is None or not runs.is_live(tx.connection, entry.run_id):
                raise CannotSteer("The run has just ended.")
            claimed, warnings = claim_item(tx, run, event.order, item, entry, now)
            # The first entry about the message in this run's journal, so it contains the text.
            data: EntryData = {"mode": Mode.STEER, "text": as_shown(claimed).text}
            data |= attachment_summary(as_shown(claimed))
            return queue.save(tx.connection, claimed), data | ({"warnings": warnings} if warnings else {})

        run_id, ticket = run.order.run_id, event.ticket
        run.learn_secrets(event.order.secret_mask.secrets)
        self._claimed.add(run_id, item.item_id, event)
        try:
            changed = await self._change(item.item_id, EntryKind.STEERING_TURNED, change, found=item, run=run)
        except BaseException:
            self._claimed.remove(run_id, item.item_id)
            raise
        self._dispatcher.pending.pop(item.item_id, None)
        ticket.claimed_by, ticket.waits_for = run_id, None
        if not ticket.started.done():
            ticket.started.set_result(run_id)
        return changed

    async def _keep_until_after(self, item: QueueItem) -> QueueItem:
        run = self._claiming_run(item)
        event = None if run is None else self._claimed.get(run.order.run_id, item.item_id)
        if run is None or event is None:
            raise AlreadyDecided(f"Message {item.item_id} is {item.fate}; it can no longer be changed.")

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, EntryData]:
            return queue.save(tx.connection, replace(item, mode=Mode.AFTER)), {"mode": Mode.AFTER}

        run_id, ticket = run.order.run_id, event.ticket
        self._dispatcher.pending[item.item_id] = event
        try:
            changed = await self._change(item.item_id, EntryKind.STEERING_TURNED, change)
        except BaseException:
            self._dispatcher.pending.pop(item.item_id, None)
            raise
        self._claimed.remove(run_id, item.item_id)
        ticket.claimed_by, ticket.waits_for = None, run_id
        if ticket.started.done():
            ticket.started = asyncio.get_running_loop().create_future()
        return changed

    async def dismiss(self, item_id: str) -> QueueItem:
        """Hide a dropped message for good. It may belong to any host, because nothing waits for it."""
        now, event_id = self._clock.now(), self._ids.new("evt")

        def decide(tx: Transaction) -> QueueItem:
            item = queue.dismiss(tx.connection, item_id, at=now)
            metadata = {"steering": {"status": "dismissed", "item_id": item_id, "source_event_id": item.event_id}}
            log_queue_event(tx, item, "steering.dismissed", event_id, at=now, source=Source.USER, metadata=metadata)
            return item

        return await self._writer.submit(decide)

    async def _set_fate(self, item_id: str, kind: EntryKind, fate: Fate) -> QueueItem:
        now = self._clock.now()

        def change(tx: Transaction, item: QueueItem, _: Entry | None) -> tuple[QueueItem, EntryData]:
            return queue.decide(tx.connection, item.item_id, fate, at=now), {}

        return await self._change(item_id, kind, change)

    async def _change(
        self,
        item_id: str,
        kind: EntryKind,
        change: Change,
        *,
        found: QueueItem | None = None,
        run: LiveRun | None = None,
    ) -> QueueItem:
        """Make one change, and record it in the event log and in the journal of the run that claims the message.

        With `found` nothing is awaited before the writer is asked, so that what the caller checked still holds.
        """
        found = found or await self._read(item_id)
        run = run or self._claiming_run(found)
        now, event_id = self._clock.now(), self._ids.new("evt")

        def decide(tx: Transaction, entry: Entry | None) -> tuple[QueueItem, EntryData]:
            item = queue.editable(tx.connection, item_id)
            self._check_host(item)
            if (item.mode, item.run_id) != (found.mode, found.run_id):
                raise AlreadyDecided(f"Message {item_id} was changed in the meantime. Check it and try again.")
            changed, data = change(tx, item, entry)
            status = kind.removeprefix("steering.")
            metadata = {"steering": {"status": status, "item_id": item_id, "source_event_id": item.event_id}}
            run_id = entry.run_id if entry is not None else None
            log_queue_event(tx, item, kind, event_id, at=now, source=Source.USER, run_id=run_id, metadata=metadata)
            return changed, {"item_id": item_id, **data}

        if run is None or run.has_ended:
            changed = await self._writer.submit(lambda tx: decide(tx, None)[0])
        else:
            decision = RecordedDecision(run.recorder, Source.USER, kind, {"item_id": item_id})
            changed = (await self._writer.submit(lambda tx: _record_decision(tx, decision, decide))).get()
        if changed.mode != Mode.STEER and (slot := _slot(changed)) is not None:
            self._dispatcher.fill_slot(slot)
        return changed

    def _check_host(self, item: QueueItem) -> None:
        if item.host != self._host and item.fate not in FINAL_FATES:
            raise OwnedByOtherHost(f"Message {item.item_id} is queued in another process. Change it there.")

    def _masks(self, item: QueueItem) -> list[SecretMask]:
        """Return the masks for a message. Runs in the writer's thread and only reads."""
        run = self._claiming_run(item)
        event = self._dispatcher.pending.get(item.item_id) or (
            run and self._claimed.get(run.order.run_id, item.item_id)
        )
        return [order.secret_mask for order in (event and event.order, run and run.order) if order is not None]

    def _claiming_run(self, item: QueueItem) -> LiveRun | None:
        return self._live(item.run_id) if item.mode == Mode.STEER and item.run_id is not None else None


def _put_back(text: str, masks: Iterable[SecretMask]) -> str:
    """Return a text that the user edited, with the secrets in place of the marks that it was shown with."""
    for mask in masks:
        text = mask.put_back_words(text)
    return text


def _with_text(item: QueueItem, text: str, masks: Iterable[SecretMask]) -> QueueItem:
    """Return the item with another text, and how it is shown."""
    edited = replace(item, text=text)
    metadata = {key: value for key, value in item.metadata.items() if key != COVERED}
    return replace(edited, metadata={**metadata, **masked_parts(current_envelope(edited), *masks)})


def _record_decision(
    tx: Transaction,
    decision: RecordedDecision,
    decide: Callable[[Transaction, Entry | None], tuple[QueueItem, EntryData]],
) -> DecisionResult[QueueItem]:
    def act(tx: Transaction, entry: Entry) -> tuple[QueueItem, Entry]:
        changed, data = decide(tx, entry)
        return changed, with_data(entry, data)

    return decision.settle(tx, act)


def _slot(item: QueueItem) -> Slot | None:
    return None if item.conversation_id is None else (item.conversation_id, item.thread_id)
