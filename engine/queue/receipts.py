"""Receipts: what happened to each message that was sent to a run, read from the queue and the journal."""

from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection

from engine.events import FINAL_STATUSES, EntryKind, Mode
from engine.store import entries, queue
from engine.store.queue import QueueItem
from engine.store.runs import RunRow


@dataclass(frozen=True, slots=True)
class Receipt:
    """One message: when it was queued, pulled and injected, and the runner's first result after the pull."""

    id: str
    event_id: str
    text: str | None
    mode: str
    fate: str
    reason: str | None
    queued_at: int
    queued_position: int | None
    pulled_at: int | None
    pulled_position: int | None
    injected_at: int | None
    first_result: str | None
    """The type of the first result after the pull."""
    first_result_at: int | None
    first_result_position: int | None
    latency: int | None
    """Microseconds from the pull to the first result after it."""
    decided_at: int | None
    own_run_id: str | None
    sent_again_as: str | None


@dataclass(frozen=True, slots=True)
class SteeringReport:
    """How a run was steered: whether it can be, how often it pulled, and a receipt for each message."""

    run_id: str
    can_steer: bool
    why_not: str | None
    """The clause that forbids steering."""
    pulls: int | None
    """How often the run has pulled; None if it is in another process, or was in one that died."""
    last_pull_at: int | None
    """None if the run has never pulled: messages are not delivered until it does."""
    receipts: tuple[Receipt, ...]


def read_steering_report(
    conn: Connection, run: RunRow, *, pulls: int | None = None, last_pull_at: int | None = None
) -> SteeringReport:
    """Read the report of a run. `pulls` and `last_pull_at` are given for a run in progress in this process."""
    granted = cast("dict[str, dict[str, Any]]", (run.authorization or {}).get("apis", {}))
    clause = granted.get("steering_pull", {})
    stored = cast("dict[str, Any]", run.metadata.get("steering", {}))
    if run.status in FINAL_STATUSES and stored:
        pulls, last_pull_at = stored["pulls"], stored["last_pull_at"]
    elif pulls is None:
        last_pull_at = entries.last_at(conn, run.run_id, EntryKind.STEERING_PULLED)
    can_steer = bool(clause.get("allowed"))
    return SteeringReport(
        run_id=run.run_id,
        can_steer=can_steer,
        why_not=None if can_steer else str(clause.get("clause", "")),
        pulls=pulls,
        last_pull_at=last_pull_at,
        receipts=tuple(_receipt(conn, item) for item in queue.of_run(conn, run.run_id)),
    )


def _receipt(conn: Connection, item: QueueItem) -> Receipt:
    after = None
    if item.mode == Mode.STEER and item.run_id is not None and item.pulled_position is not None:
        after = entries.first_result(conn, item.run_id, item.pulled_position)
    latency = None if after is None or item.pulled_at is None else after.at - item.pulled_at
    return Receipt(
        id=item.item_id,
        event_id=item.event_id,
        text=queue.as_shown(item).text,
        mode=item.mode,
        fate=item.fate,
        reason=item.reason,
        queued_at=item.created_at,
        queued_position=item.metadata.get("queued_position"),
        pulled_at=item.pulled_at,
        pulled_position=item.pulled_position,
        injected_at=item.injected_at,
        first_result=after and after.type,
        first_result_at=after and after.at,
        first_result_position=after and after.position,
        latency=latency,
        decided_at=item.decided_at,
        own_run_id=item.own_run_id,
        sent_again_as=item.metadata.get(queue.SENT_AGAIN),
    )
