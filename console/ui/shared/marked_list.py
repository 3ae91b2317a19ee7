"""Lists whose chosen row has a mark: it is not told by its colour alone."""

from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from textual.command import CommandList
from textual.strip import Strip
from textual.widgets import OptionList

from console.model.text.glyphs import GLYPHS

if TYPE_CHECKING:
    _List = OptionList
else:
    # Not Textual's list: of two bases that are, a list would have the name and the styles of the first only.
    _List = object

_MARK: Final = GLYPHS["cursor"]
"""In ASCII it is changed with all the others."""


class _Marking(_List):
    """Draws the mark into the empty column before the row."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        place = self.scroll_offset.y + y
        if self.highlighted is None or place != self._index_to_line.get(self.highlighted) or not strip.cell_length:
            return strip
        mark = Strip([Segment(_MARK, segment.style) for segment in strip.crop(0, 1)])
        return Strip.join([mark, strip.crop(1)])


class MarkedList(_Marking, OptionList):
    """To choose from."""


class ChosenCommands(_Marking, CommandList):
    """The palette's."""
