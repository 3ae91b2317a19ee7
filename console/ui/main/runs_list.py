"""The list of runs and sessions at the side."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.message import Message

from console.model.run.list_rows import ListRow, ListRows
from console.model.text.columns import cells, cut
from console.model.text.glyphs import GLYPHS
from console.model.text.lists import MARGIN_COLUMNS, Item, ListItems, Row
from console.model.text.piece import Piece
from console.ui.shared.bindings import bindings_for
from console.ui.shared.list import ItemList
from console.ui.shared.refused import refuse

_MORE: Final = "more"
_NO_RUNS: Final = "No runs yet"
_WIDE_COLUMNS: Final = 50
"""From this width on, rows show full details."""
_MIN_TITLE_COLUMNS: Final = 4


class RunsList(ItemList):
    """Lists runs, newest first, and the sessions that were active last."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("rail")
    DEFAULT_CSS = """
    RunsList { width: 26; height: 1fr; border: round $panel-lighten-2; padding: 0 1 0 0; background: $surface; }
    RunsList:focus { border: round $accent; }
    """
    chooses_on_click = True

    @dataclass
    class RunChosen(Message):
        """Posted when the user opens a run."""

        run_id: str

    @dataclass
    class SessionChosen(Message):
        """Posted when the user opens a session."""

        session_id: str

    class EarlierWanted(Message):
        """Posted when the user reaches the end of the listed runs and there are earlier ones."""

    def __init__(self) -> None:
        super().__init__(id="rail")
        self.border_title = "Runs"
        self.empty_text = _NO_RUNS
        self._shown = ListRows()

    def show_rows(self, rows: ListRows) -> None:
        """List these rows; the cursor stays on its row."""
        if rows == self._shown:
            return
        before, self._shown = self._shown, rows
        if _ids(before) == _ids(rows):
            self.redraw()  # the items read their rows when they are drawn
            return
        if self.cursor == 0 and not self.has_focus:
            self.clear()  # stays at the newest run
        elif self.current_id == _MORE:
            self._current_id = None  # the cursor goes to the first of the earlier runs
        self.fill(ListItems(self._items()), _NO_RUNS)

    def why_not(self, what: str) -> str | None:  # noqa: ARG002  (the same for all commands)
        """Why its commands are not available."""
        return None if self._shown.runs or self._shown.sessions else "There are no runs yet."

    def action_open(self) -> None:
        if not self._refuse():
            self._open()

    def action_move(self, step: int) -> None:
        """Move the cursor; it wraps around."""
        if not self._refuse():
            before = self.cursor
            self.move(step)
            if self.cursor == before:
                self.edge(is_last=step < 0)

    def action_page(self, pages: int) -> None:
        if not self._refuse():
            self.page(pages)

    def action_edge(self, is_last: int) -> None:
        if not self._refuse():
            self.edge(is_last=bool(is_last))

    def on_item_list_moved(self, event: ItemList.Moved) -> None:
        """Ask for earlier runs at the end of the listed ones."""
        event.stop()
        if self.current_id == _MORE:
            self.post_message(self.EarlierWanted())

    def on_item_list_chosen(self, event: ItemList.Chosen) -> None:
        """Open the row that was clicked."""
        event.stop()
        self._open()

    def _open(self) -> None:
        kind, _, chosen = (self.current_id or "").partition(" ")
        match kind:
            case "run":
                self.post_message(self.RunChosen(chosen))
            case "session":
                self.post_message(self.SessionChosen(chosen))
            case _:
                self.post_message(self.EarlierWanted())

    def _refuse(self) -> bool:
        """Post the reason if there is nothing to choose from. Returns whether there was one."""
        return refuse(self, self.why_not("open"))

    # Drawing

    def _items(self) -> list[Item]:
        rows = self._shown
        items = [Item(f"run {row.id}", partial(self._run_row, place)) for place, row in enumerate(rows.runs)]
        if rows.has_more:
            items.append(Item(_MORE, partial(_faint_row, f"  {GLYPHS['ellipsis']} earlier runs")))
        if rows.sessions:
            items.append(Item("sessions", partial(_faint_row, "── Sessions ──"), is_heading=True))
            items += [
                Item(f"session {row.id}", partial(self._session_row, place)) for place, row in enumerate(rows.sessions)
            ]
        return items

    def _run_row(self, place: int, width: int) -> Row:
        return _row(self._shown.runs[place], width)

    def _session_row(self, place: int, width: int) -> Row:
        return _row(self._shown.sessions[place], width)


def _row(row: ListRow, width: int) -> Row:
    """A row: a bar if it is on the screen, its state, its title, and at the right its time."""
    detail = row.full if width >= _WIDE_COLUMNS else row.short
    sign = f"{GLYPHS['bar'] if row.is_shown else ' '}{GLYPHS[row.glyph]} "
    room = max(_MIN_TITLE_COLUMNS, width - MARGIN_COLUMNS - cells(sign) - cells(detail) - 1)
    return Row(
        [Piece(sign + cut(row.title, room), "strong" if row.is_shown else "")],
        right=Piece(detail, "strong" if row.is_shown else "faint"),
    )


def _faint_row(text: str, _: int) -> Row:
    return Row([Piece(text, "faint")])


def _ids(rows: ListRows) -> tuple[list[str], list[str], bool]:
    return [row.id for row in rows.runs], [row.id for row in rows.sessions], rows.has_more
