"""A JSON value as a tree of foldable lines; lines are built only when they are shown."""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeGuard, cast

import orjson

from console.model.commands.key_labels import key_of
from console.model.text.columns import broken, cells, cut
from console.model.text.folds import Folds, Key, Path
from console.model.text.lists import GLYPH, MARGIN, Row
from console.model.text.piece import Piece
from console.model.text.safe import one_line, safe
from console.model.text.units import number


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
        self.settle()

    def close(self, place: int) -> None:
        at = bisect_left(self._places, place)
        del self._places[at], self._below[at]
        self.settle()

    def settle(self) -> None:
        """Count the lines again after folding or unfolding."""
        self._starts.clear()
        extra = 0
        for place, branch in zip(self._places, self._below, strict=True):
            self._starts.append(place + extra)
            extra += branch.height
        self.height = self.count + extra


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORTH_A_COUNT: Final = 200
"""Longer text shows its length if it is cut."""
_LOOKED_AT: Final = 40
"""Children that are read for a one-line summary; a limit on the work."""


def holds_more(value: object) -> TypeGuard[dict[str, Any] | list[Any]]:
    """Whether a value is a non-empty object or array."""
    return isinstance(value, dict | list) and bool(cast("object", value))


def keys_of(value: Any) -> Sequence[Key]:
    """The keys or indexes of a container."""
    return list(cast("dict[str, object]", value)) if isinstance(value, dict) else range(len(value))


def kind_of(value: object) -> str:
    """`object`, `array`, `string`, `number`, or `word` for true, false and null."""
    if isinstance(value, str):
        return "string"
    if value is None or isinstance(value, bool):
        return "word"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list | tuple) else "number"


def scalar(value: object, limit: int = 300) -> str:
    """A leaf as safe JSON; long text is cut and shows its length."""
    if isinstance(value, str):
        if len(value) + 2 <= limit:
            return f'"{one_line(value, limit)}"'
        told = "" if len(value) <= _WORTH_A_COUNT else f" {len(value):,}" + (" characters" if limit >= 40 else "")
        return f'"{one_line(value, max(1, limit - len(told) - 2))}{told}'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return one_line(_number(value), limit)


def glance(value: Any, limit: int) -> str | None:
    """The whole value on one line, or None if it is longer than `limit`."""
    text = _glance(value, limit)
    return text if text is not None and len(text) <= limit else None


def extent(value: Any) -> str:
    """The size of a container in words."""
    many = len(cast("Sequence[object]", value))
    return f"{{{number(many, 'key')}}}" if isinstance(value, dict) else f"[{number(many, 'item')}]"


def short(value: Any, limit: int) -> str:
    """A value on one line: whole, as its size, or cut."""
    if isinstance(value, dict | list):
        return glance(cast("object", value), limit) or extent(value)
    return scalar(value, limit)


def path_text(path: Path, start: str = "$") -> str:
    """`$.arguments.ids[0]`; a key that is not an identifier is quoted."""
    parts = [
        f"[{key}]" if isinstance(key, int) else f".{key}" if _NAME.fullmatch(key) else f"[{_json(key)}]" for key in path
    ]
    return start + "".join(parts)


