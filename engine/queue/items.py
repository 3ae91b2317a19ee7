"""A message in the queue: as its runner will get it, as the store keeps it, and whether it can be delivered."""

from typing import Any, Final

import orjson

from engine.events import Source
from engine.intake.envelope import EventEnvelope, with_text
from engine.journal.secret_mask import SecretMask
from engine.run.masked_event import mask_event
from engine.run.run_start import conversation_context, event_context, runner_input
from engine.run.store_event import write_user_line
from engine.runtimes import wire
from engine.store import event_log, transcript
from engine.store.batch import Transaction
from engine.store.event_log import EventRow
from engine.store.queue import COVERED, QueueItem, as_shown

MAX_QUEUE_ITEMS: Final = 100
"""The most messages that can be queued for one run, and that one pull returns."""
MAX_PULL_BYTES: Final = wire.MAX_REPLY - 128 * 1024
"""The most bytes of messages in one pull. The rest of the frame is for a KiB of names for each message."""


def current_envelope(item: QueueItem) -> EventEnvelope:
    """Return the envelope of a queued message with its current text, which the user may have edited."""
    return with_text(EventEnvelope.model_validate(item.envelope), item.text)


def runner_payload(envelope: EventEnvelope) -> dict[str, Any]:
    """Return a message as a runner gets it: with references to its attachments, without their bytes."""
    conversation = conversation_context(envelope)
    return {
        "event": event_context(envelope).model_dump(mode="json"),
        "input": runner_input(envelope.input).model_dump(mode="json"),
        "conversation": conversation.model_dump(mode="json") if conversation else None,
        "actor": envelope.actor.model_dump(mode="json") if envelope.actor else None,
        "subject": envelope.subject.model_dump(mode="json") if envelope.subject else None,
    }


def attachment_summary(item: QueueItem) -> dict[str, Any]:
    """Return the names, types and sizes of a message's attachments for the journal; empty if it has none."""
    attachments = item.envelope.get("input", {}).get("attachments")
    fields = ("artifact_id", "artifact_type", "name", "mime_type", "size")
    if not attachments:
        return {}
    return {"attachments": [{key: one[key] for key in fields if one.get(key) is not None} for one in attachments]}


def payload_size(envelope: EventEnvelope) -> int:
    """Return the bytes that a message takes in the reply of a pull."""
    return len(orjson.dumps(runner_payload(envelope)))


def reason_not_deliverable(envelope: EventEnvelope) -> str | None:
    """Return why no pull could deliver this message; None if one can. It would block all messages behind it."""
    if wire.too_deep({"items": [runner_payload(envelope)]}, wire.MAX_DEPTH):
        return f"the message is nested deeper than {wire.MAX_DEPTH} levels"
    try:
        size = payload_size(envelope)
    except TypeError as error:
        return f"the message cannot be encoded ({error})"
    if size > MAX_PULL_BYTES:
        return f"the message has {size // 1024} KiB; the limit is {MAX_PULL_BYTES // 1024} KiB"
    return None


def masked_parts(envelope: EventEnvelope, *masks: SecretMask) -> dict[str, Any]:
    """Return metadata with the masked text and envelope of an item; empty if the message contains no secret."""
    masked = mask_event(envelope, *masks)
    if masked is envelope:
        return {}
    return {COVERED: {"text": masked.input.to_text(), "envelope": masked.model_dump(mode="json")}}


def transcript_line_id(item_id: str) -> str:
    """Return the id of a message's transcript line, the same whether the message is pulled or dropped."""
    return f"{item_id}:user"


def write_transcript_line(tx: Transaction, item: QueueItem, mask: SecretMask, *, run_id: str | None, at: int) -> None:
    """Write a queued message into the transcript, unless it is there already."""
    line_id = transcript_line_id(item.item_id)
    if not transcript.has(tx.connection, line_id):
        shown = mask_event(current_envelope(as_shown(item)), mask)
        write_user_line(tx, shown, run_id=run_id, line_id=line_id, at=at)


def log_queue_event(
    tx: Transaction,
    item: QueueItem,
    kind: str,
    event_id: str,
    *,
    at: int,
    source: Source = Source.HOST,
    run_id: str | None = None,
    metadata: dict[str, Any],
) -> None:
    """Write a change of a queued message to the event log."""
    event_log.append(
        tx.connection,
        EventRow(
            event_id=event_id,
            event_type=kind,
            source=source,
            conversation_id=item.conversation_id,
            thread_id=item.thread_id,
            bot_id=item.bot_id,
            workspace_id=item.workspace_id,
            run_id=run_id,
            created_at=at,
            metadata=metadata,
        ),
    )
