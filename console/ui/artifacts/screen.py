"""What runs made and what came with events: a list, and what is in each."""

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import BindingType

from console.data.artifacts import ArtifactReader
from console.model.artifacts.file_name import proposed_name, target_of
from console.model.artifacts.preview import WINDOW, has_content, preview
from console.model.artifacts.rows import list_row, name_of
from console.model.commands.key_labels import key_of
from console.model.text.folds import Folds
from console.model.text.lists import Item, ListItems, Row, Source
from console.model.text.safe import one_line
from console.model.text.units import number, size
from console.ui.artifacts.save import SaveAs, Taken, save
from console.ui.shared.bindings import bindings_for
from console.ui.shared.browser import SearchBrowser, SideData
from console.ui.shared.dialog import Question
from console.ui.shared.slow_notice import slow_notice

if TYPE_CHECKING:
    from pathlib import Path

    from engine.api import ArtifactRow

_WHOSE: Final = {"session": "of this session", "run": "of this run", "all": "of all sessions"}
_NONE: Final = (
    "No artifacts {whose}.\nA runner makes one with `artifact.created`, and every file that comes with an event is one."
    "\n{more}"
)
_NONE_FOUND: Final = "No artifact {whose} holds that in its name, type or id.\nesc shows all."


class ArtifactsScreen(SearchBrowser):
    """The list at the left, what is known of one and what is in it at the right."""

    place = "artifacts"
    heading = "Artifacts"
    placeholder = "{artifacts.search} searches names and types"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("artifacts")
    DEFAULT_CSS = """
    ArtifactsScreen #list { width: 2fr; }
    ArtifactsScreen #side { width: 3fr; }
    """

    def __init__(self, session: str, run_id: str | None, wanted: str | None = None) -> None:
        super().__init__()
        self._session, self._run_id = session, run_id
        self._wanted = wanted
        """The one of the run that is to be shown first, by its id or its name."""
        self._whose = "session" if wanted is None else "run"
        self._folds = Folds()
        """Of the content at the side."""
        self._told: tuple[ArtifactRow, SideData] | None = None
        self._source: Source | None = None
        """What was made of that."""
        self._saving = ""
        """What is being saved, and how far that is."""

    # Reading

    def open_reader(self) -> None:
        self.desk = self._desk()

    def read_first_page(self) -> Awaitable[None]:
        return self.desk.load_first()

    def _desk(self, text: str = "") -> ArtifactReader:
        return ArtifactReader(
            self.trackside.stage.engine,
            session=self._session if self._whose == "session" else None,
            run_id=self._run_id if self._whose == "run" else None,
            text=text,
        )

    def read_next_page(self) -> Awaitable[None] | None:
        return None if self.desk.is_complete else self.desk.load_more()

    async def read_changes(self) -> bool:
        return await self.desk.refresh()

    @property
    def searched_text(self) -> str:
        return self.desk.text

    async def search_for(self, text: str) -> None:
        desk = self._desk(text)
        await desk.load_first()
        self.desk = desk

    # What is shown

    def list_items(self) -> ListItems:
        return ListItems([Item(row.artifact_id, partial(self._row, row), row) for row in self.desk.rows.values()])

    def _row(self, row: "ArtifactRow", width: int) -> Row:
        return list_row(row, self._now, width)

    def empty_text(self) -> str:
        whose = _WHOSE[self._whose]
        if self.desk.text:
            return _NONE_FOUND.format(whose=whose)
        shows = f"{key_of('artifacts.whose')} shows those {_WHOSE[self._whose_next]}."
        more = shows if self._whose != "all" else "Send something first."
        return _NONE.format(whose=whose, more=more)

    def show_list(self) -> None:
        super().show_list()
        wanted = (row.artifact_id for row in self.desk.rows.values() if self._wanted in (row.artifact_id, row.name))
        if self._wanted is not None and (found := next(wanted, None)) is not None:
            self._wanted = None
            self.list.go_to(self.list.source.place_of(found) or 0)

    def remark(self) -> str:
        if self._saving:
            return self._saving
        count = len(self.desk.rows)
        return (
            f"{number(count, 'artifact') if self.desk.is_complete else f'{count:,}+ artifacts'} {_WHOSE[self._whose]}"
        )

    @property
    def _now(self) -> int:
        return self.trackside.stage.engine.now()

    # What is in it

    @property
    def current(self) -> "ArtifactRow | None":
        item = self.list.current
        return None if item is None else self.desk.rows.get(item.id)

    def on_item_list_moved(self) -> None:
        self._folds = Folds()
        super().on_item_list_moved()

    def side_rows(self) -> Source | None:
        if (row := self.current) is None:
            return None
        looked = SideData()
        if has_content(row, self._now):
            looked = self.load_side(row.artifact_id, partial(self._head_of, row))
        if self._source is None or self._told != (row, looked):
            self._told = row, looked
            self._source = preview(row, looked.value, self._now, self._folds, looked.note)
        return self._source

    async def _head_of(self, row: "ArtifactRow") -> bytes:
        return await self.trackside.stage.engine.artifacts.read_bytes(row.artifact_id, limit=WINDOW)

    def on_item_list_chosen(self) -> None:
        self.action_open()

    # What a person does

    def why_not(self, what: str) -> str | None:
        row = self.current
        if what in ("open", "copy", "save", "aside") and row is None:
            return "there is no artifact here"
        if what == "save" and row is not None and not has_content(row, self._now):
            return "there is nothing to save: its content is not here, or no longer"
        return None

    def action_open(self) -> None:
        if not self.trackside.can("artifacts.open"):
            return
        if self.is_inside:
            self.side.fold()
        else:
            self.focus_side()

    def action_copy(self) -> None:
        if self.trackside.can("artifacts.copy") and not self.copy_line() and (row := self.current) is not None:
            self.trackside.copy(row.artifact_id, "the id")

    @property
    def _whose_next(self) -> str:
        order = [each for each in _WHOSE if each != "run" or self._run_id is not None]
        return order[(order.index(self._whose) + 1) % len(order)]

    def action_whose(self) -> None:
        self._whose = self._whose_next
        self.list.clear()
        self.read(self.search_for(self.desk.text), self.show)

    # Saving

    def action_save(self) -> None:
        if self.trackside.can("artifacts.save") and (row := self.current) is not None:
            self.trackside.do(self._save(row))

    async def _save(self, row: "ArtifactRow") -> None:
        """Ask where to until it is there, or until nobody wants it any more."""
        typed: str | None = proposed_name(row.name, row.artifact_id)
        name, wrong = typed, ""
        while (typed := await self.app.push_screen_wait(SaveAs(typed, wrong))) is not None:
            path = await asyncio.to_thread(target_of, typed, name)
            try:
                written = await self._write(row, path)
            except OSError as error:
                wrong = f"{path} cannot be written: {error.strerror or error}. Name another file."
                continue
            except Exception as error:  # noqa: BLE001  (the content may be gone; whatever it was, it is said)
                self.trackside.tell(f"{name_of(row)} cannot be read: {error}", severity="error")
                return
            if written is not None:
                self.trackside.tell(f"{size(written)} saved to {path}")
                return
            wrong = f"{path} stays as it is. Name another file."

    async def _write(self, row: "ArtifactRow", path: "Path") -> int | None:
        """How much was written; nothing where there is a file already, which is to stay."""
        engine = self.trackside.stage.engine
        self._tell_saved(row, 0)
        try:
            with slow_notice(self, self.show_remark, repeat=True):
                try:
                    return await save(engine, row, path, over=False, tell=self._tell_saved)
                except Taken:
                    ask = Question(f"{one_line(str(path))} already exists. Overwrite it?", "Overwrite", "Keep it")
                    if not await self.app.push_screen_wait(ask):
                        return None
                    return await save(engine, row, path, over=True, tell=self._tell_saved)
        finally:
            self._saving = ""
            self.show_remark()

    def _tell_saved(self, row: "ArtifactRow", written: int) -> None:
        share = f" · {min(99, 100 * written // row.size_bytes)}%" if row.size_bytes else ""
        self._saving = f"saving {one_line(name_of(row), 30)}: {size(written)}{share}"
