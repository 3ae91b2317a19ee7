"""Claims: a message for an occupied slot is offered to the run in progress, which claims it or is not able to."""

from dataclasses import replace

from engine.clock import epoch_seconds
from engine.events import EXECUTED_ELSEWHERE, EntryKind, Fate, Mode, Source
from engine.journal.recorded_decision import RecordedDecision, with_data
from engine.queue.items import (
    MAX_QUEUE_ITEMS,
    attachment_summary,
    current_envelope,
    masked_parts,
    reason_not_deliverable,
)
from engine.queue.ticket import PendingEvent
from engine.run.live import LiveRun
from engine.run.run_order import RunOrder
from engine.run.store_event import store_attachments, store_raw
from engine.store import event_log, queue, runs
from engine.store.batch import Transaction
from engine.store.entries import Entry
from engine.store.errors import CannotSteer, QueueFull
from engine.store.event_log import EventRow
from engine.store.queue import QueueItem, as_shown


def reason_not_claimable(run: LiveRun, order: RunOrder) -> str | None:
    """Return why the run in progress in this message's slot cannot claim it; None if it can."""
    grants = run.order.grants
    if not order.envelope.is_message:
        return f"a run can only receive messages, and this is {order.envelope.event_type}"
    if order.binding.runner_id != run.order.binding.runner_id:
        return f"the run in progress uses another runner ({run.order.binding.runner_id})"
    if order.conversation_key != run.order.conversation_key:
        return "the run in progress is for another bot or workspace"
    if run.order.is_external:
        return f"the run in progress cannot be steered: {EXECUTED_ELSEWHERE}"
    if not grants.apis["steering_pull"].allowed:
        return f"this runner cannot be steered: {grants.apis['steering_pull'].words}"
    if run.stop_reason is not None or run.final_result is not None or run.has_ended:
        return "the run is ending"
    return reason_not_deliverable(order.envelope)


class ClaimedEvents:
    """The events that live runs of this process have claimed. Each may still become a run of its own.

    The writer's thread reads it, so an event is added before the writer is asked to claim it.
    """

    def __init__(self) -> None:
        self._events: dict[str, dict[str, PendingEvent]] = {}
        """By run id and item id."""

    def add(self, run_id: str, item_id: str, event: PendingEvent) -> None:
        self._events.setdefault(run_id, {})[item_id] = event

    def get(self, run_id: str, item_id: str) -> PendingEvent | None:
        return self._events.get(run_id, {}).get(item_id)

    def remove(self, run_id: str, item_id: str) -> None:
        """Remove an event that was delivered, withdrawn or not claimed after all; no effect if it is not here."""
        events = self._events.get(run_id)
        if events is not None:
            events.pop(item_id, None)
            if not events:
                del self._events[run_id]

    def remove_run(self, run_id: str) -> None:
        """Forget the events of a run that has ended."""
        self._events.pop(run_id, None)


class Claim:
    """The claim of one run on one message. Create it on the loop and give it to the writer at once."""

    def __init__(self, run: LiveRun, item: QueueItem) -> None:
        self._run = run
        self.run_id = run.order.run_id
        paused = {"paused": True} if item.fate == Fate.PAUSED else {}
        data = {"item_id": item.item_id, "event_id": item.event_id, "text": as_shown(item).text}
        self._data = {**data, **attachment_summary(as_shown(item)), **paused}
        self._decision = RecordedDecision(run.recorder, Source.USER, EntryKind.STEERING_QUEUED, self._data)

    def decide(self, tx: Transaction, order: RunOrder, item: QueueItem, event: EventRow, now: int) -> str | None:
        """Inside the writer: claim the message, or return why it cannot be claimed. Does not raise for the latter."""
        if not runs.is_live(tx.connection, self.run_id):
            return "the run has just ended"

        def claim(tx: Transaction, entry: Entry) -> tuple[None, Entry]:
            claimed, warnings = claim_item(tx, self._run, order, item, entry, now)
            queue.add(tx.connection, claimed)
            event_log.append(tx.connection, replace(event, metadata=self._event_metadata(now)))
            return None, with_data(entry, {**self._data, "warnings": warnings}) if warnings else entry

        refused = self._decision.settle(tx, claim).refused
        return None if refused is None else str(refused)

    def refuse(self, tx: Transaction, reason: str) -> None:
        """Inside the writer: record that the message cannot be claimed, for a reason outside the run."""
        self._decision.refuse(tx, reason)

    def _event_metadata(self, now: int) -> dict[str, object]:
        return {
            "steering": {
                "status": Fate.QUEUED,
                "trigger_behavior": "absorbed_into_active_run",
                "claimed_by_run_id": self.run_id,
                "claimed_runner_id": self._run.order.binding.runner_id,
                "claimed_at": epoch_seconds(now),
            }
        }


def claim_item(
    tx: Transaction, run: LiveRun, order: RunOrder, item: QueueItem, entry: Entry, now: int
) -> tuple[QueueItem, tuple[str, ...]]:
    """Inside the writer: return the item as claimed by the run, and warnings about its attachments.

    Raises CannotSteer or QueueFull if the run cannot claim it. The check for a stop reads the database, because a stop
    may be written there that the run has not noticed yet.
    """
    run_id, runner_id = run.order.run_id, run.order.binding.runner_id
    if runs.is_to_be_cancelled(tx.connection, run_id):
        raise CannotSteer("the run is ending")
    if queue.count_claimed(tx.connection, run_id, item.conversation_id) >= MAX_QUEUE_ITEMS:
        raise QueueFull(f"{MAX_QUEUE_ITEMS} messages are queued for the run already")
    lifetimes = order.artifact_lifetimes
    store_raw(tx, order.envelope, order.raw_data, run_id=run_id, runner_id=runner_id, at=now, lifetimes=lifetimes)
    warnings = store_attachments(
        tx,
        order.envelope,
        order.secret_mask,
        run_id=run_id,
        runner_id=runner_id,
        at=now,
        roots=order.file_roots,
        lifetimes=lifetimes,
    )
    masked = masked_parts(current_envelope(item), order.secret_mask, run.order.secret_mask)
    metadata = {**item.metadata, **masked, "queued_position": entry.position}
    return replace(item, mode=Mode.STEER, run_id=run_id, reason=None, metadata=metadata), warnings
