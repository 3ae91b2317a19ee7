"""The Context tab: context and permissions of a run."""

from collections.abc import Sequence

from console.model.inspector.data import ContextData, Permission
from console.model.inspector.json_tree import Tree
from console.model.text.glyphs import GLYPHS
from console.model.text.lists import Group, Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.ui.inspector.tab import Tab, heading
from engine.events import EntryKind


class ContextTab(Tab[ContextData]):
    """The grants by kind with their clauses, and the context as a tree."""

    id = "context"
    name = "Context"
    short = "Ctx"
    empty = "Send a message: the context and permissions of the run are shown here."
    updated_by = (EntryKind.RUN_STARTED,)

    def rows(self, facts: ContextData) -> Source:
        parts: list[Source] = [self._grants(title, rows) for title, rows in facts.grants]
        if facts.context is None:
            parts.append(Text(Piece("The run has no context yet.", "faint")))
            return Stack(parts)
        head = heading("Context", "what the runner was handed")
        tree = Tree(facts.context, self.folds, root=("context",), indent=2)
        parts.append(Group(head, lambda: tree, folds=self.folds, path=("part", "context"), is_open=True))
        return Stack(parts)

    def _grants(self, title: str, rows: Sequence[Permission]) -> Source:
        allowed = sum(row.allowed for row in rows)
        head = heading(title, f"{allowed} of {len(rows)} granted")
        return Group(
            head,
            lambda: Stack([self._grant(row) for row in rows]),
            folds=self.folds,
            path=("grants", title),
        )

    def _grant(self, row: Permission) -> Source:
        glyph = GLYPHS["completed" if row.allowed else "failed"]
        return Text(
            Piece(f"{glyph} ", "good" if row.allowed else "bad"),
            Piece(one_line(row.name, 80), "strong" if row.allowed else "text"),
            Piece(f"  {one_line(row.words, 120)}", "good" if row.allowed else "bad"),
            right=Piece(one_line(row.clause), "faint"),
            indent=2,
        )
