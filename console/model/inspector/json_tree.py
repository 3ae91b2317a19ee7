"""A JSON value as a tree of foldable lines; lines are built only when they are shown."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from console.model.commands.key_labels import key_of
from console.model.inspector.json_values import (
    find_paths,
    has_children,
    json_text,
    keys_of,
    kind_of,
    one_line_json,
    path_text,
    scalar_text,
    size_words,
)
from console.model.text.columns import broken, cells, cut
from console.model.text.folds import Folds, Key, Path
from console.model.text.lists import FOLD_COLUMNS, MARGIN_COLUMNS, Row
from console.model.text.piece import Piece
from console.model.text.safe import one_line, safe


class Branch:
    """An unfolded container or text. Lines are found by bisecting the unfolded children."""

    __slots__ = ("_below", "_places", "_starts", "depth", "height", "key_width", "keys", "path", "texts", "value")

    def __init__(self, value: Any, path: Path, keys: Sequence[Key], texts: Sequence[str] | None = None) -> None:
        self.value = value
        self.path = path
        self.depth = len(path)
        self.keys = keys
        self.texts = texts
        """The rows of an unfolded text; empty for a container."""
        self.key_width = 0
        self.height = self.count
        """The number of lines, including those of unfolded children."""
        self._places: list[int] = []
        self._below: list[Branch] = []
        self._starts: list[int] = []

    @property
    def count(self) -> int:
        """The number of its own lines."""
        return len(self.keys) if self.texts is None else len(self.texts)

    def locate(self, row: int) -> tuple[int, "Branch | None", int]:
        """The child of a row; if the row is inside it, also its branch and the row there."""
        at = bisect_right(self._starts, row) - 1
        if at < 0:
            return row, None, 0
        inside = row - self._starts[at] - 1
        if inside < 0:
            return self._places[at], None, 0
        below = self._below[at]
        if inside < below.height:
            return self._places[at], below, inside
        return self._places[at] + 1 + inside - below.height, None, 0

    def row_of(self, place: int) -> int:
        """The row of a child's own line."""
        at = bisect_left(self._places, place)
        if not at:
            return place
        last = at - 1
        return self._starts[last] + self._below[last].height + place - self._places[last]

    def below(self, place: int) -> "Branch | None":
        """The unfolded branch of a child, or None."""
        at = bisect_left(self._places, place)
        return self._below[at] if at < len(self._places) and self._places[at] == place else None

    def open(self, place: int, branch: "Branch") -> None:
        at = bisect_left(self._places, place)
        self._places.insert(at, place)
        self._below.insert(at, branch)
        self.recount()

    def close(self, place: int) -> None:
        at = bisect_left(self._places, place)
        del self._places[at], self._below[at]
        self.recount()

    def recount(self) -> None:
        """Count the lines again after folding or unfolding."""
        self._starts.clear()
        extra = 0
        for place, branch in zip(self._places, self._below, strict=True):
            self._starts.append(place + extra)
            extra += branch.height
        self.height = self.count + extra


UNFOLDED_LEVELS: Final = 2
"""Levels that are unfolded at first."""
MAX_UNFOLDED_LINES: Final = 200
"""Lines up to which containers and texts are unfolded at first."""
MAX_TEXT_CHARS: Final = 32 * 1024
"""Characters of one unfolded text that are shown; a copy contains all of it."""
_MAX_UNFOLDED_CHARS: Final = 1_200
"""Longer text is folded at first."""
_MIN_PROSE_CHARS: Final = 60
"""Shorter text is taken for an id or a name: if it does not fit, it is cut and not unfolded."""
_MAX_KEY_COLUMNS: Final = 20
_MAX_MEASURED_KEYS: Final = 100
_ROOT_KEY: Final = ""
"""The key of the root value."""


class Line(NamedTuple):
    """One line of the tree."""

    path: Path
    depth: int
    key: str
    text: str
    kind: str
    """`object`, `array`, `string`, `number`, `word`; `text` for a row of an unfolded text."""
    is_open: bool
    is_container: bool
    """Whether it folds: a non-empty container, or text that is too long for its line."""
    size: int
    """Children of a container, characters of a text."""


