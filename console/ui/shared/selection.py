"""What the mouse marks in a widget that draws line by line."""

from rich.style import Style
from textual.strip import Strip


def marked(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """The strip with its characters from one place to another in a style; -1 is its end."""
    first = strip.index_to_cell_position(start)
    last = strip.cell_length if end < 0 else strip.index_to_cell_position(end)
    parts = strip.divide([first, last, strip.cell_length])
    return Strip.join(part.apply_style(style) if place == 1 else part for place, part in enumerate(parts))
