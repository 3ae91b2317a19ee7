"""Text selection with the mouse in widgets that draw line by line."""

from rich.style import Style
from textual.strip import Strip


def highlight_range(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Return the strip with the characters from `start` to `end` in a style; an `end` of -1 is the end of the line."""
    first = strip.index_to_cell_position(start)
    last = strip.cell_length if end < 0 else strip.index_to_cell_position(end)
    parts = strip.divide([first, last, strip.cell_length])
    return Strip.join(part.apply_style(style) if index == 1 else part for index, part in enumerate(parts))
