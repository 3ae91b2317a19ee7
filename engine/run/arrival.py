"""What an event leaves in the facts besides its row in the log: what was said, what was attached, what was raw."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.facts import artifacts, transcript
from engine.facts.artifacts import ArtifactRow, Storage
from engine.facts.batch import Transaction
from engine.facts.errors import ArtifactTaken, NotFound, PathEscapes
from engine.facts.transcript import Line
from engine.intake.attachments import content_of, is_in_file, root_of
from engine.intake.envelope import EventEnvelope
from engine.protocol.content import Attachment
from engine.run.marks import Marks

EVENT: Final = "event_id"
"""In an artifact's metadata: the event that it came with."""


def write_user_line(
    tx: Transaction, envelope: EventEnvelope, marks: Marks, *, run_id: str | None, line_id: str, at: int
) -> None:
    """What a person said, as a line of the conversation; no conversation and no message, no line."""
    if envelope.conversation_id is None or not envelope.is_message:
        return
    transcript.append(
        tx.connection,
        Line(
            transcript_id=line_id,
            event_id=envelope.event_id,
            run_id=run_id,
            conversation_id=envelope.conversation_id,
            thread_id=envelope.thread_id,
            bot_id=envelope.bot_id,
            workspace_id=envelope.workspace_id,
            role="user",
            item_type="message",
            content=marks.cover_words(envelope.input.to_text()),
            content_json=marks.cover_value(envelope.input.model_dump(mode="json", exclude_none=True)),
            artifact_refs=[attachment.artifact_id for attachment in envelope.input.attachments],
            created_at=at,
            metadata={},
        ),
    )


def store_attachments(
    tx: Transaction, envelope: EventEnvelope, *, run_id: str, runner_id: str, at: int, roots: tuple[Path, ...]
) -> tuple[str, ...]:
    """Make each attachment an artifact of the run that gets the event; gives a warning for each that cannot be."""
    warnings: list[str] = []
    for attachment in envelope.input.attachments:
        content = content_of(attachment)
        row = _artifact(attachment, content, envelope, run_id, runner_id, at)
        if is_in_file(attachment):
            root = root_of(attachment, roots)
            row = replace(row, storage=Storage.FILE, location=attachment.id, root=None if root is None else str(root))
        try:
            artifacts.register(tx.connection, row, content)
        except (NotFound, PathEscapes):
            warnings.append(f"attachment {attachment.artifact_id!r:.80} was left out: its file is not there any more")
        except ArtifactTaken:
            if _is_of(tx, attachment.artifact_id, envelope):
                continue  # it was kept when the event was first offered to a run
            warnings.append(f"attachment {attachment.artifact_id!r:.80} was left out: its artifact id is taken")
    return tuple(warnings)


def store_raw(
    tx: Transaction, envelope: EventEnvelope, raw: bytes | None, *, run_id: str, runner_id: str, at: int
) -> None:
    """A raw payload that is too large for `data` is an artifact behind `raw_ref`."""
    if raw is None or envelope.raw_ref is None:
        return
    row = ArtifactRow(
        artifact_id=envelope.raw_ref,
        artifact_type="raw_event",
        storage=Storage.BLOB,
        mime_type="application/json",
        source="host",
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        run_id=run_id,
        runner_id=runner_id,
        created_at=at,
        metadata={EVENT: envelope.event_id},
    )
    try:
        artifacts.register(tx.connection, row, raw)
    except ArtifactTaken:
        if not _is_of(tx, envelope.raw_ref, envelope):  # else it was kept when the event was first offered to a run
            raise


def _artifact(
    attachment: Attachment, content: bytes | None, envelope: EventEnvelope, run_id: str, runner_id: str, at: int
) -> ArtifactRow:
    """A blob if it has content, else its url, else a reference, else metadata only."""
    if content is not None:
        storage, location = Storage.BLOB, None
    elif attachment.url:
        storage, location = Storage.URL, attachment.url
    elif attachment.id:
        storage, location = Storage.PLATFORM, attachment.id
    else:
        storage, location = Storage.METADATA, None
    return ArtifactRow(
        artifact_id=attachment.artifact_id,
        artifact_type=attachment.artifact_type,
        storage=storage,
        mime_type=attachment.mime_type,
        name=attachment.name,
        size_bytes=attachment.size,
        source=attachment.source,
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        run_id=run_id,
        runner_id=runner_id,
        created_at=at,
        location=location,
        metadata={EVENT: envelope.event_id},
    )


def _is_of(tx: Transaction, artifact_id: str, envelope: EventEnvelope) -> bool:
    try:
        return artifacts.get(tx.connection, artifact_id, now=0).metadata.get(EVENT) == envelope.event_id
    except NotFound:
        return False
