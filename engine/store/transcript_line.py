"""The dataclass of a transcript line, used by the table and by the search index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLine:
    """One message. `content` is the text for search and lists, `content_json` the complete message."""

    transcript_id: str
    conversation_id: str
    role: str
    created_at: int
    item_type: str = "message"
    event_id: str | None = None
    run_id: str | None = None
    thread_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    content: str | None = None
    content_json: Any = None
    artifact_refs: Sequence[Any] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seq: int = 0
    """The sequence number in the transcript; assigned by `append`."""
