"""The start of a run: its status and artifacts in the store, and the context that its runner gets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.clock import Clock, SystemClock, epoch_seconds, exact_epoch_seconds, rfc3339
from engine.intake.envelope import EventEnvelope
from engine.protocol.content import Attachment, RunnerInput
from engine.protocol.context import AdapterContext, AgentRunContext, ContextAccess, RuntimeContext, StateSnapshot
from engine.protocol.event import (
    ConversationContext,
    DeliveryContext,
    EventContext,
    EventSource,
    EventType,
    Trigger,
    trigger_source,
)
from engine.run.run_order import RunOrder
from engine.run.state_snapshot import Snapshot, is_small, read_snapshot, state_budget
from engine.run.store_event import store_attachments, store_raw
from engine.runtimes import wire
from engine.store import cursors, event_log, runs, state, transcript
from engine.store.batch import Transaction
from engine.store.runs import RunRow
from engine.version import VERSION


@dataclass(frozen=True, slots=True)
class StartFacts:
    """The content of the store when the run started."""

    event_seq: int
    transcript_seq: int | None
    """The transcript line before this event."""
    latest_cursor: str | None
    state: dict[str, dict[str, Any]]
    deadline_at: int | None
    warnings: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The secrets that earlier runs saved in the state, with their names."""


def build_context(order: RunOrder, facts: StartFacts, clock: Clock) -> dict[str, Any]:
    """Build the context as JSON. It never contains history."""
    envelope = order.envelope
    context = AgentRunContext(
        run_id=order.run_id,
        trigger=Trigger(
            type=envelope.event_type,
            source=trigger_source(envelope.source),
            timestamp=epoch_seconds(envelope.time if envelope.time is not None else clock.now()),
        ),
        event=event_context(envelope),
        conversation=conversation_context(envelope),
        actor=envelope.actor,
        subject=envelope.subject,
        input=runner_input(envelope.input),
        delivery=_delivery(order),
        resources=order.grants.resources,
        context=ContextAccess(
            conversation_id=envelope.conversation_id,
            thread_id=envelope.thread_id,
            latest_cursor=facts.latest_cursor,
            event_seq=facts.event_seq,
            transcript_seq=facts.transcript_seq,
            has_history_before=facts.transcript_seq is not None,
            available_apis=order.grants.available_apis,
        ),
        state=StateSnapshot(**facts.state),
        runtime=RuntimeContext(
            langbot_version=f"trackside {VERSION}",
            trace_id=order.run_id,
            deadline_at=exact_epoch_seconds(facts.deadline_at),
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


def envelope_from_context(context: AgentRunContext, run: RunRow) -> EventEnvelope:
    """Rebuild the event of a run from its recorded context; attachments are references only."""
    event = context.event
    return EventEnvelope(
        event_id=event.event_id,
        event_type=EventType(event.event_type),
        event_time=None if event.event_time is None else rfc3339(event.event_time * 1_000_000),
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


def event_context(envelope: EventEnvelope) -> EventContext:
    """Return the event as its runner sees it."""
    return EventContext(
        event_id=envelope.event_id,
        event_type=envelope.event_type,
        event_time=epoch_seconds(envelope.time),
        source=envelope.source,
        source_event_type=envelope.source_event_type,
        raw_ref=envelope.raw_ref,
        data=envelope.data,
    )


def conversation_context(envelope: EventEnvelope) -> ConversationContext | None:
    """Return the conversation of an event as its runner sees it."""
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


def runner_input(original: RunnerInput) -> RunnerInput:
    """Return the input as its runner sees it: with references to the stored attachments, without their bytes."""
    attachments: list[Attachment] = [one.model_copy(update={"content": None}) for one in original.attachments]
    return original.model_copy(update={"attachments": attachments})


def _delivery(order: RunOrder) -> DeliveryContext:
    """Return the envelope's delivery options, limited to what the policy allows."""
    delivery, policy = order.envelope.delivery, order.binding.delivery_policy
    sizes = [size for size in (delivery.max_message_size, policy.max_message_size) if size is not None]
    return delivery.model_copy(
        update={
            "supports_streaming": delivery.supports_streaming and policy.enable_streaming,
            "reply_target": delivery.reply_target if policy.enable_reply else None,
            "max_message_size": min(sizes, default=None),
        }
    )


def start_run(tx: Transaction, order: RunOrder, *, now: int) -> StartFacts:
    """Inside the writer: set a created run to running, and store the artifacts of its event."""
    envelope = order.envelope
    deadline_at = None if order.timeout is None or order.breakpoints else now + int(order.timeout * 1_000_000)
    runs.start(tx.connection, order.run_id, at=now, deadline_at=deadline_at)
    event = event_log.get(tx.connection, envelope.event_id)
    owner = {"run_id": order.run_id, "runner_id": order.binding.runner_id}
    lifetimes = order.artifact_lifetimes
    store_raw(tx, envelope, order.raw_data, **owner, at=now, lifetimes=lifetimes)
    warnings = store_attachments(
        tx, envelope, order.secret_mask, **owner, at=now, roots=order.file_roots, lifetimes=lifetimes
    )
    before = None
    if envelope.conversation_id is not None:
        before = transcript.latest_seq(tx.connection, order.conversation_key, before_line=user_line_id(order.run_id))
    snapshot = _read_state(tx, order)
    return StartFacts(
        event_seq=event.seq,
        transcript_seq=before,
        latest_cursor=None if before is None else cursors.history(order.conversation_key, before + 1),
        state=snapshot.values,
        deadline_at=deadline_at,
        warnings=(*warnings, *snapshot.warnings),
        secrets=state.secrets_of(tx.connection, [scope.key for scope in order.grants.state_scopes.values()]),
    )


def user_line_id(run_id: str) -> str:
    """Return the id of the transcript line that a run answers. The line is written when the run is created."""
    return f"{run_id}:user"


def _read_state(tx: Transaction, order: RunOrder) -> Snapshot:
    scopes = order.grants.state_scopes
    budget = None if is_small(tx.connection, scopes) else state_budget(_bytes_without_state(order))
    snapshot = read_snapshot(tx.connection, scopes, budget)
    if "conversation" in snapshot.values:
        snapshot.values["conversation"].setdefault(state.EXTERNAL, order.envelope.conversation_id)
    return snapshot


def _bytes_without_state(order: RunOrder) -> int:
    """Return the size of the context without state. Its times and sequence numbers have no final values yet."""
    facts = StartFacts(event_seq=0, transcript_seq=None, latest_cursor=None, state={}, deadline_at=None)
    return len(wire.dumps(build_context(order, facts, SystemClock())))
