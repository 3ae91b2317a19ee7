"""What a run's results do to the facts. Everything here runs inside the writer, in the order of the journal."""

import base64
import binascii
import hashlib
from collections.abc import Callable
from typing import Any, Final, cast

from sqlalchemy.exc import DBAPIError

from engine.clock import Clock, Ids
from engine.facts import artifacts, event_log, state, transcript
from engine.facts.artifacts import ArtifactRow, Storage
from engine.facts.batch import Transaction
from engine.facts.errors import ArtifactTaken, StateRefused
from engine.facts.event_log import EventRow
from engine.facts.journal import Entry
from engine.facts.state import Change
from engine.facts.transcript import Line
from engine.protocol.content import text_of
from engine.run.normalise import Outcome
from engine.run.order import RunOrder

INLINE_LIMIT: Final = 1024 * 1024
Operation = Callable[[Transaction], None]


class Effects:
    """Makes one operation per result; each records its own entry, so that entry and effect are one decision."""

    def __init__(self, order: RunOrder, clock: Clock, ids: Ids) -> None:
        self._order = order
        self._clock = clock
        self._ids = ids
        self._pending: list[str] = []
        """Artifacts made since the last assistant line. Touched by the writer's thread only."""

    def message(self, entry: Entry, message: dict[str, Any]) -> Operation:
        """An assistant line, referring to the artifacts made since the last one."""
        transcript_id = self._ids.new("line")

        def write(tx: Transaction) -> None:
            self.line(tx, transcript_id, message, {}, entry.at)
            tx.record(entry)

        return self._kept(entry, write)

    def line(
        self, tx: Transaction, transcript_id: str, message: dict[str, Any], metadata: dict[str, Any], at: int
    ) -> None:
        """Write an assistant line now. Without a conversation there is no transcript."""
        references, self._pending = _merged(self._pending, message.get("artifact_refs")), []
        envelope, marks = self._order.envelope, self._order.marks
        if envelope.conversation_id is None:
            return
        transcript.append(
            tx.connection,
            Line(
                transcript_id=transcript_id,
                event_id=envelope.event_id,
                run_id=self._order.run_id,
                conversation_id=envelope.conversation_id,
                thread_id=envelope.thread_id,
                bot_id=envelope.bot_id,
                workspace_id=envelope.workspace_id,
                role="assistant",
                item_type="message",
                content=marks.cover_words(text_of(message.get("content"), " ")),
                content_json=marks.cover_value(message),
                artifact_refs=references,
                created_at=at,
                metadata=metadata,
            ),
        )

    def artifact(self, entry: Entry, payload: dict[str, Any]) -> Operation:
        """An artifact of the runner's; what cannot be stored is dropped, and the run goes on."""
        artifact_id: str = payload.get("artifact_id") or self._ids.new("art")
        event_id = self._ids.new("evt")

        def write(tx: Transaction) -> None:
            content, problem = _inline(payload)
            if problem is None:
                try:
                    artifacts.register(tx.connection, self._artifact_row(artifact_id, payload, content, entry), content)
                except ArtifactTaken:
                    problem = f"artifact id {artifact_id!r:.80} is taken"
            if problem is not None:
                self._drop(tx, entry, problem)
                return
            self._pending.append(artifact_id)
            self._audit(tx, event_id, "artifact.created", entry.at, {"artifact_id": artifact_id})
            tx.record(entry)

        return self._kept(entry, write)

    def state(self, entry: Entry, payload: dict[str, Any]) -> Operation:
        """One value in a scope that policy and event allow."""
        grants = self._order.grants
        scope, key = cast(str, payload["scope"]), cast(str, payload["key"])
        identity = grants.state_scopes.get(scope)

        def write(tx: Transaction) -> None:
            if identity is None:
                self._drop(tx, entry, grants.scopes_off[scope])
                return
            try:
                state.checked(key, payload["value"])
            except StateRefused as refusal:
                self._drop(tx, entry, str(refusal))
                return
            row = tx.record(entry)
            change = Change(editor="runner", at=entry.at, run_id=entry.run_id, position=entry.position, journal_row=row)
            state.put(tx.connection, identity, key, payload["value"], change)

        return self._kept(entry, write)

    def _kept(self, entry: Entry, write: Operation) -> Operation:
        """An effect that cannot be had takes nothing with it: its entry is recorded, and says why."""

        def attempt(tx: Transaction) -> None:
            error = tx.attempt(write)
            if error is not None:
                cause = error.orig if isinstance(error, DBAPIError) else error
                self._drop(tx, entry, f"could not be applied: {cause}"[:500])

        return attempt

    def _drop(self, tx: Transaction, entry: Entry, reason: str) -> None:
        tx.record(entry._replace(outcome=Outcome.DROPPED, reason=self._order.marks.cover_words(reason)))

    def _artifact_row(
        self, artifact_id: str, payload: dict[str, Any], content: bytes | None, entry: Entry
    ) -> ArtifactRow:
        envelope = self._order.envelope
        return ArtifactRow(
            artifact_id=artifact_id,
            artifact_type=payload["artifact_type"],
            storage=Storage.METADATA if content is None else Storage.BLOB,
            mime_type=payload.get("mime_type"),
            name=payload.get("name"),
            size_bytes=payload.get("size_bytes"),
            sha256=payload.get("sha256"),
            source="runner",
            conversation_id=envelope.conversation_id,
            thread_id=envelope.thread_id,
            bot_id=envelope.bot_id,
            workspace_id=envelope.workspace_id,
            run_id=self._order.run_id,
            runner_id=self._order.binding.runner_id,
            created_at=entry.at,
            metadata=payload.get("metadata") or {},
        )

    def _audit(self, tx: Transaction, event_id: str, kind: str, at: int, metadata: dict[str, Any]) -> None:
        envelope = self._order.envelope
        event_log.append(
            tx.connection,
            EventRow(
                event_id=event_id,
                event_type=kind,
                source="runner",
                bot_id=envelope.bot_id,
                workspace_id=envelope.workspace_id,
                conversation_id=envelope.conversation_id,
                thread_id=envelope.thread_id,
                run_id=self._order.run_id,
                created_at=at,
                metadata=metadata,
            ),
        )


def _inline(payload: dict[str, Any]) -> tuple[bytes | None, str | None]:
    """The inline content, or why it cannot be taken."""
    encoded = payload.get("content_base64")
    if encoded is None:
        return None, None
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None, "content_base64 is not base64"
    if len(content) > INLINE_LIMIT:
        return None, f"{len(content)} bytes inline are more than an artifact may have ({INLINE_LIMIT})"
    claimed = payload.get("sha256")
    if claimed is not None and str(claimed).lower() != hashlib.sha256(content).hexdigest():
        return None, "sha256 is not that of the content"
    return content, None


def _merged(pending: list[str], own: object) -> list[str]:
    """Artifact ids made before the message and named by it, each once."""
    named: list[str] = []
    for reference in cast("list[object]", own) if isinstance(own, list) else []:
        ident = cast("dict[str, object]", reference).get("artifact_id") if isinstance(reference, dict) else reference
        if isinstance(ident, str):
            named.append(ident)
    return list(dict.fromkeys([*pending, *named]))