class Tree:
    """The lines of one value. `root` is the path of its fold states, `start` the beginning of copied paths."""

    def __init__(
        self, value: Any, folds: Folds | None = None, *, root: Path = (), start: str = "$", indent: int = 0
    ) -> None:
        self._is_bare = not has_children(value)
        self._value: Any = {_ROOT_KEY: value} if self._is_bare else value
        self._folds = folds or Folds()
        self._root = root
        self._start = start
        self._indent = indent
        self._width = 80
        self._defaults = Folds()
        self._trunk: Branch | None = None

    # Lines

    @property
    def height(self) -> int:
        return self._branch.height

    def fit(self, width: int) -> None:
        """Set the width."""
        if width != self._width:
            self._width, self._trunk = width, None

    def line(self, index: int) -> Line:
        branch, place = self._at(index)
        if branch.texts is not None:
            return Line(self._shown(branch.path), branch.depth, "", branch.texts[place], "text", False, False, 0)
        key = branch.keys[place]
        value = branch.value[key]
        is_open = branch.below(place) is not None
        shown = one_line(str(key), 40)
        room = self._room(branch, key)
        path = self._shown((*branch.path, key))
        folds = _is_foldable(value, room)
        text = self._text(value, room, is_open=is_open)
        return Line(path, branch.depth, shown, text, kind_of(value), is_open, folds, _size(value))

    def row(self, index: int) -> Row:
        """The row of a line."""
        branch, _ = self._at(index)
        line = self.line(index)
        indent = self._indent + 2 * line.depth
        if line.kind == "text":
            return Row([Piece(line.text, "text")], indent + FOLD_COLUMNS)
        pieces = [Piece(line.text, line.kind)]
        if not self._is_bare:
            key = cut(line.key, _MAX_KEY_COLUMNS)
            pad = "" if line.is_open else " " * (self._key_width(branch) - cells(key))
            pieces.insert(0, Piece(f"{key}{pad}  ", "index" if isinstance(branch.value, list) else "key"))
        if line.is_container:
            return Row(pieces, indent, is_open=line.is_open)
        return Row(pieces, indent + FOLD_COLUMNS)

    # Folding

    def toggle(self, index: int) -> int:
        """Fold or unfold a line, or the text that it belongs to. Returns the line of the folded value."""
        branch, place = self._at(index)
        path = branch.path if branch.texts is not None else (*branch.path, branch.keys[place])
        row = self._row_of(path)
        if self.line(row).is_container:
            self._put(path, is_open=not self.line(row).is_open)
        return row

    def _put(self, path: Path, *, is_open: bool) -> None:
        chain = self._chain(path[:-1])
        place = _place(chain[-1], path[-1])
        self._folds.put((*self._root, *path), is_open=is_open)
        if is_open and chain[-1].below(place) is None:
            chain[-1].open(place, self._child_branch(chain[-1], place))
        elif not is_open and chain[-1].below(place) is not None:
            chain[-1].close(place)
        for branch in reversed(chain):
            branch.recount()

    # Copying and finding

    def path_at(self, index: int) -> str:
        """The path of a line in JSONPath notation."""
        return path_text(self.line(index).path, self._start)

    def copied(self, index: int) -> str:
        """The text that a copy of a line contains: its value as JSON, or the text of an unfolded text."""
        line = self.line(index)
        value = self.value_of(line.path)
        return value if line.kind == "text" else json_text(value)

    def value_of(self, path: Path) -> Any:
        value = self._value[_ROOT_KEY] if self._is_bare else self._value
        for key in path:
            value = value[key]
        return value

    def find(self, text: str, after: int = -1) -> int | None:
        """The next line whose key or value contains a text; unfolds the tree up to it."""
        wanted = text.lower()
        start: Path = ()
        if after >= 0:
            branch, place = self._at(after)
            start = branch.path if branch.texts is not None else (*branch.path, branch.keys[place])
        found = next(find_paths(self._value, start, wanted), None)
        return None if found is None else self._reveal(found, wanted)

    def _reveal(self, path: Path, wanted: str) -> int:
        for length in range(1, len(path)):
            if not self._is_open(path[:length]):
                self._put(path[:length], is_open=True)
        row = self._row_of(path)
        if self.line(row).kind != "string" or not self.line(row).is_container:
            return row
        if not self.line(row).is_open:
            self._put(path, is_open=True)
        texts = self._chain(path)[-1].texts or ()
        return next((row + 1 + place for place, each in enumerate(texts) if wanted in each.lower()), row)

    # Private

    @property
    def _branch(self) -> Branch:
        if self._trunk is None:
            self._trunk = self._new_branch(self._value, ())
            self._defaults = Folds()
            self._unfold_first_levels(self._trunk)
        return self._trunk

    def _at(self, row: int) -> tuple[Branch, int]:
        branch = self._branch
        while True:
            place, below, inside = branch.locate(row)
            if below is None:
                return branch, place
            branch, row = below, inside

    def _shown(self, path: Path) -> Path:
        return () if self._is_bare else path

    def _chain(self, path: Path) -> list[Branch]:
        """The unfolded branches down to an unfolded path."""
        chain = [self._branch]
        for key in path:
            below = chain[-1].below(_place(chain[-1], key))
            if below is None:
                raise KeyError(path)
            chain.append(below)
        return chain

    def _is_open(self, path: Path) -> bool:
        try:
            self._chain(path)
        except KeyError:
            return False
        return True

    def _row_of(self, path: Path) -> int:
        row = -1
        for branch, key in zip(self._chain(path[:-1]), path, strict=True):
            row += 1 + branch.row_of(_place(branch, key))
        return row

    def _new_branch(self, value: Any, path: Path) -> Branch:
        """An unfolded branch, with the children that are unfolded."""
        if isinstance(value, str):
            return Branch(
                value,
                path,
                (),
                _rows(value, self._width - self._indent - 2 * len(path) - FOLD_COLUMNS - MARGIN_COLUMNS),
            )
        keys = keys_of(value)
        branch = Branch(value, path, keys)
        widths = [cells(one_line(str(key), _MAX_KEY_COLUMNS)) for key in islice(keys, _MAX_MEASURED_KEYS)]
        branch.key_width = min(_MAX_KEY_COLUMNS, max(widths))
        opened = {*self._folds.opened_below((*self._root, *path)), *self._defaults.opened_below(path)}
        for key in opened:
            place = _place(branch, key)
            is_foldable = place >= 0 and _is_foldable(branch.value[key], self._room(branch, key))
            if is_foldable and self._folds.is_open((*self._root, *path, key), default=True):
                branch.open(place, self._child_branch(branch, place))
        return branch

    def _child_branch(self, branch: Branch, place: int) -> Branch:
        key = branch.keys[place]
        return self._new_branch(branch.value[key], (*branch.path, key))

    def _unfold_first_levels(self, trunk: Branch) -> None:
        """Unfold children level by level, within the limit of lines."""
        level = [(trunk,)]
        for _ in range(UNFOLDED_LEVELS):
            below: list[tuple[Branch, ...]] = []
            for chain in level:
                branch = chain[-1]
                for place in range(min(branch.count, MAX_UNFOLDED_LINES) if branch.texts is None else 0):
                    if branch.below(place) is None and self._unfolds_at_first(branch, place, trunk.height):
                        self._defaults.put((*branch.path, branch.keys[place]), is_open=True)
                        branch.open(place, self._child_branch(branch, place))
                        for above in reversed(chain):
                            above.recount()
                    opened = branch.below(place)
                    if opened is not None:
                        below.append((*chain, opened))
            level = below

    def _unfolds_at_first(self, branch: Branch, place: int, height: int) -> bool:
        key = branch.keys[place]
        value = branch.value[key]
        room = self._room(branch, key)
        if self._folds.has((*self._root, *branch.path, key)) or not _is_foldable(value, room):
            return False
        if isinstance(value, str):
            is_prose = len(value) > _MIN_PROSE_CHARS or "\n" in value
            return (
                is_prose
                and len(value) <= _MAX_UNFOLDED_CHARS
                and height + len(value) // max(8, room) + 1 <= MAX_UNFOLDED_LINES
            )
        return one_line_json(value, room) is None and height + len(value) <= MAX_UNFOLDED_LINES

    def _key_width(self, branch: Branch) -> int:
        """The shared key width of a branch; a wider key takes more."""
        return min(branch.key_width, self._width // 3)

    def _room(self, branch: Branch, key: Key) -> int:
        """Columns for a value beside its key."""
        taken = self._indent + 2 * branch.depth + FOLD_COLUMNS + MARGIN_COLUMNS
        if not self._is_bare:
            taken += 2 + max(self._key_width(branch), cells(cut(one_line(str(key), 40), _MAX_KEY_COLUMNS)))
        return max(10, self._width - taken)

    def _text(self, value: Any, room: int, *, is_open: bool) -> str:
        if isinstance(value, str) and is_open:
            return f"{len(value):,} characters"
        if has_children(value):
            return size_words(value) if is_open else one_line_json(value, room) or size_words(value)
        return scalar_text(value, room)


def _is_foldable(value: Any, room: int) -> bool:
    if isinstance(value, str):
        return len(value) + 2 > room or "\n" in value
    return has_children(value)


def _size(value: object) -> int:
    return len(value) if isinstance(value, str) or has_children(value) else 0


def _place(branch: Branch, key: Key) -> int:
    """The index of a key in its branch, or -1."""
    if isinstance(branch.value, list):
        return key if isinstance(key, int) and 0 <= key < branch.count else -1
    return branch.keys.index(key) if key in branch.value else -1


def _rows(text: str, width: int) -> list[str]:
    rows = [row for line in safe(text[:MAX_TEXT_CHARS]).expandtabs(4).split("\n") for row in broken(line, width)]
    if len(text) > MAX_TEXT_CHARS:
        rows.append(f"… {len(text) - MAX_TEXT_CHARS:,} more characters; {key_of('inspector.copy')} copies all of them")
    return rows
