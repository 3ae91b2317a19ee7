"""Draws one row of the stream as a strip of exact width."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.model.stream.cursor import PageRow
from console.model.stream.time_column import TIME_COLUMNS, TimeMode, format_time
from console.model.text.glyphs import GLYPHS

GUTTER_COLUMNS: Final = 2
_MIN_COLUMNS_WITH_TIME: Final = 60
_MIN_COLUMNS_WITH_POSITION: Final = 48


@dataclass(frozen=True, slots=True)
class Columns:
    """The width of each part of a row; 0 hides it."""

    position: int
    time: int
    kind: int
    summary: int

    @classmethod
    def fit(cls, width: int, last: int) -> "Columns":
        """The widths that fit: the time is hidden first, then the position."""
        position = max(4, len(str(last))) + 2 if width >= _MIN_COLUMNS_WITH_POSITION else 0
        time = TIME_COLUMNS + 2 if width >= _MIN_COLUMNS_WITH_TIME else 0
        left = max(0, width - GUTTER_COLUMNS - position - time)
        kind = min(left, 23 if left >= 46 else max(14, left * 2 // 5))
        return cls(position, time, kind, left - kind)


@dataclass(frozen=True, slots=True)
class RowStyle:
    """Everything that the look of a row depends on, besides the row."""

    columns: Columns
    mode: TimeMode
    began: int | None
    is_filtered: bool
    style: Callable[[str], Style]
    """Returns the style of a part or tone."""


def draw_row(shown: PageRow, row_style: RowStyle, *, is_current: bool, is_pinned: bool, is_flagged: bool) -> Strip:
    """Draw a row."""
    columns, style = row_style.columns, row_style.style
    span, row = shown.span, shown.row
    kind, summary = _short(row.kind, columns.kind - 1), row.summary
    if span.entry_count > 1:
        many = f"×{span.entry_count:,}"
        fits = len(kind) + 1 + len(many) < columns.kind
        kind, summary = (f"{kind} {many}", summary) if fits else (kind, f"{many} · {summary}")
    mark = GLYPHS[row.glyph] + " " if row.glyph else ""
    pointer = GLYPHS["cursor"] if is_current else GLYPHS["mark"] if is_flagged else " "
    tone = style(row.tone)
    cells = [(pointer, GUTTER_COLUMNS, style("mark" if is_flagged else "cursor"), False)]
    if columns.position:
        cells.append((str(span.first), columns.position, style("position"), True))
    if columns.time:
        time = format_time(row_style.mode, span.at, previous_at=shown.previous_at, began=row_style.began)
        cells.append((time, columns.time, style("time"), True))
    cells.append((kind, columns.kind, tone, False))
    cells.append((mark + summary, columns.summary, style("error") if row.tone == "error" else style("text"), False))
    under = style("pinned") if is_pinned else style("base")
    return _strip(cells, under)


def draw_heading(row_style: RowStyle) -> Strip:
    """Draw the column names."""
    columns, style = row_style.columns, row_style.style("heading")
    cells = [("", GUTTER_COLUMNS, style, False)]
    if columns.position:
        cells.append(("#", columns.position, style, True))
    if columns.time:
        cells.append((row_style.mode.heading(is_filtered=row_style.is_filtered), columns.time, style, True))
    cells += [("kind", columns.kind, style, False), ("summary", columns.summary, style, False)]
    return _strip(cells, row_style.style("base"))


def draw_note(text: str, width: int, row_style: RowStyle) -> Strip:
    """Draw a note in place of rows."""
    return _strip(
        [
            ("", GUTTER_COLUMNS, row_style.style("faint"), False),
            (text, width - GUTTER_COLUMNS, row_style.style("faint"), False),
        ],
        row_style.style("base"),
    )


def _short(kind: str, width: int) -> str:
    """Shorten the middle of a kind: `tool…completed` and `tool…started` stay different."""
    first, *middle, last = kind.split(".") if kind.count(".") > 1 else ("", kind)
    return f"{first}…{last}" if middle and len(kind) > width else kind


def _strip(cells: list[tuple[str, int, Style, bool]], under: Style) -> Strip:
    segments = []
    width = 0
    for text, columns, style, is_right in cells:
        if columns > 0:
            segments.append(Segment(_fit(text, columns, is_right=is_right), under + style))
            width += columns
    return Strip(segments, width)


def _fit(text: str, width: int, *, is_right: bool) -> str:
    """Text cut or padded to a width, with at least one space behind it."""
    room = width - 2 if is_right else width - 1
    if cell_len(text) > room:
        text = set_cell_size(text, max(0, room - 1)) + GLYPHS["ellipsis"] if room > 1 else ""
    if is_right:
        return set_cell_size(" " * (room - cell_len(text)) + text, width)
    return set_cell_size(text, width)
