"""The list of runs and sessions at the side."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from console.model.run.list_rows import ListRow, ListRows
from console.model.text.glyphs import GLYPHS
from console.ui.shared.bindings import bindings_for
from console.ui.shared.crash_guard import PaneGuard
from console.ui.shared.refused import refuse

_MORE = "more"
_WIDE_COLUMNS = 50
"""From this width on, rows show full details."""
_DEFAULT_COLUMNS = 24


class RunsList(PaneGuard, OptionList, inherit_bindings=False):
    """Lists runs, newest first, and the sessions that were active last."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("rail")
    DEFAULT_CSS = """
    RunsList { width: 26; height: 1fr; border: round $panel-lighten-2; padding: 0; background: $surface;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    RunsList:focus { border: round $accent; }
    """

    @dataclass
    class RunChosen(Message):
        """Posted when the user opens a run."""

        run_id: str

    @dataclass
    class SessionChosen(Message):
        """Posted when the user opens a session."""

        session_id: str

    class WantMore(Message):
        """Posted when the user reaches the end of the listed runs and there are older ones."""

    def __init__(self) -> None:
        super().__init__(id="rail", markup=False)
        self.border_title = "Runs"
        self._shown = ListRows()
        self._width = -1
        """The width that the rows were made for."""

    def show(self, cards: ListRows) -> None:
        """List these cards; the cursor stays on its row."""
        if cards != self._shown:
            before, self._shown = self._shown, cards
            if _ids(before) == _ids(cards):
                self._rewrite(before)
            else:
                self._fill()

    def redraw(self) -> None:
        """Draw the rows again."""
        if self._shown.runs or self._shown.sessions:
            self._fill()

    def on_resize(self) -> None:
        """Make the rows for the new width."""
        if self._width != self.scrollable_content_region.width:
            self._fill()

    def why_not(self, what: str) -> str | None:  # noqa: ARG002  (the same for all commands)
        """Why its commands are not available."""
        return None if self._shown.runs or self._shown.sessions else "There are no runs yet."

    def action_open(self) -> None:
        if not self._refuse():
            self.action_select()

    def action_move(self, how: str) -> None:
        """Call one of Textual's actions that move the cursor."""
        if not self._refuse():
            getattr(self, f"action_{how}")()

    def _refuse(self) -> bool:
        """Post the reason if there is nothing to choose from. Returns whether there was one."""
        return refuse(self, self.why_not("open"))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Ask for older runs at the end of the list."""
        event.stop()
        if event.option.id == _MORE:
            self.post_message(self.WantMore())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the row that was clicked, or selected with enter."""
        event.stop()
        kind, _, chosen = (event.option.id or "").partition(" ")
        if event.option.id == _MORE:
            self.post_message(self.WantMore())
        else:
            self.post_message(self.RunChosen(chosen) if kind == "run" else self.SessionChosen(chosen))

    def jump_offsets(self) -> Iterator[Offset]:
        """Positions of the visible rows that can be selected, for jump mode."""
        inset = self.content_region.offset - self.region.offset
        top, tall = round(self.scroll_offset.y), self.content_size.height
        for row, option in enumerate(self.options[top : top + tall]):
            if not option.disabled:
                yield inset + Offset(0, row)

    # Drawing

    def _fill(self) -> None:
        cards, self._width = self._shown, self.scrollable_content_region.width
        place = self.highlighted
        before = self.highlighted_option.id if self.highlighted_option is not None else None
        options = [Option(self._line(card), id=f"run {card.id}") for card in cards.runs]
        if cards.has_more:
            options.append(Option(Content.styled(f"  {GLYPHS['ellipsis']} earlier runs", "$text-muted"), id=_MORE))
        if cards.sessions:
            options.append(Option(Content.styled("── Sessions ──", "$text-muted"), disabled=True))
            options += [Option(self._line(card), id=f"session {card.id}") for card in cards.sessions]
        if not options:
            options = [Option(Content.styled("No runs yet", "$text-muted"), disabled=True)]
        self.clear_options().add_options(options)
        if before == _MORE and place is not None:
            self.highlighted = min(place, len(options) - 1)  # on the first of the older runs
        elif before is not None and any(option.id == before for option in options):
            self.highlighted = self.get_option_index(before)

    def _rewrite(self, before: ListRows) -> None:
        """Replace the rows whose text has changed: most stay the same."""
        pairs = [
            *zip(before.runs, self._shown.runs, strict=True),
            *zip(before.sessions, self._shown.sessions, strict=True),
        ]
        kinds = ["run"] * len(self._shown.runs) + ["session"] * len(self._shown.sessions)
        for kind, (old, new) in zip(kinds, pairs, strict=True):
            if old != new:
                self.replace_option_prompt(f"{kind} {new.id}", self._line(new))

    def _line(self, card: ListRow) -> Content:
        """A row: cursor mark if it is shown, status, title, and at the right its time."""
        width = self.scrollable_content_region.width or _DEFAULT_COLUMNS
        detail = card.full if width >= _WIDE_COLUMNS else card.short
        mark = GLYPHS["cursor"] if card.is_shown else " "
        room = max(4, width - cell_len(detail) - 4)
        title = card.title
        if cell_len(title) > room:
            title = set_cell_size(title, room - 1).rstrip() + GLYPHS["ellipsis"]
        line = Content.assemble(
            f"{mark}{GLYPHS[card.glyph]} {set_cell_size(title, room)} ",
            (detail, "$text-muted" if not card.is_shown else ""),
        )
        return line.stylize("bold") if card.is_shown else line


def _ids(cards: ListRows) -> tuple[list[str], list[str], bool]:
    return [card.id for card in cards.runs], [card.id for card in cards.sessions], cards.has_more
