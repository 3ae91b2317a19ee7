"""What a run's end leaves undelivered is dropped with the reason: it was said, and it can be sent again."""

from collections.abc import Iterator
from dataclasses import replace

from engine.clock import rfc3339
from engine.facts import queue
from engine.facts.batch import Transaction
from engine.facts.queue import Fate, QueueItem
from engine.facts.runs import RunRow, Status
from engine.protocol.results import FailureCode
from engine.run.marks import Marks
from engine.steering.items import audit, recorded, write_line


def reason_of(status: Status, reason: str) -> str:
    """Why a run's end drops what waits in it: one word for each way to end."""
    if status is Status.FAILED and reason in (FailureCode.LOST, FailureCode.HOST_RESTARTED):
        return "runner_lost" if reason == FailureCode.LOST else FailureCode.HOST_RESTARTED.value
    return status.value


def drop_leftovers(tx: Transaction, run: RunRow, reason: str, marks: Marks, *, at: int) -> Iterator[QueueItem]:
    """Inside the writer, with the run's end: its open items, each as it was dropped and as it may be recorded."""
    for item in queue.claimed(tx.connection, run.run_id, run.conversation_id):
        dropped = queue.decide(tx.connection, item.item_id, Fate.DROPPED, at=at, reason=reason)
        write_line(tx, dropped, marks, run_id=run.run_id, at=at)
        steering = {
            "status": "dropped",
            "reason": reason,
            "source_event_id": item.event_id,
            "claimed_run_id": run.run_id,
            "claimed_runner_id": run.runner_id,
            "claimed_at": rfc3339(item.created_at),
        }
        event_id = f"{item.item_id}:dropped"
        audit(tx, item, "steering.dropped", event_id, at=at, run_id=run.run_id, metadata={"steering": steering})
        yield replace(dropped, text=recorded(dropped).input.to_text())


def drop_waiting(tx: Transaction, host_id: str, reason: str, *, at: int) -> None:
    """Nobody will answer what waits for a host that is gone; it was said all the same, so it is a line."""
    for item in queue.waiting(tx.connection, host=host_id):
        dropped = queue.decide(tx.connection, item.item_id, Fate.DROPPED, at=at, reason=reason)
        write_line(tx, dropped, Marks(), run_id=None, at=at)
        steering = {"status": "dropped", "reason": reason, "source_event_id": item.event_id}
        audit(tx, item, "steering.dropped", f"{item.item_id}:dropped", at=at, metadata={"steering": steering})
