"""A message in the queue, as the runner will get it and as the facts keep it."""

from typing import Any, Final

import orjson

from engine.facts import event_log, transcript
from engine.facts.batch import Transaction
from engine.facts.event_log import EventRow
from engine.facts.queue import COVERED, QueueItem
from engine.intake.envelope import EventEnvelope, with_text
from engine.protocol.content import RunnerInput
from engine.run.arrival import write_user_line
from engine.run.context import conversation_of, event_of, input_of
from engine.run.marks import Marks
from engine.runtimes import wire

MOST: Final = 100
"""Messages that may wait in one run, and that one pull gives."""
LARGEST: Final = wire.MAX_REPLY - 128 * 1024
"""Bytes of messages that a pull can still hand over: a KiB of names for each, and the rest of the frame."""


def said(item: QueueItem) -> EventEnvelope:
    """The envelope with the text that stands now: what came in, unless a person has edited it."""
    return with_text(EventEnvelope.model_validate(item.envelope), item.text)


def handed(envelope: EventEnvelope) -> dict[str, Any]:
    """What a runner gets of a message: of its attachments references, not bytes."""
    conversation = conversation_of(envelope)
    return {
        "event": event_of(envelope).model_dump(mode="json"),
        "input": input_of(envelope.input).model_dump(mode="json"),
        "conversation": conversation.model_dump(mode="json") if conversation else None,
        "actor": envelope.actor.model_dump(mode="json") if envelope.actor else None,
        "subject": envelope.subject.model_dump(mode="json") if envelope.subject else None,
    }


def files_told(item: QueueItem) -> dict[str, Any]:
    """For the journal of the run that gets a message: what came with it, by name, type and size; nothing for none."""
    given = item.envelope.get("input", {}).get("attachments")
    told = ("artifact_id", "artifact_type", "name", "mime_type", "size")
    return (
        {"attachments": [{key: one[key] for key in told if one.get(key) is not None} for one in given]} if given else {}
    )


def size_of(envelope: EventEnvelope) -> int:
    """Bytes that a message takes in the reply of a pull."""
    return len(orjson.dumps(handed(envelope)))


def unfit(envelope: EventEnvelope) -> str | None:
    """Why no pull could hand this over; nothing where one can. What cannot leave would stop all that is behind it."""
    if wire.too_deep({"items": [handed(envelope)]}, wire.MAX_DEPTH):
        return f"it is nested deeper than the {wire.MAX_DEPTH} levels that can be handed into a run"
    try:
        size = size_of(envelope)
    except TypeError as error:
        return f"it cannot be handed into a run ({error})"
    if size > LARGEST:
        return f"it has {size // 1024} KiB, more than the {LARGEST // 1024} that can be handed into a run"
    return None


def covered(given: RunnerInput, *known: Marks) -> dict[str, Any]:
    """For the metadata of an item: its input with secrets as marks, where it has any.

    Whoever drops it when its host is gone knows no secrets any more.
    """
    plain = given.model_dump(mode="json", exclude_none=True)
    safe = plain
    for marks in known:
        safe = marks.cover_value(safe)
    return {} if safe == plain else {COVERED: safe}


def recorded(item: QueueItem) -> EventEnvelope:
    """What may be recorded of it: what is said, with its secrets as marks."""
    envelope, safe = said(item), item.metadata.get(COVERED)
    return envelope if safe is None else envelope.model_copy(update={"input": RunnerInput.model_validate(safe)})


def line_of(item_id: str) -> str:
    """The id of the line that a message becomes when it is pulled or dropped: one, whichever comes."""
    return f"{item_id}:user"


def write_line(tx: Transaction, item: QueueItem, marks: Marks, *, run_id: str | None, at: int) -> None:
    """A person did say it: a line of the conversation, unless it is one already."""
    line_id = line_of(item.item_id)
    if not transcript.has(tx.connection, line_id):
        write_user_line(tx, recorded(item), marks, run_id=run_id, line_id=line_id, at=at)


def audit(
    tx: Transaction,
    item: QueueItem,
    kind: str,
    event_id: str,
    *,
    at: int,
    source: str = "host",
    run_id: str | None = None,
    metadata: dict[str, Any],
) -> None:
    """Note in the event log what became of a message."""
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
