"""The host's replies: pages, records and reads."""

from typing import Any

from pydantic import Field

from engine.protocol.base import Model, Seconds
from engine.protocol.content import RunnerInput
from engine.protocol.event import ActorContext, ConversationContext, EventContext, SubjectContext


class Page(Model):
    """One page. Cursors are opaque and belong to one call and one conversation."""

    next_cursor: str | None = None
    """Set only if there is more."""
    prev_cursor: str | None = None
    """The cursor of the first item."""
    has_more: bool = False
    total_count: int | None = None


class ArtifactReference(Model):
    """An artifact that a line refers to. Only its id is known if this run cannot read it, or not any more."""

    artifact_id: str
    artifact_type: str = "unknown"
    mime_type: str | None = None
    name: str | None = None
    size_bytes: int | None = None


class TranscriptItem(Model):
    """One line of the conversation."""

    transcript_id: str
    event_id: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    role: str
    item_type: str = "message"
    content: str | None = None
    content_json: Any = None
    artifact_refs: list[ArtifactReference] = Field(default_factory=list[ArtifactReference])
    """Empty unless requested."""
    seq: int | None = None
    cursor: str | None = None
    created_at: Seconds | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class HistoryPage(Page):
    """Lines of the conversation, newest first unless the page is forward."""

    items: list[TranscriptItem] = Field(default_factory=list[TranscriptItem])


class SearchResult(Model):
    """Lines that match the search, newest first."""

    items: list[TranscriptItem] = Field(default_factory=list[TranscriptItem])
    total_count: int | None = None
    query: str


class EventRecord(Model):
    """One event of the log, without its raw payload."""

    event_id: str
    event_type: str
    event_time: Seconds | None = None
    source: str
    bot_id: str | None = None
    workspace_id: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    actor_type: str | None = None
    actor_id: str | None = None
    actor_name: str | None = None
    subject_type: str | None = None
    subject_id: str | None = None
    input_summary: str | None = None
    input_ref: str | None = None
    raw_ref: str | None = None
    seq: int | None = None
    cursor: str | None = None
    created_at: Seconds | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class EventPage(Page):
    """Events of the conversation, newest first."""

    items: list[EventRecord] = Field(default_factory=list[EventRecord])


class SteeringItem(Model):
    """A message that was sent to the run while it was in progress."""

    claimed_run_id: str
    runner_id: str
    claimed_at: Seconds | None = None
    event: EventContext
    input: RunnerInput
    conversation: ConversationContext | None = None
    actor: ActorContext | None = None
    subject: SubjectContext | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class SteeringPull(Model):
    """The pulled messages, in the order in which they were sent."""

    items: list[SteeringItem] = Field(default_factory=list[SteeringItem])


class ArtifactMetadata(Model):
    """Metadata of an artifact, without its location."""

    artifact_id: str
    artifact_type: str
    mime_type: str | None = None
    name: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    source: str | None = None
    conversation_id: str | None = None
    run_id: str | None = None
    runner_id: str | None = None
    created_at: Seconds | None = None
    expires_at: Seconds | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class ArtifactRead(Model):
    """A range of an artifact; without content, but with its key, if the host does not hold it."""

    artifact_id: str
    mime_type: str | None = None
    size_bytes: int | None = None
    offset: int = 0
    length: int = 0
    content_base64: str | None = None
    file_key: str | None = None
    has_more: bool = False


class KeyPage(Model):
    """The keys of a scope or a storage, sorted."""

    keys: list[str] = Field(default_factory=list)
    has_more: bool = False


class RunRecord(Model):
    """The run as the ledger has it."""

    run_id: str
    event_id: str | None = None
    agent_id: str | None = None
    binding_id: str | None = None
    runner_id: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    status: str
    status_reason: str | None = None
    created_at: Seconds | None = None
    started_at: Seconds | None = None
    finished_at: Seconds | None = None
    updated_at: Seconds | None = None
    deadline_at: float | None = None
    cancel_requested_at: Seconds | None = None
    """Set as soon as a stop was requested."""
    usage: dict[str, Any] | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class ListedRun(RunRecord):
    """A run in a page of runs."""

    cursor: str | None = None


class RunPage(Page):
    """Runs of the same runner in the same conversation, newest first."""

    items: list[ListedRun] = Field(default_factory=list[ListedRun])


class RunEvent(Model):
    """One entry of the run's journal."""

    run_id: str
    position: int
    at: Seconds | None = None
    source: str
    type: str
    data: Any = None
    outcome: str | None = None
    reason: str | None = None
    sequence: int | None = None
    cursor: str | None = None


class RunEventPage(Page):
    """Entries of the run's own journal, oldest first unless the page is backward."""

    items: list[RunEvent] = Field(default_factory=list[RunEvent])
