"""A run and its event as the facts keep them."""

from engine.facts.event_log import EventRow
from engine.facts.runs import INPUT_GLIMPSE, KEPT, RunRow
from engine.run.order import RunOrder


def run_row(order: RunOrder, host: str, now: int) -> RunRow:
    """The run as it is created: who, where, and the frozen grants."""
    envelope = order.envelope
    # What it is known by where runs are listed: what was said, else what came with it; and what it is, if no message.
    named = envelope.input.to_text() or ", ".join(filter(None, (one.name for one in envelope.input.attachments)))
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
        authorization=order.grants.snapshot(),
        metadata={"input": order.marks.cover_words(named)[:INPUT_GLIMPSE], **kind}
        | ({KEPT: True} if order.takes_kept else {}),
    )


def event_row(order: RunOrder, run_id: str | None, now: int) -> EventRow:
    """The event as the log keeps it."""
    envelope = order.envelope
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
        input_summary=order.marks.cover_words(envelope.input.to_text()) or None,
        raw_ref=envelope.raw_ref,
        run_id=run_id,
        created_at=now,
    )
