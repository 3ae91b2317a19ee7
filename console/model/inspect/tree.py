"""A JSON value as lines that fold. A line is made when it is looked at: a megabyte costs what is on the screen."""

from itertools import islice
from typing import Any, Final, NamedTuple

from console.model.columns import broken, cells, cut
from console.model.commands.naming import key_of
from console.model.inspect.branches import Branch
from console.model.inspect.folds import Folds, Key, Path
from console.model.inspect.glance import extent, glance, holds_more, json_text, keys_of, kind_of, path_text, scalar
from console.model.inspect.seeking import matches
from console.model.inspect.sheet import GLYPH, MARGIN, Row
from console.model.piece import Piece
from console.model.safe import one_line, safe

OPEN_TO: Final = 2
"""Levels that are open where nobody decided."""
MOST_LINES: Final = 200
"""Beyond so many lines nothing more is opened by itself."""
LONGEST_TEXT: Final = 32 * 1024
"""Characters of one text that are shown when it is opened; a copy has all of it."""
_OPENED_TEXT: Final = 1_200
"""Longer text is not opened by itself."""
_PROSE: Final = 60
"""Shorter text is an id or a name rather than something to read; it is cut where it does not fit."""
_WIDEST_KEY: Final = 20
_KEYS_MEASURED: Final = 100
_ITSELF: Final = ""
"""The key of a value that is not in a container."""


class Line(NamedTuple):
    """One line."""

    path: Path
    depth: int
    key: str
    text: str
    kind: str
    """`object`, `array`, `string`, `number`, `word`; `text` for a row of an open text."""
    is_open: bool
    is_container: bool
    """It folds: an object or array with something in it, or text that is too long for its line."""
    size: int
    """Children of a container, characters of a text."""


