"""Changes of the state as rows."""

from collections.abc import Callable, Iterable, Iterator

from console.model.inspect.changes import MARKS, Change, inner
from console.model.inspect.folds import Folds
from console.model.inspect.glance import json_text, path_text, short
from console.model.inspect.sheet import Group, Source, Stack, Text
from console.model.piece import Piece
from console.model.safe import one_line
from console.model.words import number

_LONGEST = 60


def change_rows(changes: Iterable[Change], folds: Folds) -> Iterator[Source]:
    """A row each; where both values are containers, it opens to what differs inside."""
    for change in changes:
        name = one_line(f"{change.scope} {change.key}", 80)
        parts = inner(change.before, change.after) if change.kind == "changed" else ()
        told = (
            [Piece(number(len(parts), "change"), "faint")]
            if parts
            else _became(change.kind, change.before, change.after)
        )
        head = Text(
            Piece(f"{MARKS[change.kind]} ", change.kind),
            Piece(f"{name}  ", "key"),
            *told,
            right=Piece(one_line(change.who, 60), "faint") if change.who else None,
            hang=2,
            copy=_both(change.before, change.after),
        )
        if not parts:
            yield head
            continue
        rows = [
            Text(
                Piece(f"{MARKS[part.kind]} ", part.kind),
                Piece(f"{one_line(path_text(part.path), 80)}  ", "key"),
                *_became(part.kind, part.before, part.after),
                indent=4,
                copy=_both(part.before, part.after),
            )
            for part in parts
        ]
        path = ("changed", change.scope, change.key)
        yield Group(head, lambda rows=rows: Stack(rows), folds=folds, path=path, is_open=len(rows) <= 8)


def _both(before: object, after: object) -> Callable[[], str]:
    return lambda: json_text({"before": before, "after": after})


def _became(kind: str, before: object, after: object) -> Iterator[Piece]:
    match kind:
        case "added":
            yield Piece(short(after, _LONGEST), "added")
        case "removed":
            yield Piece(f"was {short(before, _LONGEST)}", "removed")
        case "again":
            yield Piece(f"{short(after, _LONGEST)}, the same again", "again")
        case _:
            yield Piece(short(before, _LONGEST), "removed")
            yield Piece(" → ", "faint")
            yield Piece(short(after, _LONGEST), "added")
