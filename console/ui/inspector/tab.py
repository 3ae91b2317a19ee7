"""The base of the tabs: turns data into rows and remembers what is folded."""

from collections.abc import Iterable
from typing import ClassVar, Final, Generic, TypeVar

from console.model.inspector.data import InspectorData
from console.model.text.folds import Folds
from console.model.text.lists import Source, Stack, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.ui.shared.list import View
from engine.events import EntryKind

F = TypeVar("F", bound=InspectorData)

RUN_KINDS: Final = (
    EntryKind.RUN_STARTED, EntryKind.RUN_COMPLETED, EntryKind.RUN_FAILED, EntryKind.RUN_FINISHED,
)  # fmt: skip
RESULT_KINDS: Final = (
    EntryKind.MESSAGE_DELTA, EntryKind.MESSAGE_COMPLETED, EntryKind.TOOL_CALL_STARTED, EntryKind.TOOL_CALL_COMPLETED,
)  # fmt: skip
"""Kinds that may be the first result after a delivered message."""


class Tab(Generic[F]):
    """One tab. It is not a widget: all tabs share one list."""

    id: ClassVar[str]
    name: ClassVar[str]
    short: ClassVar[str]
    empty: ClassVar[str]
    """Shown while there is no data."""
    follows: ClassVar[bool] = False
    """Whether the list follows new rows while the cursor is at the end."""
    needs_entry: ClassVar[bool] = False
    """Whether the tab shows one entry: the last one if the user chose none."""
    updated_by: ClassVar[tuple[str, ...]] = ()
    """Kinds of entries after which the tab needs new data."""

    def __init__(self) -> None:
        self.folds = Folds()
        self.facts: F | None = None
        self.view: View | None = None

    def is_touched(self, kinds: Iterable[str], position: int | None) -> bool:
        """Whether entries of these kinds change the tab; as of a chosen entry none does."""
        return position is None and any(kind in self.updated_by for kind in kinds)

    def show(self, facts: F) -> None:
        """Show data; the cursor stays."""
        moved = self.facts is None or (facts.run_id, facts.position) != (self.facts.run_id, self.facts.position)
        self.facts = facts
        self._fill(self.rows(facts), from_the_top=moved and self.needs_entry)

    def show_words(self, words: str) -> None:
        """Show a text in place of rows."""
        self.facts = None
        self._fill(Stack([Text(Piece(one_line(words, 500), "faint"))]), from_the_top=True)

    def again(self) -> None:
        """Build the rows again from the current data."""
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
"""A row behind all others; the list moves it to the last row."""


def heading(text: str, remark: str = "") -> Text:
    """A heading row."""
    return Text(Piece(one_line(text, 60), "heading"), right=Piece(remark, "faint") if remark else None, wraps=False)
