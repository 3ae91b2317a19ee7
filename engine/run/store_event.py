"""Stores what comes with an event: its line in the transcript, its attachments and its raw data."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.events import Source
from engine.intake.attachments import decode_content, find_root, is_file_reference
from engine.intake.envelope import EventEnvelope
from engine.journal.secret_mask import SecretMask
from engine.protocol.content import Attachment
from engine.store import artifacts, transcript
from engine.store.artifacts import MASKED_RANGES, ArtifactRow, Storage
from engine.store.batch import Transaction
from engine.store.errors import ArtifactTaken, NotFound, PathEscapes
from engine.store.transcript import TranscriptLine

RAW_EVENT: Final = "raw_event"
"""The type of an artifact that holds event data."""
EVENT_ID_KEY: Final = "event_id"
"""Key in an artifact's metadata: the event that it came with."""


def write_user_line(tx: Transaction, shown: EventEnvelope, *, run_id: str | None, line_id: str, at: int) -> None:
    """Write a message, with its secrets masked, to the transcript.

    Does nothing for other events, or without a conversation.
    """
    if shown.conversation_id is None or not shown.is_message:
        return
    transcript.append(
        tx.connection,
        TranscriptLine(
            transcript_id=line_id,
            event_id=shown.event_id,
            run_id=run_id,
            conversation_id=shown.conversation_id,
            thread_id=shown.thread_id,
            bot_id=shown.bot_id,
            workspace_id=shown.workspace_id,
            role="user",
            item_type="message",
            content=shown.input.to_text(),
            content_json=shown.input.model_dump(mode="json", exclude_none=True),
            artifact_refs=[attachment.artifact_id for attachment in shown.input.attachments],
            created_at=at,
            metadata={},
        ),
    )


def store_attachments(
    tx: Transaction,
    envelope: EventEnvelope,
    mask: SecretMask,
    *,
    run_id: str,
    runner_id: str,
    at: int,
    roots: tuple[Path, ...],
    lifetimes: Mapping[str, int],
) -> tuple[str, ...]:
    """Store each attachment as an artifact of the run. Returns a warning for each that cannot be stored.

    The bytes are stored as they came; names, types and addresses with their secrets masked.
    """
    warnings: list[str] = []
    for attachment in envelope.input.attachments:
        content = decode_content(attachment)
        row = _artifact_row(attachment, content, envelope, run_id, runner_id, at)
        row = replace(row, expires_at=artifacts.expiry(at, lifetimes.get(row.artifact_type)))
        row = mask_artifact(row, content, mask)
        if is_file_reference(attachment):
            root = find_root(attachment, roots)
            row = replace(row, storage=Storage.FILE, location=attachment.id, root=None if root is None else str(root))
        try:
            artifacts.register(tx.connection, row, content)
        except (NotFound, PathEscapes):
            warnings.append(f"attachment {attachment.artifact_id!r:.80} was left out: its file no longer exists")
        except ArtifactTaken:
            if _belongs_to(tx, attachment.artifact_id, envelope):
                continue  # stored when the event was first offered to a run
            warnings.append(f"attachment {attachment.artifact_id!r:.80} was left out: its artifact id is already used")
    return tuple(warnings)


def mask_artifact(row: ArtifactRow, content: bytes | None, mask: SecretMask) -> ArtifactRow:
    """Return the row of an artifact as it may be listed, with the secrets in its texts masked.

    The bytes are stored in clear; the metadata notes where the secrets in them are.
    """
    texts = ("artifact_type", "mime_type", "name", "sha256", "location")
    masked = {name: mask.cover_value(getattr(row, name)) for name in texts}
    ranges = mask.ranges_in(content) if content else []
    metadata = {name: value for name, value in row.metadata.items() if name != MASKED_RANGES}
    noted = {MASKED_RANGES: ranges} if ranges else {}
    return replace(row, **masked, metadata={**mask.cover_value(metadata), **noted})


def store_raw(
    tx: Transaction,
    envelope: EventEnvelope,
    raw: bytes | None,
    *,
    run_id: str,
    runner_id: str,
    at: int,
    lifetimes: Mapping[str, int],
) -> None:
    """Store event data that is too large for `data` as the artifact `raw_ref`."""
    if raw is None or envelope.raw_ref is None:
        return
    row = ArtifactRow(
        artifact_id=envelope.raw_ref,
        artifact_type=RAW_EVENT,
        storage=Storage.BLOB,
        mime_type="application/json",
        source=Source.HOST,
        conversation_id=envelope.conversation_id,
        thread_id=envelope.thread_id,
        bot_id=envelope.bot_id,
        workspace_id=envelope.workspace_id,
        run_id=run_id,
        runner_id=runner_id,
        created_at=at,
        expires_at=artifacts.expiry(at, lifetimes.get(RAW_EVENT)),
        metadata={EVENT_ID_KEY: envelope.event_id},
    )
    try:
        artifacts.register(tx.connection, row, raw)
    except ArtifactTaken:
        if not _belongs_to(
            tx, envelope.raw_ref, envelope
        ):  # otherwise it was stored when the event was first offered to a run
            raise


def _artifact_row(
    attachment: Attachment, content: bytes | None, envelope: EventEnvelope, run_id: str, runner_id: str, at: int
) -> ArtifactRow:
    """Return the row of an attachment: a blob if it has content, else its URL, else a reference, else metadata."""
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
        metadata={EVENT_ID_KEY: envelope.event_id},
    )


def _belongs_to(tx: Transaction, artifact_id: str, envelope: EventEnvelope) -> bool:
    try:
        return artifacts.get(tx.connection, artifact_id, now=0).metadata.get(EVENT_ID_KEY) == envelope.event_id
    except NotFound:
        return False
