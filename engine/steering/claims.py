"""A message for a taken slot is first offered to the run that works there: it is claimed, or told why not."""

from dataclasses import replace

from engine.clock import rfc3339
from engine.facts import event_log, queue, runs
from engine.facts.batch import Transaction
from engine.facts.errors import CannotSteer, QueueFull
from engine.facts.event_log import EventRow
from engine.facts.journal import Entry
from engine.facts.queue import Fate, Mode, QueueItem
from engine.run.arrival import store_attachments, store_raw
from engine.run.live import LiveRun
from engine.run.order import RunOrder
from engine.run.ruling import Ruling, telling
from engine.steering.items import MOST, covered, files_told, said, unfit


def why_not(run: LiveRun, order: RunOrder) -> str | None:
    """Why a run that is at work in the slot of this message cannot claim it; nothing where it can."""
    grants = run.order.grants
    if not order.envelope.is_message:
        return f"a run takes in messages only, and this is {order.envelope.event_type}"
    if order.binding.runner_id != run.order.binding.runner_id:
        return f"the run at work is another runner's ({run.order.binding.runner_id})"
    if order.place != run.order.place:
        return "the run at work serves another bot or workspace"
    if not grants.apis["steering_pull"].allowed:
        return f"this runner cannot be steered: {grants.apis['steering_pull'].words}"
    if run.stop is not None or run.end is not None or run.is_over:
        return "the run is at its end"
    return unfit(order.envelope)


class Claim:
    """One message on its way into one run. Make it on the loop and give it to the writer at once."""

    def __init__(self, run: LiveRun, item: QueueItem) -> None:
        self.run = run
        held = {"held": True} if item.fate == Fate.HELD else {}
        told = {"item_id": item.item_id, "event_id": item.event_id, "text": item.text}
        self._told = {**told, **files_told(item), **held}
        self._ruling = Ruling(run.recorder, "person", "steering.queued", self._told)

    def decide(self, tx: Transaction, order: RunOrder, item: QueueItem, event: EventRow, now: int) -> str | None:
        """Inside the writer: take it, or say why it goes the normal way. Never raises for what stood in its way."""
        if not runs.is_live(tx.connection, self.run.order.run_id):
            return "the run has just ended"

        def take(tx: Transaction, entry: Entry) -> tuple[None, Entry]:
            claimed, warnings = enlist(tx, self.run, order, item, entry, now)
            queue.add(tx.connection, claimed)
            event_log.append(tx.connection, replace(event, metadata=self._noted(now)))
            return None, telling(entry, {**self._told, "warnings": warnings}) if warnings else entry

        refused = self._ruling.settle(tx, take).refused
        return None if refused is None else str(refused)

    def refuse(self, tx: Transaction, reason: str) -> None:
        """Inside the writer: it was not to be offered at all."""
        self._ruling.refuse(tx, reason)

    def _noted(self, now: int) -> dict[str, object]:
        return {
            "steering": {
                "status": "queued",
                "trigger_behavior": "absorbed_into_active_run",
                "claimed_by_run_id": self.run.order.run_id,
                "claimed_runner_id": self.run.order.binding.runner_id,
                "claimed_at": rfc3339(now),
            }
        }


def enlist(
    tx: Transaction, run: LiveRun, order: RunOrder, item: QueueItem, entry: Entry, now: int
) -> tuple[QueueItem, tuple[str, ...]]:
    """Inside the writer: the item as the run's own, and what is odd about its attachments; raises where it cannot be.

    A cancel may be written and yet to be noticed.
    """
    run_id, runner_id = run.order.run_id, run.order.binding.runner_id
    if runs.is_to_be_cancelled(tx.connection, run_id):
        raise CannotSteer("the run is at its end")
    if queue.count_claimed(tx.connection, run_id, item.conversation_id) >= MOST:
        raise QueueFull(f"{MOST} messages wait in the run already, so it waits for the run's end")
    store_raw(tx, order.envelope, order.raw, run_id=run_id, runner_id=runner_id, at=now)
    warnings = store_attachments(tx, order.envelope, run_id=run_id, runner_id=runner_id, at=now, roots=order.file_roots)
    safe = covered(said(item).input, order.marks, run.order.marks)
    metadata = {**item.metadata, **safe, "queued_position": entry.position}
    return replace(item, mode=Mode.STEER, run_id=run_id, reason=None, metadata=metadata), warnings
