"""Sources of rows for lists: text, groups that fold, and items. Rows are built when they are shown."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from console.model.text.columns import cells, cut, wrapped
from console.model.text.folds import Folds, Path
from console.model.text.piece import Piece

MARGIN_COLUMNS: Final = 1
"""Columns before every row, for the cursor."""
FOLD_COLUMNS: Final = 2
"""Columns of the fold glyph."""


class Row(NamedTuple):
    """One row; it is cut if it is too long."""

    pieces: Sequence[Piece]
    indent: int = 0
    is_open: bool | None = None
    """None if it does not fold."""
    jump: int | None = None
    """The entry that enter opens."""
    right: Piece | None = None
    """Text at the right edge."""


class Source(Protocol):
    """A source of rows."""

    @property
    def height(self) -> int: ...

    def fit(self, width: int) -> None: ...

    def row(self, index: int) -> Row: ...

    def toggle(self, index: int) -> int:
        """Fold or unfold. Returns the row of the folded or unfolded item."""
        ...

    def copied(self, index: int) -> str:
        """The text that a copy of a row contains."""
        ...

    def path_at(self, index: int) -> str: ...

    def find(self, text: str, after: int = -1) -> int | None:
        """The next row after one that contains a text."""
        ...


class Text:
    """A wrapped paragraph or one cut line, with a remark beside or below it."""

    def __init__(
        self,
        *pieces: Piece,
        indent: int = 0,
        hang: int = 2,
        right: Piece | None = None,
        below: Piece | None = None,
        jump: int | None = None,
        copy: Callable[[], str] | None = None,
        wraps: bool = True,
    ) -> None:
        self._pieces = pieces
        self._indent = indent
        self._hang = hang
        self._right = right
        self._below = below
        """An indented paragraph below."""
        self._jump = jump
        self._copy = copy
        self._wraps = wraps
        self._rows: list[Row] = []
        self._width = 0

    @property
    def height(self) -> int:
        return len(self._rows)

    def fit(self, width: int) -> None:
        if width == self._width:
            return
        self._width = width
        room = width - self._indent - MARGIN_COLUMNS
        rows = wrapped(self._pieces, room, self._hang) if self._wraps else [self._pieces]
        self._rows = [Row(row, self._indent, jump=self._jump) for row in rows]
        right = self._right
        if right is not None and len(rows) == 1 and _width(rows[0]) + cells(right.text) + 2 <= room:
            self._rows[0] = self._rows[0]._replace(right=right)
            right = None
        under = [piece for piece in (right, self._below) if piece is not None]
        if len(under) == 2:
            under.insert(1, Piece(" · ", "faint"))
        if under:
            rows = wrapped(under, room - self._hang)
            self._rows += [Row(row, self._indent + self._hang, jump=self._jump) for row in rows]

    def row(self, index: int) -> Row:
        return self._rows[index]

    def toggle(self, index: int) -> int:
        return index

    def copied(self, index: int) -> str:  # noqa: ARG002  (every row has the same text)
        return self.plain if self._copy is None else self._copy()

    def path_at(self, index: int) -> str:  # noqa: ARG002
        return ""

    def find(self, text: str, after: int = -1) -> int | None:
        return 0 if after < 0 and text.lower() in self.plain.lower() else None

    @property
    def plain(self) -> str:
        """The whole text."""
        more = [piece.text for piece in (self._right, self._below) if piece is not None]
        return "  ".join(["".join(piece.text for piece in self._pieces).strip(), *more])


class Stack:
    """Several sources below each other."""

    def __init__(self, parts: Sequence[Source]) -> None:
        self._parts = parts
        self._ends: list[int] | None = None

    @property
    def height(self) -> int:
        return self._counted()[-1] if self._parts else 0

    def fit(self, width: int) -> None:
        for part in self._parts:
            part.fit(width)
        self._ends = None

    def row(self, index: int) -> Row:
        part, inside = self._at(index)
        return self._parts[part].row(inside)

    def toggle(self, index: int) -> int:
        part, inside = self._at(index)
        row = self._parts[part].toggle(inside)
        self._ends = None
        return self._start(part) + row

    def copied(self, index: int) -> str:
        part, inside = self._at(index)
        return self._parts[part].copied(inside)

    def path_at(self, index: int) -> str:
        part, inside = self._at(index)
        return self._parts[part].path_at(inside)

    def find(self, text: str, after: int = -1) -> int | None:
        first, inside = self._at(after) if 0 <= after < self.height else (0, -1)
        for part in range(first, len(self._parts)):
            found = self._parts[part].find(text, inside if part == first else -1)
            if found is not None:
                self._ends = None
                return self._start(part) + found
        return None

    def _at(self, index: int) -> tuple[int, int]:
        part = bisect_right(self._counted(), index)
        return part, index - self._start(part)

    def _start(self, part: int) -> int:
        return self._counted()[part - 1] if part else 0

    def _counted(self) -> list[int]:
        if self._ends is None:
            self._ends = list(accumulate(part.height for part in self._parts))
        return self._ends


class Group:
    """A foldable line; its content is built when it is shown."""

    def __init__(
        self,
        head: Text,
        body: Callable[[], Source],
        *,
        folds: Folds,
        path: Path,
        is_open: bool = False,
        may_contain: Callable[[str], bool] = lambda _: True,
        name: str = "",
    ) -> None:
        self._head = head
        self._make = body
        self._folds = folds
        self._path = path
        self._is_open_at_first = is_open
        self._may_contain = may_contain
        """Returns whether the content may contain a text; if not, a search does not build the content."""
        self._name = name
        self._width = 80
        self._body: Source | None = None

    @property
    def is_open(self) -> bool:
        return self._folds.is_open(self._path, default=self._is_open_at_first)

    @property
    def height(self) -> int:
        return self._head.height + (self._opened.height if self.is_open else 0)

    def fit(self, width: int) -> None:
        self._width = width
        self._head.fit(width - FOLD_COLUMNS)
        if self._body is not None:
            self._body.fit(width)

    def row(self, index: int) -> Row:
        if index >= self._head.height:
            return self._opened.row(index - self._head.height)
        row = self._head.row(index)
        return row._replace(is_open=self.is_open) if index == 0 else row._replace(indent=row.indent + FOLD_COLUMNS)

    def toggle(self, index: int) -> int:
        if index >= self._head.height:
            return self._head.height + self._opened.toggle(index - self._head.height)
        self._folds.put(self._path, is_open=not self.is_open)
        return 0

    def copied(self, index: int) -> str:
        if index >= self._head.height:
            return self._opened.copied(index - self._head.height)
        return self._head.copied(index)

    def path_at(self, index: int) -> str:
        if index >= self._head.height:
            return self._opened.path_at(index - self._head.height)
        return self._name

    def find(self, text: str, after: int = -1) -> int | None:
        above = self._head.height
        if after < 0 and (found := self._head.find(text)) is not None:
            return found
        if not self.is_open and not self._may_contain(text):
            return None
        found = self._opened.find(text, after - above if after >= above else -1)
        if found is None:
            return None
        self._folds.put(self._path, is_open=True)
        return above + found

    @property
    def _opened(self) -> Source:
        if self._body is None:
            self._body = self._make()
            self._body.fit(self._width)
        return self._body


def _width(pieces: Sequence[Piece]) -> int:
    return sum(cells(piece.text) for piece in pieces)


T = TypeVar("T")
_MIN_TEXT_COLUMNS: Final = 12
"""Minimum columns of the main text of a row."""


class Item(NamedTuple):
    """One item: its id, a function that draws it, and its value."""

    id: str
    make: Callable[[int], Row]
    thing: object = None
    is_heading: bool = False
    """A heading, which cannot be chosen."""


class ListItems:
    """A source with one row per item."""

    def __init__(self, items: Sequence[Item] = ()) -> None:
        self._items = items
        self._width = 80

    @property
    def height(self) -> int:
        return len(self._items)

    def item(self, index: int) -> Item:
        return self._items[index]

    def place_of(self, item_id: str) -> int | None:
        """The index of an item, or None."""
        return next((place for place, item in enumerate(self._items) if item.id == item_id), None)

    def fit(self, width: int) -> None:
        self._width = width

    def row(self, index: int) -> Row:
        return self.item(index).make(self._width)

    def toggle(self, index: int) -> int:
        return index

    def copied(self, index: int) -> str:
        return self.item(index).id

    def path_at(self, index: int) -> str:  # noqa: ARG002  (items have no path)
        return ""

    def find(self, text: str, after: int = -1) -> int | None:  # noqa: ARG002  (the browsers search in the database)
        return None


class LongListItems(ListItems, Generic[T]):
    """A source for many items: an item is built when it is needed."""

    def __init__(self, things: Sequence[T], item: Callable[[T], Item], place_of: Callable[[str], int | None]) -> None:
        super().__init__()
        self._things = things
        self._item = item
        self._place_of = place_of

    @property
    def height(self) -> int:
        return len(self._things)

    def item(self, index: int) -> Item:
        return self._item(self._things[index])

    def place_of(self, item_id: str) -> int | None:
        return self._place_of(item_id)


def heading(text: str, remark: str = "") -> Row:
    """Return a heading row."""
    return Row([Piece(text, "heading")], right=Piece(remark, "faint") if remark else None)


def row(
    width: int,
    pieces: Sequence[Piece],
    right: str = "",
    *,
    marks: Sequence[Piece] = (),
    indent: int = 0,
    is_open: bool | None = None,
) -> Row:
    """Return a row whose marks and right text are always visible; the other pieces are cut."""
    room = (
        width
        - MARGIN_COLUMNS
        - indent
        - (FOLD_COLUMNS if is_open is not None else 0)
        - (cells(right) + 2 if right else 0)
    )
    shown = _fitted(pieces, max(min(room, _MIN_TEXT_COLUMNS), room - _cells(marks)))
    shown += _fitted(marks, room - _cells(shown))
    return Row(shown, indent, is_open, right=Piece(right, "faint") if right else None)


def _fitted(pieces: Sequence[Piece], room: int) -> list[Piece]:
    """The pieces that fit, the last one cut."""
    shown: list[Piece] = []
    for piece in pieces:
        text = cut(piece.text, room)
        room -= cells(text)
        shown.append(piece._replace(text=text))
        if text != piece.text or room <= 0:
            break
    return shown


def _cells(pieces: Sequence[Piece]) -> int:
    return sum(cells(piece.text) for piece in pieces)
