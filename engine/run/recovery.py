"""What a dead host left behind: its runs are closed, its queue is dropped with the reason, nothing else changes."""

from typing import Final

from engine.clock import Clock, Ids
from engine.facts import hosts, queue, runs
from engine.facts.batch import Transaction
from engine.facts.queue import Fate
from engine.facts.runs import Status
from engine.intake.envelope import EventEnvelope
from engine.protocol.results import FailureCode
from engine.run.beginning import write_user_line
from engine.run.marks import Marks
from engine.run.orchestrator import close_run

REASON: Final = FailureCode.HOST_RESTARTED.value


def recover(tx: Transaction, host_id: str, *, clock: Clock, ids: Ids) -> list[str]:
    """Close everything of one host whose lock is free; gives the run ids."""
    now = clock.now()
    closed: list[str] = []
    for run in runs.live_of_host(tx.connection, host_id):
        data = {
            "status": Status.FAILED,
            "reason": REASON,
            "error": "the host ended before the run did",
            "retryable": True,
        }
        close_run(tx, run.run_id, Status.FAILED, REASON, data, at=now)
        closed.append(run.run_id)
    drop_waiting(tx, host_id, REASON, clock=clock, ids=ids)
    hosts.bury(tx.connection, host_id)
    return closed


def drop_waiting(tx: Transaction, host_id: str, reason: str, *, clock: Clock, ids: Ids) -> None:
    """Nobody will answer what waits for this host; it was said all the same, so it is a line of the conversation."""
    now = clock.now()
    for item in queue.waiting(tx.connection, host=host_id):
        queue.decide(tx.connection, item.item_id, Fate.DROPPED, at=now, reason=reason)
        envelope = EventEnvelope.model_validate(item.envelope)
        write_user_line(tx, envelope, Marks(), run_id=None, line_id=ids.new("line"), at=now)
