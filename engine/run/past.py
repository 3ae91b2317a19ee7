"""An event that came in before, brought back from the facts to be looked at, changed and sent again."""

import base64
from dataclasses import dataclass

import orjson
from sqlalchemy import Connection

from engine.facts import artifacts, event_log, journal, queue, runs
from engine.facts.artifacts import LONGEST_READ, Storage
from engine.facts.errors import NotFound
from engine.facts.redact import MARK
from engine.facts.runs import RunRow
from engine.intake.envelope import EventEnvelope
from engine.protocol.content import Attachment
from engine.protocol.context import AgentRunContext
from engine.run.arrival import EVENT
from engine.run.context import envelope_of
from engine.run.marks import has_mark
from engine.steering.items import said


@dataclass(frozen=True, slots=True)
class PastEvent:
    """The event as far as it is known, with its bytes; and in words what could not be brought back."""

    envelope: EventEnvelope
    lost: tuple[str, ...] = ()


def past_event(conn: Connection, name: str, *, now: int) -> PastEvent:
    """The event of this id, or of a run: by its id, a unique beginning of it, or `last`."""
    event = event_log.seen(conn, name)
    if event is None:
        run = runs.find(conn, name)
        event_id, conversation_id = run.event_id or "", run.conversation_id
    else:
        run = None if event.run_id is None else runs.get(conn, event.run_id)
        event_id, conversation_id = event.event_id, event.conversation_id
    item = queue.of_event(conn, event_id, conversation_id)
    # One that had to wait is kept whole; of another the run's own record of what it was told is all there is.
    envelope = said(item) if item is not None else _told(conn, run, name)
    lost: list[str] = []
    if has_mark(envelope.model_dump_json()):
        lost.append("a secret was recorded as a mark; write it in again")
    envelope = _with_raw(conn, envelope, lost, now)
    return PastEvent(_with_bytes(conn, envelope, lost, now), tuple(lost))


def _told(conn: Connection, run: RunRow | None, name: str) -> EventEnvelope:
    found = journal.page(conn, run.run_id, limit=1) if run is not None else []
    if run is None or not found or found[0].type != "run.started":
        raise NotFound(f"{name} never began as a run, so its input is not known.")
    context = AgentRunContext.model_validate(orjson.loads(found[0].data)["context"])
    return envelope_of(context, run)


def _with_raw(conn: Connection, envelope: EventEnvelope, lost: list[str], now: int) -> EventEnvelope:
    """Data that was too large to hand on, back in its place."""
    if envelope.raw_ref is None or envelope.data:
        return envelope
    content = _content(conn, envelope.raw_ref, envelope.event_id, now)
    if content is None:
        lost.append("its data was too large to hand on, and is gone")
        return envelope
    return envelope.model_copy(update={"raw_ref": None, "data": orjson.loads(content)})


def _with_bytes(conn: Connection, envelope: EventEnvelope, lost: list[str], now: int) -> EventEnvelope:
    """Attachments with their content, which the record of the run has not."""
    attachments: list[Attachment] = []
    for attachment in envelope.input.attachments:
        if attachment.content is not None or attachment.url or attachment.id:
            attachments.append(attachment)
        elif (content := _content(conn, attachment.artifact_id, envelope.event_id, now)) is not None:
            encoded = base64.b64encode(content).decode()
            attachments.append(attachment.model_copy(update={"content": encoded}))
        else:
            lost.append(f"attachment {attachment.name or attachment.artifact_id!r:.80} is not kept any more")
    contents = [part for part in envelope.input.contents if not (part.model_extra or {}).get(MARK)]
    if len(contents) < len(envelope.input.contents):
        lost.append("a picture or file inside the message was not kept")
    given = envelope.input.model_copy(update={"attachments": attachments, "contents": contents})
    return envelope.model_copy(update={"input": given})


def _content(conn: Connection, artifact_id: str, event_id: str, now: int) -> bytes | None:
    """The bytes that came with this event; another's artifact of the same id is not meant."""
    try:
        row = artifacts.get(conn, artifact_id, now=now)
        if row.storage != Storage.BLOB or row.metadata.get(EVENT) != event_id or (row.size_bytes or 0) > LONGEST_READ:
            return None
        return artifacts.read_range(conn, artifact_id, 0, LONGEST_READ, now=now)
    except NotFound:
        return None
