"""Reads a past event back from the database, to show, edit and send it again."""

import base64
from dataclasses import dataclass

import orjson
from sqlalchemy import Connection

from engine.events import EntryKind, RunStarted
from engine.intake.envelope import EventEnvelope
from engine.journal.secret_mask import SecretMask, has_mark
from engine.journal.stored_context import PREFIX, restore_context
from engine.protocol.content import Attachment, ContentElement
from engine.protocol.context import AgentRunContext
from engine.queue.items import current_envelope
from engine.run.masked_event import mask_event
from engine.run.run_start import envelope_from_context
from engine.run.store_event import EVENT_ID_KEY
from engine.store import artifacts, entries, event_log, queue, runs
from engine.store.artifacts import MAX_READ_BYTES, Storage
from engine.store.errors import NotFound
from engine.store.hidden_sessions import is_hidden
from engine.store.redact import MARK
from engine.store.runs import RunRow


@dataclass(frozen=True, slots=True)
class PastEvent:
    """An event with its attached bytes, and a sentence for each part that is not stored any more."""

    envelope: EventEnvelope
    lost: tuple[str, ...] = ()
    """What could not be read back, for the user."""


def past_event(conn: Connection, name: str, mask: SecretMask, *, now: int) -> PastEvent:
    """The event of this id, or of a run: by the run's id, a unique beginning of it, or `last`.

    `mask` is for large data of the event, which is stored as an artifact and in clear.
    """
    event = event_log.seen(conn, name)
    if event is None or is_hidden(conn, event.conversation_id or ""):
        run = runs.find(conn, name)
        event_id, conversation_id = run.event_id or "", run.conversation_id
    else:
        run = None if event.run_id is None else runs.get(conn, event.run_id)
        event_id, conversation_id = event.event_id, event.conversation_id
    item = queue.of_event(conn, event_id, conversation_id)
    # A queued event is stored whole; for any other event only the context of its run is stored.
    envelope = current_envelope(queue.as_shown(item)) if item is not None else _from_context(conn, run, name)
    lost: list[str] = []
    envelope = mask_event(_with_raw(conn, envelope, lost, now), mask)
    if has_mark(envelope.model_dump_json()):
        lost.insert(0, "a secret is masked in the database; enter it again")
    return PastEvent(_with_bytes(conn, envelope, lost, now), tuple(lost))


def _from_context(conn: Connection, run: RunRow | None, name: str) -> EventEnvelope:
    found = entries.page(conn, run.run_id, limit=1) if run is not None else []
    if run is None or not found or found[0].type != EntryKind.RUN_STARTED:
        raise NotFound(f"{name} never started as a run, so its input is not stored.")
    restored = restore_context(conn, run.run_id, RunStarted(orjson.loads(found[0].data)))
    return envelope_from_context(AgentRunContext.model_validate(restored.context), run)


def _with_raw(conn: Connection, envelope: EventEnvelope, lost: list[str], now: int) -> EventEnvelope:
    """The event with its data, if that was too large for the context and is stored as an artifact."""
    if envelope.raw_ref is None or envelope.data:
        return envelope
    content = _content(conn, envelope.raw_ref, envelope.event_id, now)
    if content is None:
        lost.append("the event data is no longer stored")
        return envelope
    return envelope.model_copy(update={"raw_ref": None, "data": orjson.loads(content)})


def _with_bytes(conn: Connection, envelope: EventEnvelope, lost: list[str], now: int) -> EventEnvelope:
    """The event with the content of its attachments, which the context does not have."""
    attachments: list[Attachment] = []
    for attachment in envelope.input.attachments:
        if attachment.content is not None or attachment.url or attachment.id:
            attachments.append(attachment)
        elif (content := _content(conn, attachment.artifact_id, envelope.event_id, now)) is not None:
            encoded = base64.b64encode(content).decode()
            attachments.append(attachment.model_copy(update={"content": encoded}))
        else:
            lost.append(f"attachment {attachment.name or attachment.artifact_id!r:.80} is not stored any more")
    contents = [part for part in envelope.input.contents if not _is_lost(part)]
    if len(contents) < len(envelope.input.contents):
        lost.append("a picture or file inside the message is not stored")
    restored = envelope.input.model_copy(update={"attachments": attachments, "contents": contents})
    return envelope.model_copy(update={"input": restored})


def _is_lost(part: ContentElement) -> bool:
    """Whether a picture or file inside the message was removed, or is not stored any more."""
    if (part.model_extra or {}).get(MARK):
        return True
    addresses = (part.image_base64, part.file_base64, part.file_url, part.image_url.url if part.image_url else None)
    return any(isinstance(each, str) and each.startswith(PREFIX) for each in addresses)


def _content(conn: Connection, artifact_id: str, event_id: str, now: int) -> bytes | None:
    """The bytes that came with this event; None if the artifact belongs to another event or is too large."""
    try:
        row = artifacts.get(conn, artifact_id, now=now)
        if (
            row.storage != Storage.BLOB
            or row.metadata.get(EVENT_ID_KEY) != event_id
            or (row.size_bytes or 0) > MAX_READ_BYTES
        ):
            return None
        return artifacts.read_range(conn, artifact_id, 0, MAX_READ_BYTES, now=now)
    except NotFound:
        return None
