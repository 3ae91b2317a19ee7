"""Receipts: what became of everything that was said while a run worked, read from the queue and the journal."""

from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection

from engine.facts import journal, queue
from engine.facts.queue import Mode, QueueItem
from engine.facts.runs import FINAL, RunRow
from engine.steering.items import recorded


@dataclass(frozen=True, slots=True)
class Receipt:
    """One message: when it was queued, pulled and injected, and what the runner did first after it had it."""

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
class Steering:
    """How a run was and is spoken to."""

    run_id: str
    can_steer: bool
    why_not: str | None
    """The clause that forbids it, in the author's words."""
    pulls: int | None
    """How often it has asked; not known of a run that works in another process, or worked in one that died."""
    last_pull_at: int | None
    """Never, if there is none: what is said to this run reaches nobody until it pulls."""
    receipts: tuple[Receipt, ...]


def steering_of(
    conn: Connection, run: RunRow, *, pulls: int | None = None, last_pull_at: int | None = None
) -> Steering:
    """Of a run that has ended or works elsewhere, as the facts know it; of one at work here, with what it has done."""
    granted = cast("dict[str, dict[str, Any]]", (run.authorization or {}).get("apis", {}))
    clause = granted.get("steering_pull", {})
    noted = cast("dict[str, Any]", run.metadata.get("steering", {}))
    if run.status in FINAL and noted:
        pulls, last_pull_at = noted["pulls"], noted["last_pull_at"]
    elif pulls is None:
        last_pull_at = journal.last_at(conn, run.run_id, "steering.pulled")
    can_steer = bool(clause.get("allowed"))
    return Steering(
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
        after = journal.first_result(conn, item.run_id, item.pulled_position)
    latency = None if after is None or item.pulled_at is None else after.at - item.pulled_at
    return Receipt(
        id=item.item_id,
        event_id=item.event_id,
        text=recorded(item).input.to_text(),
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
