"""What a run would be granted with a form as it stands, each with the clause behind it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from console.model.inspector.grants import permission_groups
from console.model.text.lists import Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line


def preview(snapshot: Mapping[str, Any], warnings: Sequence[str] = ()) -> Stack:
    """The grants that an order has, as rows."""
    return Stack(list(_parts(snapshot, warnings)))


def refused(words: str) -> Stack:
    """Why there would be no run at all."""
    return Stack([Text(Piece("No run could begin:", "bad")), Text(Piece(one_line(words, 800), "text"), indent=1)])


def _parts(snapshot: Mapping[str, Any], warnings: Sequence[str]) -> Iterator[Source]:
    for words in warnings:
        yield Text(Piece("⚠ ", "warn"), Piece(one_line(words, 400), "warn"))
    # What a form changes comes first; most calls are the manifest's alone.
    for title, rows in sorted(permission_groups(snapshot), key=lambda section: section[0] == "Calls"):
        yield Text(Piece(title, "heading"))
        for row in rows:
            yield Text(
                Piece("✓ " if row.allowed else "✗ ", "good" if row.allowed else "bad"),
                Piece(f"{one_line(row.name, 60)}  ", "strong"),
                Piece(one_line(row.words, 60), "text"),
                below=Piece(one_line(row.clause, 300), "faint"),
                indent=1,
            )
