"""The tab of what a run remembers."""

from collections.abc import Iterator

from console.model.inspect.facts import Kept, ScopeFacts, StateFacts
from console.model.inspect.glance import holds_more, json_text, kind_of, path_text, short
from console.model.inspect.sheet import Group, Source, Stack, Text
from console.model.inspect.tree import Tree
from console.model.piece import Piece
from console.model.safe import one_line
from console.model.words import number
from console.widgets.inspector.differing import change_rows
from console.widgets.inspector.tab import Tab, heading

_ON_ITS_LINE = 60


class StateTab(Tab[StateFacts]):
    """What changed at this entry, then every scope: each key with its value and who wrote it."""

    id = "state"
    name = "State"
    short = "State"
    empty = "Send something: what the run remembers is shown here."
    hears = ("state.", "call.replied", "run.")

    def rows(self, facts: StateFacts) -> Source:
        parts: list[Source] = []
        if facts.position is not None:
            parts.append(heading("At this entry"))
            parts += change_rows(facts.changes, self.folds)
            if not facts.changes:
                parts.append(Text(Piece("Nothing changed.", "faint")))
        for scope in facts.scopes:
            parts += self._scope(scope)
        if not facts.scopes:
            parts.append(Text(Piece("This run has no scopes.", "faint")))
        return Stack(parts)

    def _scope(self, scope: ScopeFacts) -> Iterator[Source]:
        if scope.off is not None:
            yield heading(scope.scope, "off")
            yield Text(Piece(one_line(scope.off), "faint"), indent=2)
            return
        yield heading(scope.scope, number(len(scope.keys), "key") if scope.keys else "empty")
        for kept in scope.keys:
            yield self._key(scope.scope, kept)

    def _key(self, scope: str, kept: Kept) -> Source:
        name = path_text((kept.key,), scope)
        is_long = holds_more(kept.value) or (isinstance(kept.value, str) and len(kept.value) + 2 > _ON_ITS_LINE)
        head = Text(
            Piece(f"{one_line(kept.key, 60)}  ", "key"),
            Piece(short(kept.value, _ON_ITS_LINE), kind_of(kept.value)),
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
            may_hold=lambda text: text.lower() in json_text(kept.value).lower(),
            name=name,
        )
