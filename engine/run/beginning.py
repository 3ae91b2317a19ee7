"""What a run begins with: the line it answers, its artifacts, and what the facts say at that moment."""

from typing import Any

from engine.facts import artifacts, cursors, event_log, runs, state, transcript
from engine.facts.artifacts import ArtifactRow, Storage
from engine.facts.batch import Transaction
from engine.facts.errors import ArtifactTaken
from engine.facts.transcript import Line
from engine.intake.attachments import content_of
from engine.intake.envelope import EventEnvelope
from engine.protocol.content import Attachment
from engine.run.context import Beginning
from engine.run.marks import Marks
from engine.run.order import RunOrder


def begin(tx: Transaction, order: RunOrder, *, now: int) -> Beginning:
    """Turn a created run into a running one."""
    envelope = order.envelope
    deadline_at = None if order.timeout is None else now + int(order.timeout * 1_000_000)
    runs.start(tx.connection, order.run_id, at=now, deadline_at=deadline_at)
    event = event_log.get(tx.connection, envelope.event_id)
    _store_raw(tx, order, now)
    warnings: list[str] = []
    for attachment in envelope.input.attachments:
        try:
            _store(tx, order, attachment, now)
        except ArtifactTaken:
            warnings.append(f"attachment {attachment.artifact_id!r:.80} was left out: its artifact id is taken")
    before = None
    if envelope.conversation_id is not None:
        before = transcript.latest_seq(tx.connection, order.place, before_line=user_line_of(order.run_id))
    return Beginning(
        event_seq=event.seq,
        transcript_seq=before,
        latest_cursor=None if before is None else cursors.history(order.place, before + 1),
        state=_state(tx, order),
        deadline_at=deadline_at,
        warnings=tuple(warnings),
    )


def user_line_of(run_id: str) -> str:
    """The id of the line that a run answers. It is written with the run's creation: what was said is never lost."""
    return f"{run_id}:user"


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


def _state(tx: Transaction, order: RunOrder) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {
        scope: state.all_of(tx.connection, identity.key) for scope, identity in order.grants.state_scopes.items()
    }
    if "conversation" in found:
        found["conversation"].setdefault(state.EXTERNAL, order.envelope.conversation_id)
    return found


def _store(tx: Transaction, order: RunOrder, attachment: Attachment, now: int) -> None:
    """An attachment as an artifact: a blob if it has content, else its url, else a reference, else metadata only."""
    envelope = order.envelope
    content = content_of(attachment)
    if content is not None:
        storage, location = Storage.BLOB, None
    elif attachment.url:
        storage, location = Storage.URL, attachment.url
    elif attachment.id:
        storage, location = Storage.PLATFORM, attachment.id
    else:
        storage, location = Storage.METADATA, None
    artifacts.register(
        tx.connection,
        ArtifactRow(
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
            run_id=order.run_id,
            runner_id=order.binding.runner_id,
            created_at=now,
            location=location,
            metadata={},
        ),
        content,
    )


def _store_raw(tx: Transaction, order: RunOrder, now: int) -> None:
    """A raw payload that is too large for `data` is an artifact behind `raw_ref`."""
    envelope = order.envelope
    if order.raw is None or envelope.raw_ref is None:
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
        run_id=order.run_id,
        runner_id=order.binding.runner_id,
        created_at=now,
    )
    artifacts.register(tx.connection, row, order.raw)
