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
    """When will my message land? Two rows where there is room, one where there is not."""

    DEFAULT_CSS = """
    RibbonBar { height: 2; padding: 0 1; background: $surface; }
    """

    @dataclass
    class TurnChosen(Message):
        """Someone clicked on a turn."""

        turn: int

    def __init__(self) -> None:
        super().__init__()
        self._ribbon: Ribbon | None = None
        self._now = 0
        self._painted: Rows = ()

    def show(self, ribbon: Ribbon | None, now: int) -> None:
        """Show a run at this moment; where nothing that is seen has changed, nothing is painted."""
        self._ribbon, self._now = ribbon, now
        self.display = ribbon is not None
        if self._rows() != self._painted:
            self.refresh()

    def render(self) -> Content:
        self._painted = self._rows()
        return Content("\n").join([self.content_of(row) for row in self._painted])

    def on_click(self, event: events.Click) -> None:
        """The turn under the pointer."""
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