def json_text(value: object) -> str:
    """A value as indented JSON."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        # The slower encoder takes numbers over 64 bits.
        return json.dumps(value, ensure_ascii=False, indent=2)


def _glance(value: Any, left: int) -> str | None:
    if left <= 0:
        return None
    if isinstance(value, str):
        return scalar(value, left) if len(value) + 2 <= left else None
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value)
        parts = _parts([(f"{_plain_key(key)}: ", item) for key, item in islice(pairs.items(), _LOOKED_AT)], left)
        return None if parts is None or len(pairs) > _LOOKED_AT else "{" + parts + "}"
    if isinstance(value, list):
        items = cast("list[object]", value)
        parts = _parts([("", item) for item in islice(items, _LOOKED_AT)], left)
        return None if parts is None or len(items) > _LOOKED_AT else "[" + parts + "]"
    return scalar(value, left)


def _parts(pairs: Sequence[tuple[str, object]], left: int) -> str | None:
    parts: list[str] = []
    left -= 2
    for key, item in pairs:
        left -= len(key) + (2 if parts else 0)
        part = _glance(item, left)
        if part is None:
            return None
        left -= len(part)
        parts.append(key + part)
    return ", ".join(parts)


def _number(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return repr(value)


def _plain_key(key: str) -> str:
    return key if _NAME.fullmatch(key) else _json(one_line(key, 60))


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_SIFTED: Final = 3
"""Levels that are searched as encoded text first: 20 ms per megabyte instead of 150, but once per level."""


def matches(value: Any, start: Path, wanted: str) -> Iterator[Path]:
    """Paths after one whose key or leaf contains a lower-case text."""
    written = json.dumps(wanted, ensure_ascii=False)[1:-1]
    trail = list(start)
    stack: list[tuple[Any, Iterator[Key]]] = []
    inner = value
    for key in start:
        keys = keys_of(inner)
        stack.append((inner, iter(keys[keys.index(key) + 1 :])))
        inner = inner[key]
    if holds_more(inner):
        stack.append((inner, iter(keys_of(inner))))
    else:
        trail.pop()
    while stack:
        container, keys = stack[-1]
        for key in keys:
            item = container[key]
            is_branch = holds_more(item)
            if (isinstance(key, str) and wanted in key.lower()) or (not is_branch and wanted in _leaf(item)):
                yield (*trail, key)
            if is_branch and (len(trail) >= _SIFTED or _may_hold(item, written)):
                stack.append((item, iter(keys_of(item))))
                trail.append(key)
                break
        else:
            stack.pop()
            if trail:
                trail.pop()


def _may_hold(value: object, written: str) -> bool:
    try:
        return written in orjson.dumps(value).decode().lower()
    except TypeError:
        return True  # numbers over 64 bits need the walk


def _leaf(value: object) -> str:
    return value.lower() if isinstance(value, str) else scalar(value)


OPEN_TO: Final = 2
"""Levels that are unfolded at first."""
MOST_LINES: Final = 200
"""Lines beyond which nothing more is unfolded at first."""
LONGEST_TEXT: Final = 32 * 1024
"""Characters of one unfolded text that are shown; copies have all of it."""
_OPENED_TEXT: Final = 1_200
"""Characters of a text beyond which it is folded at first."""
_PROSE: Final = 60
"""Shorter text is an id or a name; it is cut, not unfolded, if it does not fit."""
_WIDEST_KEY: Final = 20
_KEYS_MEASURED: Final = 100
_ITSELF: Final = ""
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
        folds = _folds(value, room)
        text = self._text(value, room, is_open=is_open)
        return Line(path, branch.depth, shown, text, kind_of(value), is_open, folds, _size(value))

    def row(self, index: int) -> Row:
        """The row of a line."""
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
            chain[-1].open(place, self._grown(chain[-1], place))
        elif not is_open and chain[-1].below(place) is not None:
            chain[-1].close(place)
        for branch in reversed(chain):
            branch.settle()

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
        value = self._value[_ITSELF] if self._is_bare else self._value
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

    # Private

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

    def _made(self, value: Any, path: Path) -> Branch:
        """An unfolded branch, with the children that are unfolded."""
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
        """Unfold children level by level, within the limit of lines."""
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
        """The shared key width of a branch; a wider key takes more."""
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
    """The index of a key in its branch, or -1."""
    if isinstance(branch.value, list):
        return key if isinstance(key, int) and 0 <= key < branch.count else -1
    return branch.keys.index(key) if key in branch.value else -1


def _rows(text: str, width: int) -> list[str]:
    rows = [row for line in safe(text[:LONGEST_TEXT]).expandtabs(4).split("\n") for row in broken(line, width)]
    if len(text) > LONGEST_TEXT:
        rows.append(f"… {len(text) - LONGEST_TEXT:,} more characters; {key_of('inspector.copy')} copies all of them")
    return rows
