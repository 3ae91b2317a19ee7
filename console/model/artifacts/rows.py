"""The row of an artifact in the list, and the facts about it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from console.model.text.lists import Row, row
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import ago, brief, duration, short_run, short_session, size

if TYPE_CHECKING:
    from engine.api import ArtifactRow

MAX_NAME_CHARS: Final = 200
TYPE_COLUMNS: Final = 44
"""The width of a row from which it shows the type."""
_MINUTE_US: Final = 60_000_000
_STORAGE_LABELS: Final = {
    "blob": "in the database",
    "file": "in a file",
    "url": "at a web address",
    "platform": "on its platform",
    "metadata": "nowhere; only its metadata is known",
}


def name_of(artifact: "ArtifactRow") -> str:
    return one_line(artifact.name or artifact.artifact_id, MAX_NAME_CHARS)


def artifact_row(artifact: "ArtifactRow", now: int, width: int) -> Row:
    """Name and expiry; at the right type, size and age."""
    kind = one_line(artifact.mime_type or artifact.artifact_type, 30)
    amount = "" if artifact.size_bytes is None else size(artifact.size_bytes)
    age = now - artifact.created_at
    pieces = [Piece(name_of(artifact), "strong")]
    if artifact.has_expired(now):
        pieces.append(Piece("  expired", "bad"))
    elif artifact.expires_at is not None:
        pieces.append(Piece(f"  {brief(artifact.expires_at - now)} left", "warn"))
    shown_age = brief(age) if age >= _MINUTE_US else "now"
    parts = (kind if width >= TYPE_COLUMNS else "", f"{amount:>8}", f"{shown_age:>4}")
    return row(width, pieces, "  ".join(filter(None, parts)))


def expiry(artifact: "ArtifactRow", now: int) -> str:
    """`never`, `in 3 h 4 min`, or `2 days ago; it can no longer be read`."""
    if artifact.expires_at is None:
        return "never"
    if artifact.has_expired(now):
        return f"{ago(now - artifact.expires_at)}; it can no longer be read"
    return f"in {duration(artifact.expires_at - now)}"


def artifact_facts(artifact: "ArtifactRow", now: int) -> Iterator[tuple[str, str]]:
    """Pairs of label and value."""
    yield "id", one_line(artifact.artifact_id, MAX_NAME_CHARS)
    yield "type", " · ".join(one_line(part, 80) for part in (artifact.artifact_type, artifact.mime_type) if part)
    if (count := artifact.size_bytes) is not None:
        yield "size", f"{size(count)} ({count:,} bytes)" if count >= 1024 else size(count)
    yield "stored", _STORAGE_LABELS.get(artifact.storage, one_line(artifact.storage, 40))
    if artifact.location and artifact.storage in ("url", "platform"):
        yield "location", one_line(artifact.location, MAX_NAME_CHARS)
    run = artifact.run_id and f"run {short_run(artifact.run_id)}"
    yield "source", " · ".join(filter(None, (one_line(artifact.source, 40), run)))
    if artifact.conversation_id:
        yield "session", short_session(artifact.conversation_id)
    yield "created", ago(now - artifact.created_at)
    yield "expires", expiry(artifact, now)
