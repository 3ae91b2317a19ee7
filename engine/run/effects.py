"""Effects of results on the store: messages, artifacts and state. They run in the writer, in journal order."""

import base64
import binascii
import hashlib
from collections.abc import Callable
from typing import Any, Final, cast

from sqlalchemy.exc import DBAPIError

from engine.clock import Clock, Ids
from engine.events import EntryKind, Outcome, Source
from engine.protocol.content import text_of
from engine.run.run_order import RunOrder
from engine.run.store_event import mask_artifact
from engine.store import artifacts, event_log, state, transcript
from engine.store.artifacts import ArtifactRow, Storage
from engine.store.batch import Transaction
from engine.store.entries import Entry
from engine.store.errors import ArtifactTaken, StateRefused
from engine.store.event_log import EventRow
from engine.store.state import ChangeOrigin
from engine.store.transcript import TranscriptLine

MAX_INLINE_BYTES: Final = 1024 * 1024
"""The most content of an artifact that a result may carry."""
MAX_REFERENCES: Final = 10_000
"""Artifacts of one message that it refers to without naming them."""
EXPIRES_IN: Final = "expires_in_seconds"
"""Key in the metadata of a runner's artifact: the seconds after which it expires."""
Operation = Callable[[Transaction], None]


class Effects:
    """Builds one operation for each result. It records the entry too, so that entry and effect are one decision."""

    def __init__(self, order: RunOrder, clock: Clock, ids: Ids) -> None:
        self._order = order
        self._clock = clock
        self._ids = ids
        self._new_artifacts: list[str] = []
        """Artifacts created since the last assistant message. Used by the writer's thread only."""

    def message(self, entry: Entry, message: dict[str, Any]) -> Operation:
        """Write an assistant message to the transcript, with references to the artifacts created since the last one."""
        transcript_id = self._ids.new("line")

        def write(tx: Transaction) -> None:
            self.write_line(tx, transcript_id, message, {}, entry.at)
            tx.record(entry)

        return self._or_drop(entry, write)

    def write_line(
        self, tx: Transaction, transcript_id: str, message: dict[str, Any], metadata: dict[str, Any], at: int
    ) -> None:
        """Inside the writer: write an assistant line. An event without a conversation has no transcript."""
        references, self._new_artifacts = _merge_references(self._new_artifacts, message.get("artifact_refs")), []
        envelope, mask = self._order.envelope, self._order.secret_mask
        if envelope.conversation_id is None:
            return
        transcript.append(
            tx.connection,
            TranscriptLine(
                transcript_id=transcript_id,
                event_id=envelope.event_id,
                run_id=self._order.run_id,
                conversation_id=envelope.conversation_id,
                thread_id=envelope.thread_id,
                bot_id=envelope.bot_id,
                workspace_id=envelope.workspace_id,
                role="assistant",
                item_type="message",
                content=mask.cover_words(text_of(message.get("content"), " ")),
                content_json=mask.cover_value(message),
                artifact_refs=references,
                created_at=at,
                metadata=metadata,
            ),
        )

    def new_artifact_id(self) -> str:
        """Return an id for an artifact to which the runner gave none."""
        return self._ids.new("art")

    def artifact(self, entry: Entry, payload: dict[str, Any]) -> Operation:
        """Store an artifact of the runner. If it cannot be stored, the result is dropped and the run goes on."""
        artifact_id: str = payload["artifact_id"]
        event_id = self._ids.new("evt")

        def write(tx: Transaction) -> None:
            content, problem = _inline(payload)
            if (secret := self._order.secret_mask.secret_in_name(artifact_id)) is not None:
                problem = f"the artifact id contains the secret {secret}; use an id without it"
            if problem is None:
                row = self._artifact_row(artifact_id, payload, content, entry)
                try:
                    artifacts.register(tx.connection, mask_artifact(row, content, self._order.secret_mask), content)
                except ArtifactTaken:
                    problem = f"artifact id {artifact_id!r:.80} is already used"
            if problem is not None:
                self._drop(tx, entry, problem)
                return
            if len(self._new_artifacts) < MAX_REFERENCES:
                self._new_artifacts.append(artifact_id)
            self._log_event(tx, event_id, EntryKind.ARTIFACT_CREATED, entry.at, {"artifact_id": artifact_id})
            if entry.outcome is None and (warning := _lifetime_warning(payload)) is not None:
                tx.record(entry._replace(outcome=Outcome.WARNED, reason=warning))
            else:
                tx.record(entry)

        return self._or_drop(entry, write)

    def state(self, entry: Entry, payload: dict[str, Any]) -> Operation:
        """Set one value of a state scope, if the binding's policy and the event allow it."""
        grants = self._order.grants
        scope, key = cast(str, payload["scope"]), cast(str, payload["key"])
        identity, mask = grants.state_scopes.get(scope), self._order.secret_mask
        value, limits, masked = payload["value"], self._order.state_limits, mask.masked_json(payload["value"])

        def write(tx: Transaction) -> None:
            if identity is None:
                self._drop(tx, entry, grants.scopes_off[scope])
                return
            try:
                state.checked(key, value)
                state.refuse_secret(mask.secret_in_name(key))
            except StateRefused as refusal:
                self._drop(tx, entry, str(refusal))
                return
            row = tx.record(entry)
            change = ChangeOrigin(
                editor="runner", at=entry.at, run_id=entry.run_id, position=entry.position, journal_row=row
            )
            state.put(tx.connection, identity, key, value, change, limits, masked=masked)

        return self._or_drop(entry, write)

    def _or_drop(self, entry: Entry, write: Operation) -> Operation:
        """Return an operation that records the entry as dropped, with the reason, if the effect fails."""

        def attempt(tx: Transaction) -> None:
            error = tx.attempt(write)
            if error is not None:
                cause = error.orig if isinstance(error, DBAPIError) else error
                self._drop(tx, entry, f"could not be applied: {cause}"[:500])

        return attempt

    def _drop(self, tx: Transaction, entry: Entry, reason: str) -> None:
        tx.record(entry._replace(outcome=Outcome.DROPPED, reason=self._order.secret_mask.cover_words(reason)))

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
            source=Source.RUNNER,
            conversation_id=envelope.conversation_id,
            thread_id=envelope.thread_id,
            bot_id=envelope.bot_id,
            workspace_id=envelope.workspace_id,
            run_id=self._order.run_id,
            runner_id=self._order.binding.runner_id,
            created_at=entry.at,
            expires_at=artifacts.expiry(
                entry.at, self._order.artifact_lifetimes.get(payload["artifact_type"]), _own_lifetime(payload)
            ),
            metadata=payload.get("metadata") or {},
        )

    def _log_event(self, tx: Transaction, event_id: str, kind: str, at: int, metadata: dict[str, Any]) -> None:
        envelope = self._order.envelope
        event_log.append(
            tx.connection,
            EventRow(
                event_id=event_id,
                event_type=kind,
                source=Source.RUNNER,
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
    """Return the inline content, or why it cannot be used."""
    encoded = payload.get("content_base64")
    if encoded is None:
        return None, None
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None, "content_base64 is not valid base64"
    if len(content) > MAX_INLINE_BYTES:
        return None, f"{len(content)} bytes exceed the limit of inline content ({MAX_INLINE_BYTES})"
    claimed = payload.get("sha256")
    if claimed is not None and str(claimed).lower() != hashlib.sha256(content).hexdigest():
        return None, "sha256 does not match the content"
    return content, None


def _own_lifetime(payload: dict[str, Any]) -> float | None:
    """Return the seconds after which the runner wants its artifact to expire, if it says so in a usable way."""
    metadata: dict[str, Any] = payload.get("metadata") or {}
    seconds: object = metadata.get(EXPIRES_IN)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
        return None
    return float(seconds)


def _lifetime_warning(payload: dict[str, Any]) -> str | None:
    if EXPIRES_IN not in (payload.get("metadata") or {}) or _own_lifetime(payload) is not None:
        return None
    return f"metadata.{EXPIRES_IN} is not a positive number, so it was ignored"


def _merge_references(new: list[str], own: object) -> list[str]:
    """Return the ids of artifacts created before a message and of those that the message names, each once."""
    named: list[str] = []
    for reference in cast("list[object]", own) if isinstance(own, list) else []:
        ident = cast("dict[str, object]", reference).get("artifact_id") if isinstance(reference, dict) else reference
        if isinstance(ident, str):
            named.append(ident)
    return list(dict.fromkeys([*new, *named]))
