"""Textual's option lists with a mark before the highlighted row, so that it differs not only by its colour.

The palette and the finders use them. All other lists of the console are `ItemList`.
"""

from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from textual.command import CommandList
from textual.strip import Strip
from textual.widgets import OptionList

from console.model.text.glyphs import GLYPHS

if TYPE_CHECKING:
    _OptionList = OptionList
else:
    # Not an option list at run time: of two widget bases, Textual takes the name and the styles of the first only.
    _OptionList = object

_MARK: Final = GLYPHS["cursor"]


class _Mark(_OptionList):
    """Draws the mark into the empty column before the highlighted row."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        line = self.scroll_offset.y + y
        if self.highlighted is None or line != self._index_to_line.get(self.highlighted) or not strip.cell_length:
            return strip
        mark = Strip([Segment(_MARK, segment.style) for segment in strip.crop(0, 1)])
        return Strip.join([mark, strip.crop(1)])


class MarkedOptionList(_Mark, OptionList):
    """The list of a finder."""


class MarkedCommandList(_Mark, CommandList):
    """The list of the palette."""
