"""Things in a list that a person chooses from; the row of each is made when it is seen."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from console.model.columns import cells, cut
from console.model.inspect.sheet import GLYPH, MARGIN, Row
from console.model.piece import Piece

T = TypeVar("T")
_LEAST: Final = 12
"""Columns of what a row is about, whatever marks it has."""


class Item(NamedTuple):
    """One thing: what names it, how it looks in so many columns, and the thing itself."""

    id: str
    make: Callable[[int], Row]
    thing: object = None
    is_heading: bool = False
    """It says what follows; there is nothing to be done with it."""


class Shelf:
    """A source of rows, one for each thing."""

    def __init__(self, items: Sequence[Item] = ()) -> None:
        self._items = items
        self._width = 80

    @property
    def height(self) -> int:
        return len(self._items)

    def item(self, index: int) -> Item:
        return self._items[index]

    def place_of(self, item_id: str) -> int | None:
        """Where a thing stands; nothing where it is not there."""
        return next((place for place, item in enumerate(self._items) if item.id == item_id), None)

    def fit(self, width: int) -> None:
        self._width = width

    def row(self, index: int) -> Row:
        return self.item(index).make(self._width)

    def toggle(self, index: int) -> int:
        return index

    def copied(self, index: int) -> str:
        return self.item(index).id

    def path_at(self, index: int) -> str:  # noqa: ARG002  (a thing has none)
        return ""

    def find(self, text: str, after: int = -1) -> int | None:  # noqa: ARG002  (whoever searches reads anew)
        return None


class LongShelf(Shelf, Generic[T]):
    """One whose things are many: an item is made when it is asked for, and who keeps the things knows their places."""

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


def heading(words: str, remark: str = "") -> Row:
    """A row above others."""
    return Row([Piece(words, "heading")], right=Piece(remark, "faint") if remark else None)


def row(
    width: int,
    pieces: Sequence[Piece],
    right: str = "",
    *,
    marks: Sequence[Piece] = (),
    indent: int = 0,
    is_open: bool | None = None,
) -> Row:
    """A row whose marks and remark at the right are always seen: the pieces are cut where they meet them."""
    room = width - MARGIN - indent - (GLYPH if is_open is not None else 0) - (cells(right) + 2 if right else 0)
    shown = _fitted(pieces, max(min(room, _LEAST), room - _cells(marks)))
    shown += _fitted(marks, room - _cells(shown))
    return Row(shown, indent, is_open, right=Piece(right, "faint") if right else None)


def _fitted(pieces: Sequence[Piece], room: int) -> list[Piece]:
    """As many of them as there is room for, the last one cut."""
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
