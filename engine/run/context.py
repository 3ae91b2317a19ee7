"""What the runner is handed: one context, built when the run begins and never again."""

from dataclasses import dataclass
from typing import Any

from engine.clock import Clock, rfc3339
from engine.facts.runs import RunRow
from engine.intake.envelope import EventEnvelope
from engine.protocol.content import Attachment, RunnerInput
from engine.protocol.context import (
    AdapterContext,
    AgentRunContext,
    ContextAccess,
    RuntimeContext,
    StateSnapshot,
)
from engine.protocol.event import (
    ConversationContext,
    DeliveryContext,
    EventContext,
    EventSource,
    EventType,
    Trigger,
    trigger_source,
)
from engine.run.order import RunOrder
from engine.version import VERSION


@dataclass(frozen=True, slots=True)
class Beginning:
    """What the facts said at the moment the run began."""

    event_seq: int
    transcript_seq: int | None
    """Of the last line said before this event."""
    latest_cursor: str | None
    state: dict[str, dict[str, Any]]
    deadline_at: int | None
    warnings: tuple[str, ...] = ()


def build_context(order: RunOrder, beginning: Beginning, clock: Clock) -> dict[str, Any]:
    """The context as JSON. History is never in it."""
    envelope = order.envelope
    context = AgentRunContext(
        run_id=order.run_id,
        trigger=Trigger(
            type=envelope.event_type,
            source=trigger_source(envelope.source),
            timestamp=rfc3339(envelope.time if envelope.time is not None else clock.now()),
        ),
        event=event_of(envelope),
        conversation=conversation_of(envelope),
        actor=envelope.actor,
        subject=envelope.subject,
        input=input_of(envelope.input),
        delivery=_delivery(order),
        resources=order.grants.resources,
        context=ContextAccess(
            conversation_id=envelope.conversation_id,
            thread_id=envelope.thread_id,
            latest_cursor=beginning.latest_cursor,
            event_seq=beginning.event_seq,
            transcript_seq=beginning.transcript_seq,
            has_history_before=beginning.transcript_seq is not None,
            available_apis=order.grants.available_apis,
        ),
        state=StateSnapshot(**beginning.state),
        runtime=RuntimeContext(
            langbot_version=f"trackside {VERSION}",
            trace_id=order.run_id,
            deadline_at=None if beginning.deadline_at is None else rfc3339(beginning.deadline_at),
            metadata={
                "bot_id": envelope.bot_id,
                "workspace_id": envelope.workspace_id,
                "streaming_supported": _delivery(order).supports_streaming,
                "model_context_window_tokens": order.context_window,
            },
        ),
        config=order.config,
        adapter=AdapterContext(extra={"params": order.params}) if order.params else None,
    )
    return context.model_dump(mode="json")


def envelope_of(context: AgentRunContext, run: RunRow) -> EventEnvelope:
    """The event of which a run was told, as far as it was told; of attachments it has references."""
    event = context.event
    return EventEnvelope(
        event_id=event.event_id,
        event_type=EventType(event.event_type),
        event_time=event.event_time,
        source=EventSource(event.source),
        source_event_type=event.source_event_type,
        bot_id=run.bot_id,
        workspace_id=run.workspace_id,
        conversation_id=run.conversation_id,
        thread_id=run.thread_id,
        actor=context.actor,
        subject=context.subject,
        input=context.input,
        delivery=context.delivery,
        raw_ref=event.raw_ref,
        data=event.data,
    )


def event_of(envelope: EventEnvelope) -> EventContext:
    """The event as a runner may see it."""
    return EventContext(
        event_id=envelope.event_id,
        event_type=envelope.event_type,
        event_time=None if envelope.time is None else rfc3339(envelope.time),
        source=envelope.source,
        source_event_type=envelope.source_event_type,
        raw_ref=envelope.raw_ref,
        data=envelope.data,
    )


def conversation_of(envelope: EventEnvelope) -> ConversationContext | None:
    """Where it was said, as a runner may see it."""
    if envelope.conversation_id is None:
        return None
    return ConversationContext(
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        sender_id=envelope.actor.actor_id if envelope.actor else None,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        session_id=envelope.conversation_id,
    )


def input_of(given: RunnerInput) -> RunnerInput:
    """Attachments are artifacts by now: the runner gets references, not bytes."""
    attachments: list[Attachment] = [one.model_copy(update={"content": None}) for one in given.attachments]
    return given.model_copy(update={"attachments": attachments})


def _delivery(order: RunOrder) -> DeliveryContext:
    """The envelope's delivery, cut down to what the policy allows."""
    delivery, policy = order.envelope.delivery, order.binding.delivery_policy
    sizes = [size for size in (delivery.max_message_size, policy.max_message_size) if size is not None]
    return delivery.model_copy(
        update={
            "supports_streaming": delivery.supports_streaming and policy.enable_streaming,
            "reply_target": delivery.reply_target if policy.enable_reply else None,
            "max_message_size": min(sizes, default=None),
        }
    )
