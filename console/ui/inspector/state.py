"""The State tab, and rows for state changes."""

from collections.abc import Callable, Iterable, Iterator

from console.model.inspector.data import ScopeData, StateData, StateKey
from console.model.inspector.json_tree import Tree
from console.model.inspector.json_values import has_children, json_text, kind_of, path_text, short_text
from console.model.inspector.state_diff import CHANGE_SIGNS, Change, inner_changes
from console.model.text.folds import Folds
from console.model.text.lists import Group, Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import number
from console.ui.inspector.tab import RUN_KINDS, Tab, heading
from engine.events import EntryKind

_LONGEST = 60


def change_rows(changes: Iterable[Change], folds: Folds) -> Iterator[Source]:
    """A row per change; if both values are containers, it unfolds to the differences inside."""
    for change in changes:
        name = one_line(f"{change.scope} {change.key}", 80)
        parts = inner_changes(change.before, change.after) if change.kind == "changed" else ()
        told = (
            [Piece(number(len(parts), "change"), "faint")]
            if parts
            else _became(change.kind, change.before, change.after)
        )
        head = Text(
            Piece(f"{CHANGE_SIGNS[change.kind]} ", change.kind),
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
                Piece(f"{CHANGE_SIGNS[part.kind]} ", part.kind),
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
            yield Piece(short_text(after, _LONGEST), "added")
        case "removed":
            yield Piece(f"was {short_text(before, _LONGEST)}", "removed")
        case "again":
            yield Piece(f"{short_text(after, _LONGEST)}, the same again", "again")
        case _:
            yield Piece(short_text(before, _LONGEST), "removed")
            yield Piece(" → ", "faint")
            yield Piece(short_text(after, _LONGEST), "added")


_ON_ITS_LINE = 60


class StateTab(Tab[StateData]):
    """The changes of this entry, then every scope with keys, values and writers."""

    id = "state"
    name = "State"
    short = "State"
    empty = "Send a message: the state of the run is shown here."
    updated_by = (EntryKind.STATE_UPDATED, EntryKind.CALL_REPLIED, *RUN_KINDS)

    def rows(self, facts: StateData) -> Source:
        parts: list[Source] = []
        if facts.position is not None:
            parts.append(heading("At this entry"))
            parts += change_rows(facts.changes, self.folds)
            if not facts.changes:
                parts.append(Text(Piece("No changes.", "faint")))
        for scope in facts.scopes:
            parts += self._scope(scope)
        if not facts.scopes:
            parts.append(Text(Piece("This run has no scopes.", "faint")))
        return Stack(parts)

    def _scope(self, scope: ScopeData) -> Iterator[Source]:
        if scope.off is not None:
            yield heading(scope.scope, "off")
            yield Text(Piece(one_line(scope.off), "faint"), indent=2)
            return
        yield heading(scope.scope, number(len(scope.keys), "key") if scope.keys else "empty")
        for kept in scope.keys:
            yield self._key(scope.scope, kept)

    def _key(self, scope: str, kept: StateKey) -> Source:
        name = path_text((kept.key,), scope)
        is_long = has_children(kept.value) or (isinstance(kept.value, str) and len(kept.value) + 2 > _ON_ITS_LINE)
        head = Text(
            Piece(f"{one_line(kept.key, 60)}  ", "key"),
            Piece(short_text(kept.value, _ON_ITS_LINE), kind_of(kept.value)),
            right=Piece(one_line(kept.who, 60), "faint"),
            indent=0 if is_long else 2,
            copy=lambda: json_text(kept.value),
        )
        if not is_long:
            return head
        return Group(
            head,
            lambda: Tree(kept.value, self.folds, root=("value", scope, kept.key), start=name, indent=2),
            folds=self.folds,
            path=("key", scope, kept.key),
            may_contain=lambda text: text.lower() in json_text(kept.value).lower(),
            name=name,
        )
