"""What is known of an artifact, in words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from console.model.text.lists import Row, row
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import ago, brief, duration, short_run, size

if TYPE_CHECKING:
    from engine.api import ArtifactRow

_LONGEST: Final = 200
_MINUTE: Final = 60_000_000


def name_of(one: "ArtifactRow") -> str:
    return one_line(one.name or one.artifact_id, _LONGEST)


def list_row(one: "ArtifactRow", now: int, width: int) -> Row:
    """One line of the list: its name, what it is, how large, how old."""
    kind, amount = (
        one_line(one.mime_type or one.artifact_type, 30),
        "" if one.size_bytes is None else size(one.size_bytes),
    )
    age = now - one.created_at
    old = brief(age) if age >= _MINUTE else "now"
    told = [Piece(name_of(one), "strong")]
    if one.has_expired(now):
        told.append(Piece("  expired", "bad"))
    elif one.expires_at is not None:
        told.append(Piece(f"  {brief(one.expires_at - now)} left", "warn"))
    about = "  ".join(filter(None, (kind if width >= 44 else "", f"{amount:>8}", f"{old:>4}")))
    return row(width, told, about)


def expiry(one: "ArtifactRow", now: int) -> str:
    """`never`, `in 3 h 4 min`, `2 days ago: its content is gone`."""
    if one.expires_at is None:
        return "never"
    if one.has_expired(now):
        return f"{ago(now - one.expires_at)}: it can no longer be read"
    return f"in {duration(one.expires_at - now)}"


_STORED: Final = {
    "blob": "in the database",
    "file": "in a file",
    "url": "elsewhere, at an address",
    "platform": "on its platform",
    "metadata": "nowhere: only this is known of it",
}


def facts_of(one: "ArtifactRow", now: int) -> Iterator[tuple[str, str]]:
    """Each thing that is known, with its name."""
    yield "id", one_line(one.artifact_id, _LONGEST)
    yield "type", " · ".join(one_line(part, 80) for part in (one.artifact_type, one.mime_type) if part)
    if one.size_bytes is not None:
        yield (
            "size",
            f"{size(one.size_bytes)} ({one.size_bytes:,} bytes)" if one.size_bytes >= 1024 else size(one.size_bytes),
        )
    yield "kept", _STORED.get(one.storage, one_line(one.storage, 40))
    if one.location and one.storage in ("url", "platform"):
        yield "where", one_line(one.location, _LONGEST)
    yield "from", " · ".join(filter(None, (one_line(one.source, 40), one.run_id and f"run {short_run(one.run_id)}")))
    if one.conversation_id:
        yield "session", one_line(one.conversation_id, _LONGEST)
    yield "made", ago(now - one.created_at)
    yield "expires", expiry(one, now)
