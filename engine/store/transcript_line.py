"""The dataclass of a transcript line, used by the table and by the search index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

ORIGINAL: Final = "original"
"""Key in the metadata of a user's line with a secret: the message in clear, for runners only."""


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


def as_shown(line: TranscriptLine) -> TranscriptLine:
    """Return the line as a user may see it, without the original of a masked text."""
    if ORIGINAL not in line.metadata:
        return line
    return replace(line, metadata={name: value for name, value in line.metadata.items() if name != ORIGINAL})
