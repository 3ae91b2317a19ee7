"""What a dead host left behind: its runs are closed, its queue is dropped with the reason, nothing else changes."""

from typing import Final

from engine.facts import hosts, runs
from engine.facts.batch import Transaction
from engine.facts.runs import Status
from engine.protocol.results import FailureCode
from engine.run.orchestrator import End, close_run
from engine.steering.leftovers import drop_waiting

REASON: Final = FailureCode.HOST_RESTARTED.value


def recover(tx: Transaction, host_id: str, *, now: int) -> list[str]:
    """Close everything of one host whose lock is free; gives the run ids."""
    closed: list[str] = []
    for run in runs.live_of_host(tx.connection, host_id):
        data = {
            "status": Status.FAILED,
            "reason": REASON,
            "error": "the host ended before the run did",
            "retryable": True,
        }
        close_run(tx, run.run_id, End(Status.FAILED, data), at=now)
        closed.append(run.run_id)
    drop_waiting(tx, host_id, REASON, at=now)
    hosts.bury(tx.connection, host_id)
    return closed
