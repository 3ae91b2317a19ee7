"""What the tabs have in common: a tab turns facts into rows, and remembers what was folded."""

from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar

from console.model.glyphs import Glyphs
from console.model.inspect.facts import Facts
from console.model.inspect.folds import Folds
from console.model.inspect.sheet import Source, Stack, Text
from console.model.piece import Piece
from console.model.safe import one_line
from console.widgets.inspector.row_list import View

F = TypeVar("F", bound=Facts)


class Tab(Generic[F]):
    """One tab. It is no widget: they all share one list."""

    id: ClassVar[str]
    name: ClassVar[str]
    short: ClassVar[str]
    empty: ClassVar[str]
    """What to do, where there is nothing to show."""
    follows: ClassVar[bool] = False
    """New rows at the end are followed, while one is there."""
    needs_entry: ClassVar[bool] = False
    """It shows one entry: where none is chosen, the last."""
    hears: ClassVar[tuple[str, ...]] = ()
    """How the kinds of entries begin that change what it shows of a run at work."""

    def __init__(self) -> None:
        self.folds = Folds()
        self.facts: F | None = None
        self.view: View | None = None
        self.glyphs = Glyphs()

    def is_touched(self, kinds: Iterable[str], position: int | None) -> bool:
        """Whether entries of these kinds change what it shows; as of an entry nothing does."""
        return position is None and any(kind.startswith(self.hears) for kind in kinds)

    def show(self, facts: F) -> None:
        """Take in what was read; the cursor stays where it was."""
        moved = self.facts is None or (facts.run_id, facts.position) != (self.facts.run_id, self.facts.position)
        self.facts = facts
        self._fill(self.rows(facts), from_the_top=moved and self.needs_entry)

    def show_words(self, words: str) -> None:
        """Say something in place of rows."""
        self.facts = None
        self._fill(Stack([Text(Piece(one_line(words, 500), "faint"))]), from_the_top=True)

    def use(self, glyphs: Glyphs) -> None:
        """Show the same with other glyphs."""
        self.glyphs = glyphs
        self.again()

    def again(self) -> None:
        """Make the rows anew from what is known."""
        if self.facts is not None:
            self._fill(self.rows(self.facts), from_the_top=False)

    def rows(self, facts: F) -> Source:
        raise NotImplementedError

    def _fill(self, source: Source, *, from_the_top: bool) -> None:
        old = self.view
        if old is None or from_the_top:
            self.view = View(source, cursor=_END if self.follows else 0)
        else:
            at_end = self.follows and old.cursor >= old.source.height - 1
            self.view = View(source, _END if at_end else old.cursor, old.top)


_END = 2**31
"""A row beyond all others; whoever shows the view comes back to the last."""


def heading(text: str, remark: str = "") -> Text:
    """A title between rows."""
    return Text(Piece(one_line(text, 60), "heading"), right=Piece(remark, "faint") if remark else None, wraps=False)
