"""Text tables that fit the terminal."""

import re
import textwrap
from collections.abc import Sequence
from typing import Final

from console.cli.terminal import Output
from console.model.text.columns import cells, cut

_COLOUR: Final = re.compile(r"\x1b\[\d+m")
"""Colours of `Output.paint`, which have no width."""
MIN_COLUMN_WIDTH: Final = 24


def table(rows: Sequence[tuple[str, ...]], out: Output, *, whole: bool = False) -> str:
    """Return rows in columns. On a terminal the last column is cut at the edge, or wrapped if `whole`."""
    widths = [max(_width(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "".join(_row(row, widths, out.width, whole=whole) + "\n" for row in rows)


def _row(row: tuple[str, ...], widths: list[int], edge: int | None, *, whole: bool) -> str:
    *columns, last = row
    start = "".join(text + " " * (width - _width(text) + 2) for text, width in zip(columns, widths, strict=False))
    room = None if edge is None else max(0, edge - _width(start))
    if whole and edge is not None and room is not None and _width(last) > room:
        return _wrapped(start, last, edge)
    if room is not None and _width(last) > room and "\x1b" not in last:
        last = cut(last, room)
    return (start + last).rstrip()


def _wrapped(start: str, last: str, edge: int) -> str:
    """Wrap the last column; it starts below the row if less than MIN_COLUMN_WIDTH is left."""
    narrow = edge - _width(start) < MIN_COLUMN_WIDTH
    indent = " " * (4 if narrow else _width(start))
    lines = textwrap.wrap(last, edge, initial_indent=indent, subsequent_indent=indent)
    return "\n".join([start.rstrip(), *lines] if narrow else [start + lines[0].lstrip(), *lines[1:]])


def _width(text: str) -> int:
    return cells(_COLOUR.sub("", text))
