"""The list of runs and sessions at the side."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from console.model.cards import Card
from console.model.glyphs import Glyphs


class Rail(OptionList):
    """What ran, newest first, and the conversations it belongs to."""

    DEFAULT_CSS = """
    Rail { width: 26; height: 1fr; border: round $panel-lighten-2; padding: 0; background: $surface; }
    Rail:focus { border: round $accent; }
    """

    @dataclass
    class RunChosen(Message):
        """Someone wants to look at this run."""

        run_id: str

    @dataclass
    class SessionChosen(Message):
        """Someone wants to go on with this session."""

        session_id: str

    glyphs = Glyphs()

    def __init__(self) -> None:
        super().__init__(id="rail", markup=False)
        self.border_title = "Runs"
        self._shown: tuple[Sequence[Card], Sequence[Card]] = ((), ())

    def show(self, runs: Sequence[Card], sessions: Sequence[Card]) -> None:
        """List these; the cursor stays on what it was on."""
        if (runs, sessions) == self._shown:
            return
        self._shown = runs, sessions
        before = self.highlighted_option.id if self.highlighted_option is not None else None
        options = [Option(self._line(card), id=f"run {card.id}") for card in runs]
        if sessions:
            options.append(Option(Content.styled("── Sessions ──", "dim"), disabled=True))
            options += [Option(self._line(card), id=f"session {card.id}") for card in sessions]
        if not options:
            options = [Option(Content.styled("Nothing ran yet", "dim"), disabled=True)]
        self.clear_options().add_options(options)
        if before is not None and any(option.id == before for option in options):
            self.highlighted = self.get_option_index(before)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click."""
        event.stop()
        kind, _, chosen = (event.option.id or "").partition(" ")
        self.post_message(self.RunChosen(chosen) if kind == "run" else self.SessionChosen(chosen))

    def _line(self, card: Card) -> Content:
        room = max(8, (self.content_size.width or 22) - cell_len(card.detail) - 4)
        title = set_cell_size(card.title, room)
        line = Content(f"{self.glyphs[card.glyph]} {title} {card.detail}")
        return line.stylize("bold") if card.is_shown else line