class Tree:
    """Lines of one value. `root` is where its folds are kept, `start` what its paths begin with."""

    def __init__(
        self, value: Any, folds: Folds | None = None, *, root: Path = (), start: str = "$", indent: int = 0
    ) -> None:
        self._is_bare = not holds_more(value)
        self._value: Any = {_ITSELF: value} if self._is_bare else value
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
        """Make lines for this many columns."""
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
        folds = _folds(value, room)
        text = self._text(value, room, is_open=is_open)
        return Line(path, branch.depth, shown, text, kind_of(value), is_open, folds, _size(value))

    def row(self, index: int) -> Row:
        """A line in tones."""
        branch, _ = self._at(index)
        line = self.line(index)
        indent = self._indent + 2 * line.depth
        if line.kind == "text":
            return Row([Piece(line.text, "text")], indent + GLYPH)
        pieces = [Piece(line.text, line.kind)]
        if not self._is_bare:
            key = cut(line.key, _WIDEST_KEY)
            pad = "" if line.is_open else " " * (self._key_width(branch) - cells(key))
            pieces.insert(0, Piece(f"{key}{pad}  ", "index" if isinstance(branch.value, list) else "key"))
        if line.is_container:
            return Row(pieces, indent, is_open=line.is_open)
        return Row(pieces, indent + GLYPH)

    # Folding

    def toggle(self, index: int) -> int:
        """Fold or unfold a line, or the text that it is a row of; gives the line that it was done to."""
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
            chain[-1].open(place, self._grown(chain[-1], place))
        elif not is_open and chain[-1].below(place) is not None:
            chain[-1].close(place)
        for branch in reversed(chain):
            branch.settle()

    # Copying and finding

    def path_at(self, index: int) -> str:
        """The path of a line, as programs write it."""
        return path_text(self.line(index).path, self._start)

    def copied(self, index: int) -> str:
        """What is copied from a line: its value as JSON, from a row of an open text the text itself."""
        line = self.line(index)
        value = self.value_of(line.path)
        return value if line.kind == "text" else json_text(value)

    def value_of(self, path: Path) -> Any:
        value = self._value[_ITSELF] if self._is_bare else self._value
        for key in path:
            value = value[key]
        return value

    def find(self, text: str, after: int = -1) -> int | None:
        """The next line after one whose key or value holds the text; it is unfolded for that."""
        wanted = text.lower()
        start: Path = ()
        if after >= 0:
            branch, place = self._at(after)
            start = branch.path if branch.texts is not None else (*branch.path, branch.keys[place])
        found = next(matches(self._value, start, wanted), None)
        return None if found is None else self._revealed(found, wanted)

    def _revealed(self, path: Path, wanted: str) -> int:
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

    # Inside

    @property
    def _branch(self) -> Branch:
        if self._trunk is None:
            self._trunk = self._made(self._value, ())
            self._defaults = Folds()
            self._open_some(self._trunk)
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
        """The open branches down to a path, which is open."""
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

    def _made(self, value: Any, path: Path) -> Branch:
        """An open branch, and in it what a person or the first look had opened."""
        if isinstance(value, str):
            return Branch(value, path, (), _rows(value, self._width - self._indent - 2 * len(path) - GLYPH - MARGIN))
        keys = keys_of(value)
        branch = Branch(value, path, keys)
        widths = [cells(one_line(str(key), _WIDEST_KEY)) for key in islice(keys, _KEYS_MEASURED)]
        branch.key_width = min(_WIDEST_KEY, max(widths))
        opened = {*self._folds.opened_below((*self._root, *path)), *self._defaults.opened_below(path)}
        for key in opened:
            place = _place(branch, key)
            folds = place >= 0 and _folds(branch.value[key], self._room(branch, key))
            if folds and self._folds.is_open((*self._root, *path, key), otherwise=True):
                branch.open(place, self._grown(branch, place))
        return branch

    def _grown(self, branch: Branch, place: int) -> Branch:
        key = branch.keys[place]
        return self._made(branch.value[key], (*branch.path, key))

    def _open_some(self, trunk: Branch) -> None:
        """Level by level, what is worth it and does not make the whole too long."""
        level = [(trunk,)]
        for _ in range(OPEN_TO):
            below: list[tuple[Branch, ...]] = []
            for chain in level:
                branch = chain[-1]
                for place in range(min(branch.count, MOST_LINES) if branch.texts is None else 0):
                    if branch.below(place) is None and self._is_worth_it(branch, place, trunk.height):
                        self._defaults.put((*branch.path, branch.keys[place]), is_open=True)
                        branch.open(place, self._grown(branch, place))
                        for above in reversed(chain):
                            above.settle()
                    opened = branch.below(place)
                    if opened is not None:
                        below.append((*chain, opened))
            level = below

    def _is_worth_it(self, branch: Branch, place: int, height: int) -> bool:
        key = branch.keys[place]
        value = branch.value[key]
        room = self._room(branch, key)
        if self._folds.has((*self._root, *branch.path, key)) or not _folds(value, room):
            return False
        if isinstance(value, str):
            is_prose = len(value) > _PROSE or "\n" in value
            return is_prose and len(value) <= _OPENED_TEXT and height + len(value) // max(8, room) + 1 <= MOST_LINES
        return glance(value, room) is None and height + len(value) <= MOST_LINES

    def _key_width(self, branch: Branch) -> int:
        """Columns that the keys of a branch share; a key that is wider takes more for itself."""
        return min(branch.key_width, self._width // 3)

    def _room(self, branch: Branch, key: Key) -> int:
        """Columns for a value beside its key."""
        taken = self._indent + 2 * branch.depth + GLYPH + MARGIN
        if not self._is_bare:
            taken += 2 + max(self._key_width(branch), cells(cut(one_line(str(key), 40), _WIDEST_KEY)))
        return max(10, self._width - taken)

    def _text(self, value: Any, room: int, *, is_open: bool) -> str:
        if isinstance(value, str) and is_open:
            return f"{len(value):,} characters"
        if holds_more(value):
            return extent(value) if is_open else glance(value, room) or extent(value)
        return scalar(value, room)


def _folds(value: Any, room: int) -> bool:
    if isinstance(value, str):
        return len(value) + 2 > room or "\n" in value
    return holds_more(value)


def _size(value: object) -> int:
    return len(value) if isinstance(value, str) or holds_more(value) else 0


def _place(branch: Branch, key: Key) -> int:
    """Where a key is in its branch; -1 where it is not."""
    if isinstance(branch.value, list):
        return key if isinstance(key, int) and 0 <= key < branch.count else -1
    return branch.keys.index(key) if key in branch.value else -1


def _rows(text: str, width: int) -> list[str]:
    rows = [row for line in safe(text[:LONGEST_TEXT]).expandtabs(4).split("\n") for row in broken(line, width)]
    if len(text) > LONGEST_TEXT:
        rows.append(f"… {len(text) - LONGEST_TEXT:,} more characters; {key_of('inspector.copy')} copies all of them")
    return rows
