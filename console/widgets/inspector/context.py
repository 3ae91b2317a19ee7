"""The tab of what a run was handed and what it may do."""

from collections.abc import Sequence

from console.model.inspect.facts import ContextFacts, Granted
from console.model.inspect.sheet import Group, Source, Stack, Text
from console.model.inspect.tree import Tree
from console.model.piece import Piece
from console.model.safe import one_line
from console.widgets.inspector.tab import Tab, heading


class ContextTab(Tab[ContextFacts]):
    """The grants by kind, each with the clause behind it, and the context as a tree."""

    id = "context"
    name = "Context"
    short = "Ctx"
    empty = "Send something: what the runner is handed, and what it may do, is shown here."
    hears = ("run.started",)

    def rows(self, facts: ContextFacts) -> Source:
        parts: list[Source] = [self._grants(title, rows) for title, rows in facts.grants]
        if facts.context is None:
            parts.append(Text(Piece("The run has no context yet.", "faint")))
            return Stack(parts)
        head = heading("Context", "what the runner was handed")
        tree = Tree(facts.context, self.folds, root=("context",), indent=2)
        parts.append(Group(head, lambda: tree, folds=self.folds, path=("part", "context"), is_open=True))
        return Stack(parts)

    def _grants(self, title: str, rows: Sequence[Granted]) -> Source:
        allowed = sum(row.allowed for row in rows)
        head = heading(title, f"{allowed} of {len(rows)} granted")
        return Group(
            head,
            lambda: Stack([self._grant(row) for row in rows]),
            folds=self.folds,
            path=("grants", title),
        )

    def _grant(self, row: Granted) -> Source:
        glyph = self.glyphs["completed" if row.allowed else "failed"]
        return Text(
            Piece(f"{glyph} ", "good" if row.allowed else "bad"),
            Piece(one_line(row.name, 80), "strong" if row.allowed else "text"),
            Piece(f"  {one_line(row.words, 120)}", "good" if row.allowed else "bad"),
            right=Piece(one_line(row.clause), "faint"),
            indent=2,
        )
