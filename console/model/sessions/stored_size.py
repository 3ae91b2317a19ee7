"""The size of a session or of the database, as text and as figures."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from console.model.text.units import size

if TYPE_CHECKING:
    from engine.api import StoredSize

MAKE_ROOM: Final = "trackside prune --older-than 30d"
"""The command that a warning of a large database names."""


def total_text(stored: "StoredSize") -> str:
    """`41 KiB`, or `41 KiB, 12 KiB shared` if other sessions use some of it too."""
    shared = f", {size(stored.shared_bytes)} shared" if stored.shared_bytes else ""
    return f"{size(stored.total_bytes)}{shared}"


def pieces_text(stored: "StoredSize") -> str:
    """`journal 20 KiB, stored parts 4.0 KiB, search index about 3.1 KiB`; a piece of no bytes is left out."""
    pieces = (
        ("journal", stored.journal_bytes),
        ("artifacts", stored.artifact_bytes),
        ("stored parts", stored.part_bytes),
        ("transcript about", stored.transcript_bytes),
        ("search index about", stored.index_bytes),
    )
    return ", ".join(f"{name} {size(count)}" for name, count in pieces if count)


def size_text(stored: "StoredSize") -> str:
    """The total and its pieces."""
    pieces = pieces_text(stored)
    return f"{total_text(stored)} ({pieces})" if pieces else total_text(stored)


def size_figures(stored: "StoredSize") -> dict[str, int]:
    """The pieces and their total by name, in bytes."""
    return {**asdict(stored), "total_bytes": stored.total_bytes}
