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
_WIDE = 50
"""Columns from which a row says everything."""
_USUAL = 24


class RunsList(PaneGuard, OptionList, inherit_bindings=False):
    """What ran, newest first, and the conversations it belongs to."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("rail")
    DEFAULT_CSS = """
    RunsList { width: 26; height: 1fr; border: round $panel-lighten-2; padding: 0; background: $surface;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    RunsList:focus { border: round $accent; }
    """

    @dataclass
    class RunChosen(Message):
        """Someone wants to look at this run."""

        run_id: str

    @dataclass
    class SessionChosen(Message):
        """Someone wants to go on with this session."""

        session_id: str

    class WantMore(Message):
        """Someone came to the end of the runs that are listed, and there are more."""

    def __init__(self) -> None:
        super().__init__(id="rail", markup=False)
        self.border_title = "Runs"
        self._shown = ListRows()
        self._width = -1
        """For which the lines were made."""

    def show(self, cards: ListRows) -> None:
        """List these; the cursor stays on what it was on."""
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
        """As much of each as there is room for."""
        if self._width != self.scrollable_content_region.width:
            self._fill()

    def why_not(self, what: str) -> str | None:  # noqa: ARG002  (it holds for all of them)
        """Why one of its commands cannot be carried out now."""
        return None if self._shown.runs or self._shown.sessions else "nothing ran yet"

    def action_open(self) -> None:
        if not self._refuse():
            self.action_select()

    def action_move(self, how: str) -> None:
        """Any of the moves that Textual has for a list."""
        if not self._refuse():
            getattr(self, f"action_{how}")()

    def _refuse(self) -> bool:
        """Post the reason if there is nothing to choose from. Returns whether there was one."""
        return refuse(self, self.why_not("open"))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Who comes to the end of the runs wants to go on."""
        event.stop()
        if event.option.id == _MORE:
            self.post_message(self.WantMore())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click."""
        event.stop()
        kind, _, chosen = (event.option.id or "").partition(" ")
        if event.option.id == _MORE:
            self.post_message(self.WantMore())
        else:
            self.post_message(self.RunChosen(chosen) if kind == "run" else self.SessionChosen(chosen))

    def landings(self) -> Iterator[Offset]:
        """Where its rows begin that can be chosen."""
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
            options = [Option(Content.styled("Nothing ran yet", "$text-muted"), disabled=True)]
        self.clear_options().add_options(options)
        if before == _MORE and place is not None:
            self.highlighted = min(place, len(options) - 1)  # the first of those that were asked for
        elif before is not None and any(option.id == before for option in options):
            self.highlighted = self.get_option_index(before)

    def _rewrite(self, before: ListRows) -> None:
        """Only what the rows say has changed: as time goes on most are as they were."""
        pairs = [
            *zip(before.runs, self._shown.runs, strict=True),
            *zip(before.sessions, self._shown.sessions, strict=True),
        ]
        kinds = ["run"] * len(self._shown.runs) + ["session"] * len(self._shown.sessions)
        for kind, (old, new) in zip(kinds, pairs, strict=True):
            if old != new:
                self.replace_option_prompt(f"{kind} {new.id}", self._line(new))

    def _line(self, card: ListRow) -> Content:
        """Whether it is shown, its state, what it is about, and at the right how long or when."""
        width = self.scrollable_content_region.width or _USUAL
        detail = card.full if width >= _WIDE else card.short
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
