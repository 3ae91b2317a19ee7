"""What a run begins with: the line it answers, its artifacts, and what the facts say at that moment."""

from typing import Any

from engine.facts import cursors, event_log, runs, state, transcript
from engine.facts.batch import Transaction
from engine.run.arrival import store_attachments, store_raw
from engine.run.context import Beginning
from engine.run.order import RunOrder


def begin(tx: Transaction, order: RunOrder, *, now: int) -> Beginning:
    """Turn a created run into a running one."""
    envelope = order.envelope
    deadline_at = None if order.timeout is None or order.holds else now + int(order.timeout * 1_000_000)
    runs.start(tx.connection, order.run_id, at=now, deadline_at=deadline_at)
    event = event_log.get(tx.connection, envelope.event_id)
    mine = {"run_id": order.run_id, "runner_id": order.binding.runner_id}
    store_raw(tx, envelope, order.raw, **mine, at=now)
    warnings = store_attachments(tx, envelope, **mine, at=now, roots=order.file_roots)
    before = None
    if envelope.conversation_id is not None:
        before = transcript.latest_seq(tx.connection, order.place, before_line=user_line_of(order.run_id))
    return Beginning(
        event_seq=event.seq,
        transcript_seq=before,
        latest_cursor=None if before is None else cursors.history(order.place, before + 1),
        state=_state(tx, order),
        deadline_at=deadline_at,
        warnings=warnings,
    )


def user_line_of(run_id: str) -> str:
    """The id of the line that a run answers. It is written with the run's creation: what was said is never lost."""
    return f"{run_id}:user"


def _state(tx: Transaction, order: RunOrder) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {
        scope: state.all_of(tx.connection, identity.key) for scope, identity in order.grants.state_scopes.items()
    }
    if "conversation" in found:
        found["conversation"].setdefault(state.EXTERNAL, order.envelope.conversation_id)
    return found
