"""Database rows of a new run and its event."""

from engine.run.masked_event import mask_event
from engine.run.run_order import RunOrder
from engine.store.event_log import EventRow
from engine.store.runs import EXTERNAL, INPUT_GLIMPSE, KEPT, RunRow


def run_row(order: RunOrder, host: str, now: int) -> RunRow:
    """Build the row of a run that is being created, with its frozen grants."""
    envelope = order.envelope
    # The title of the run in lists: its text, else the names of its attachments.
    title = envelope.input.to_text() or ", ".join(filter(None, (one.name for one in envelope.input.attachments)))
    kind = {} if envelope.is_message else {"event_type": envelope.event_type}
    return RunRow(
        run_id=order.run_id,
        event_id=envelope.event_id,
        agent_id=order.binding.agent_id,
        binding_id=order.binding.binding_id,
        runner_id=order.binding.runner_id,
        host=host,
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        created_at=now,
        updated_at=now,
        authorization=order.grants.snapshot(order.secret_mask),
        metadata={"input": order.secret_mask.cover_words(title)[:INPUT_GLIMPSE], **kind}
        | ({KEPT: True} if order.uses_kept_settings else {})
        | ({EXTERNAL: True} if order.is_external else {}),
    )


def event_row(order: RunOrder, run_id: str | None, now: int) -> EventRow:
    """Build the row of an event for the event log."""
    envelope = mask_event(order.envelope, order.secret_mask)
    actor, subject = envelope.actor, envelope.subject
    return EventRow(
        event_id=envelope.event_id,
        event_type=envelope.event_type,
        event_time=envelope.time,
        source=envelope.source,
        source_event_type=envelope.source_event_type,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        actor_type=actor.actor_type if actor else None,
        actor_id=actor.actor_id if actor else None,
        actor_name=actor.actor_name if actor else None,
        subject_type=subject.subject_type if subject else None,
        subject_id=subject.subject_id if subject else None,
        input_summary=envelope.input.to_text() or None,
        raw_ref=envelope.raw_ref,
        run_id=run_id,
        created_at=now,
    )
