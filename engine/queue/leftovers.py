"""Messages that were not delivered: dropped with a reason when a run or host ends, and sent again."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.clock import epoch_seconds
from engine.events import DropReason, EntryKind, Fate, Status
from engine.journal.secret_mask import SecretMask
from engine.protocol.results import FailureCode
from engine.queue.items import log_queue_event, write_transcript_line
from engine.run.orchestrator import RunEnd
from engine.store import queue
from engine.store.batch import Transaction
from engine.store.errors import AlreadyDecided
from engine.store.queue import QueueItem
from engine.store.runs import RunRow


def drop_reason(status: Status, reason: str) -> str:
    """Return the reason for dropping a run's queued messages: one word for each way a run can end."""
    if status is Status.FAILED and reason in (FailureCode.LOST, FailureCode.HOST_RESTARTED):
        return "runner_lost" if reason == FailureCode.LOST else FailureCode.HOST_RESTARTED.value
    return status.value


def drop_leftovers(tx: Transaction, run: RunRow, end: RunEnd, *, at: int) -> Iterator[dict[str, Any]]:
    """Inside the writer, at the end of a run: drop the messages that it did not receive.

    Yields the data of a `steering.dropped` entry for each.
    """
    reason = drop_reason(end.status, end.reason)
    for item in queue.claimed(tx.connection, run.run_id, run.conversation_id):
        dropped = queue.decide(tx.connection, item.item_id, Fate.DROPPED, at=at, reason=reason)
        write_transcript_line(tx, dropped, end.secret_mask, run_id=run.run_id, at=at)
        steering = {
            "status": Fate.DROPPED,
            "reason": reason,
            "source_event_id": item.event_id,
            "claimed_run_id": run.run_id,
            "claimed_runner_id": run.runner_id,
            "claimed_at": epoch_seconds(item.created_at),
        }
        event_id = f"{item.item_id}:{Fate.DROPPED}"
        log_queue_event(
            tx, item, EntryKind.STEERING_DROPPED, event_id, at=at, run_id=run.run_id, metadata={"steering": steering}
        )
        yield {"item_id": item.item_id, "event_id": item.event_id, "text": dropped.text, "reason": reason}


def drop_pending(tx: Transaction, host_id: str, reason: str, *, at: int) -> None:
    """Inside the writer: drop the messages that wait for a host that is gone, and write them to the transcript."""
    for item in queue.waiting(tx.connection, host=host_id):
        dropped = queue.decide(tx.connection, item.item_id, Fate.DROPPED, at=at, reason=reason)
        write_transcript_line(tx, dropped, SecretMask(), run_id=None, at=at)
        steering = {"status": Fate.DROPPED, "reason": reason, "source_event_id": item.event_id}
        log_queue_event(
            tx,
            item,
            EntryKind.STEERING_DROPPED,
            f"{item.item_id}:{Fate.DROPPED}",
            at=at,
            metadata={"steering": steering},
        )


def drop_with_session(tx: Transaction, session_id: str, *, at: int) -> None:
    """Inside the writer: drop the queued messages of a session that is deleted, of all hosts.

    They are in the transcript if the session is restored, and the event log keeps their fate if it is purged. The hosts
    notice it in the database and tell the senders.
    """
    for item in queue.waiting(tx.connection, conversation_id=session_id):
        reason = DropReason.SESSION_DELETED
        dropped = queue.decide(tx.connection, item.item_id, Fate.DROPPED, at=at, reason=reason)
        write_transcript_line(tx, dropped, SecretMask(), run_id=None, at=at)
        steering = {
            "status": Fate.DROPPED,
            "reason": reason,
            "item_id": item.item_id,
            "source_event_id": item.event_id,
        }
        event_id = f"{item.item_id}:{Fate.DROPPED}"
        log_queue_event(tx, item, EntryKind.STEERING_DROPPED, event_id, at=at, metadata={"steering": steering})


@dataclass(frozen=True, slots=True)
class Resend:
    """The dropped or withdrawn item that a new message repeats, and how the new message is queued."""

    item_id: str
    place: int = 0
    """Its place in the queue; 0 is the end."""
    fate: Fate = Fate.QUEUED


def resend_withdrawn(item: QueueItem) -> Resend:
    """Return how to restore a withdrawn message: in its old place, and paused if it was paused."""
    if item.fate != Fate.WITHDRAWN:
        raise AlreadyDecided(f"Message {item.item_id} is {item.fate}; only a withdrawn message can be restored.")
    return Resend(item.item_id, item.place, Fate.PAUSED if queue.WAS_PAUSED in item.metadata else Fate.QUEUED)
