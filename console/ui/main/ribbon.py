"""The run as a ribbon, under the header."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message

from console.model.run.ribbon import Ribbon
from console.model.text.piece import Piece
from console.ui.shared.styled_text import StyledText

Rows = Sequence[Sequence[Piece]]


class RibbonBar(StyledText):
    """Shows the turns of a run and where queued messages will be delivered; two rows, or one on a short screen."""

    DEFAULT_CSS = """
    RibbonBar { height: 2; padding: 0 1; background: $surface; }
    """

    @dataclass
    class TurnChosen(Message):
        """Posted when the user clicks a turn."""

        turn: int

    def __init__(self) -> None:
        super().__init__()
        self._ribbon: Ribbon | None = None
        self._now = 0
        self._drawn: Rows = ()

    def show(self, ribbon: Ribbon | None, now: int) -> None:
        """Show a run. Draws only if the visible text has changed."""
        self._ribbon, self._now = ribbon, now
        self.display = ribbon is not None
        if self._rows() != self._drawn:
            self.refresh()

    def render(self) -> Content:
        self._drawn = self._rows()
        return Content("\n").join([self.content_of(row) for row in self._drawn])

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is not None and self._ribbon is not None:
            turn = self._ribbon.turn_at(place.x, self.content_size.width, self._now)
            if turn is not None:
                self.post_message(self.TurnChosen(turn))

    def _rows(self) -> Rows:
        if self._ribbon is None:
            return ()
        width, tall = self.content_size
        return self._ribbon.rows(width, self._now, tall)
