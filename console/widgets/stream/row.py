"""One row of the stream as a strip of exactly the width that there is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.model.glyphs import Glyphs
from console.model.stream.look import Shown
from console.model.stream.stamps import WIDTH as TIME_WIDTH
from console.model.stream.stamps import TimeMode, stamp

GUTTER: Final = 2
_WITH_TIME: Final = 60
"""Columns from which there is room for the time; below that the position must do, and below 48 neither."""
_WITH_POSITION: Final = 48
_PLAIN: Final = str.maketrans({"“": '"', "”": '"', "·": "-", "×": "x", "…": "~"})
"""Our own marks in ASCII."""


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide each part of a row is; 0 leaves it out."""

    position: int
    time: int
    kind: int
    summary: int

    @classmethod
    def fit(cls, width: int, last: int) -> "Columns":
        """What fits: first the time goes, then the position."""
        position = max(4, len(str(last))) + 2 if width >= _WITH_POSITION else 0
        time = TIME_WIDTH + 2 if width >= _WITH_TIME else 0
        left = max(0, width - GUTTER - position - time)
        kind = min(left, 23 if left >= 46 else max(14, left * 2 // 5))
        return cls(position, time, kind, left - kind)


@dataclass(frozen=True, slots=True)
class Setting:
    """All that the look of a row depends on, but for the row."""

    columns: Columns
    mode: TimeMode
    began: int | None
    is_filtered: bool
    glyphs: Glyphs
    style: Callable[[str], Style]
    """The style of a part or tone by its name."""


def paint(shown: Shown, setting: Setting, *, is_current: bool, is_pinned: bool, is_flagged: bool) -> Strip:
    """The row as it stands on the screen."""
    columns, glyphs, style = setting.columns, setting.glyphs, setting.style
    span, row = shown.span, shown.row
    kind, summary = _short(row.kind, columns.kind - 1), row.summary
    if span.entries > 1:
        many = f"×{span.entries:,}"
        fits = len(kind) + 1 + len(many) < columns.kind
        kind, summary = (f"{kind} {many}", summary) if fits else (kind, f"{many} · {summary}")
    mark = glyphs[row.glyph] + " " if row.glyph else ""
    pointer = glyphs["cursor"] if is_current else glyphs["mark"] if is_flagged else " "
    tone = style(row.tone)
    cells = [(pointer, GUTTER, style("mark" if is_flagged else "cursor"), False)]
    if columns.position:
        cells.append((str(span.first), columns.position, style("position"), True))
    if columns.time:
        time = stamp(setting.mode, span.at, since=shown.since, began=setting.began)
        cells.append((time, columns.time, style("time"), True))
    cells.append((kind, columns.kind, tone, False))
    cells.append((mark + summary, columns.summary, style("error") if row.tone == "error" else style("text"), False))
    under = style("pinned") if is_pinned else style("base")
    return _strip(cells, setting, under)


def heading(setting: Setting) -> Strip:
    """The names of the columns."""
    columns, style = setting.columns, setting.style("heading")
    cells = [("", GUTTER, style, False)]
    if columns.position:
        cells.append(("#", columns.position, style, True))
    if columns.time:
        cells.append((setting.mode.heading(is_filtered=setting.is_filtered), columns.time, style, True))
    cells += [("kind", columns.kind, style, False), ("summary", columns.summary, style, False)]
    return _strip(cells, setting, setting.style("base"))


def words(text: str, width: int, setting: Setting) -> Strip:
    """A line of our own in place of rows."""
    return _strip(
        [("", GUTTER, setting.style("faint"), False), (text, width - GUTTER, setting.style("faint"), False)],
        setting,
        setting.style("base"),
    )


def _short(kind: str, width: int) -> str:
    """A kind whose middle goes first: `tool…completed` and `tool…started` are still two."""
    first, *middle, last = kind.split(".") if kind.count(".") > 1 else ("", kind)
    return f"{first}…{last}" if middle and len(kind) > width else kind


def _strip(cells: list[tuple[str, int, Style, bool]], setting: Setting, under: Style) -> Strip:
    segments = []
    width = 0
    for text, columns, style, is_right in cells:
        if columns > 0:
            segments.append(Segment(_fit(text, columns, setting, is_right=is_right), under + style))
            width += columns
    return Strip(segments, width)


def _fit(text: str, width: int, setting: Setting, *, is_right: bool) -> str:
    """Text cut or filled up to so many cells, with at least a blank behind it."""
    if setting.glyphs["ellipsis"].isascii():
        text = text.translate(_PLAIN)
    room = width - 2 if is_right else width - 1
    if cell_len(text) > room:
        text = set_cell_size(text, max(0, room - 1)) + setting.glyphs["ellipsis"] if room > 1 else ""
    if is_right:
        return set_cell_size(" " * (room - cell_len(text)) + text, width)
    return set_cell_size(text, width)
