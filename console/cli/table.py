"""Columns of text that fit the terminal."""

import re
from collections.abc import Sequence
from typing import Final

from console.cli.terminal import Output

_OURS: Final = re.compile(r"\x1b\[\d+m")
"""The colours of `Output.paint`, which take no room."""


def table(rows: Sequence[tuple[str, ...]], out: Output) -> str:
    """Rows in columns, two spaces apart; on a terminal the last column is cut at its edge."""
    widths = [max(_width(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "".join(_row(row, widths, out.width) + "\n" for row in rows)


def _row(row: tuple[str, ...], widths: list[int], edge: int | None) -> str:
    *columns, last = row
    start = "".join(text + " " * (width - _width(text) + 2) for text, width in zip(columns, widths, strict=False))
    room = None if edge is None else max(0, edge - _width(start))
    if room is not None and _width(last) > room and "\x1b" not in last:
        last = last[: max(0, room - 1)] + "…" if room else ""
    return (start + last).rstrip()


def _width(text: str) -> int:
    return len(_OURS.sub("", text))
