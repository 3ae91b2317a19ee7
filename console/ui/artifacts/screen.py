"""The artifacts browser: files that runs created or that came with events, with a preview of each."""

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import BindingType

from console.data.artifacts import ArtifactReader, TargetExists, save_artifact
from console.model.artifacts.file_name import suggested_name, target_path
from console.model.artifacts.preview import PREVIEW_BYTES, has_content, preview
from console.model.artifacts.rows import artifact_row, name_of
from console.model.commands.key_labels import key_of
from console.model.text.folds import Folds
from console.model.text.lists import Item, ListItems, Row, Source
from console.model.text.safe import one_line
from console.model.text.units import number, size
from console.ui.artifacts.save import SaveAs
from console.ui.shared.bindings import bindings_for
from console.ui.shared.browser import SearchBrowser, SideData
from console.ui.shared.clipboard import Clipboard
from console.ui.shared.dialog import Question
from console.ui.shared.services import AppServices
from console.ui.shared.slow_notice import slow_notice

if TYPE_CHECKING:
    from pathlib import Path

    from engine.api import ArtifactRow

_SCOPES: Final = {"session": "of this session", "run": "of this run", "all": "of all sessions"}
_NONE: Final = (
    "No artifacts {scope}.\nA runner creates them with `artifact.created`; files of events are artifacts too.\n{hint}"
)
_NONE_FOUND: Final = "No artifact {scope} has this in its name, type or id.\nesc shows all."


class ArtifactsScreen(SearchBrowser):
    """Shows a list of artifacts, and the facts and content of the current one."""

    place = "artifacts"
    heading = "Artifacts"
    placeholder = "{artifacts.search} searches names and types"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("artifacts")
    DEFAULT_CSS = """
    ArtifactsScreen #list { width: 2fr; }
    ArtifactsScreen #side { width: 3fr; }
    """

    def __init__(
        self,
        services: AppServices,
        clipboard: Clipboard,
        session: str,
        run_id: str | None,
        wanted: str | None = None,
    ) -> None:
        super().__init__(services, clipboard)
        self._session, self._run_id = session, run_id
        self._wanted = wanted
        """The id or name of an artifact of the run; the cursor starts on it."""
        self._scope = "session" if wanted is None else "run"
        self._folds = Folds()
        """The folds of the content at the side."""
        self._previewed: tuple[ArtifactRow, SideData] | None = None
        self._source: Source | None = None
        """The preview of `_previewed`."""
        self._saving = ""
        """The progress of a save."""

    # Reading

    def open_reader(self) -> None:
        self.reader = self._new_reader()

    def read_first_page(self) -> Awaitable[None]:
        return self.reader.load_first()

    def _new_reader(self, text: str = "") -> ArtifactReader:
        return ArtifactReader(
            self.services.active_session.engine,
            session=self._session if self._scope == "session" else None,
            run_id=self._run_id if self._scope == "run" else None,
            text=text,
        )

    def read_next_page(self) -> Awaitable[None] | None:
        return None if self.reader.is_complete else self.reader.load_more()

    async def read_changes(self) -> bool:
        return await self.reader.refresh()

    @property
    def searched_text(self) -> str:
        return self.reader.text

    async def search_for(self, text: str) -> None:
        reader = self._new_reader(text)
        await reader.load_first()
        self.reader = reader

    # Showing

    def list_items(self) -> ListItems:
        return ListItems([Item(row.artifact_id, partial(self._row, row), row) for row in self.reader.rows.values()])

    def _row(self, row: "ArtifactRow", width: int) -> Row:
        return artifact_row(row, self._now, width)

    def empty_text(self) -> str:
        scope = _SCOPES[self._scope]
        if self.reader.text:
            return _NONE_FOUND.format(scope=scope)
        others = f"{key_of('artifacts.whose')} shows those {_SCOPES[self._next_scope]}."
        hint = others if self._scope != "all" else "Send a message first."
        return _NONE.format(scope=scope, hint=hint)

    def show_list(self) -> None:
        super().show_list()
        wanted = (row.artifact_id for row in self.reader.rows.values() if self._wanted in (row.artifact_id, row.name))
        if self._wanted is not None and (found := next(wanted, None)) is not None:
            self._wanted = None
            self.list.go_to(self.list.source.place_of(found) or 0)

    def remark(self) -> str:
        if self._saving:
            return self._saving
        count = len(self.reader.rows)
        counted = number(count, "artifact") if self.reader.is_complete else f"{count:,}+ artifacts"
        return f"{counted} {_SCOPES[self._scope]}"

    @property
    def _now(self) -> int:
        return self.services.active_session.engine.now()

    # The current artifact

    @property
    def current(self) -> "ArtifactRow | None":
        item = self.list.current
        return None if item is None else self.reader.rows.get(item.id)

    def on_item_list_moved(self) -> None:
        self._folds = Folds()
        super().on_item_list_moved()

    def side_rows(self) -> Source | None:
        if (row := self.current) is None:
            return None
        looked = SideData()
        if has_content(row, self._now):
            looked = self.load_side(row.artifact_id, partial(self._read_head, row))
        if self._source is None or self._previewed != (row, looked):
            self._previewed = row, looked
            self._source = preview(row, looked.value, self._now, self._folds, looked.note)
        return self._source

    async def _read_head(self, row: "ArtifactRow") -> bytes:
        return await self.services.active_session.engine.artifacts.preview(row.artifact_id, limit=PREVIEW_BYTES)

    def on_item_list_chosen(self) -> None:
        self.action_open()

    # Commands

    def why_not(self, what: str) -> str | None:
        row = self.current
        if what in ("open", "copy", "save", "aside") and row is None:
            return "There is no artifact here."
        if what == "save" and row is not None and not has_content(row, self._now):
            return "The content of this artifact is not stored here, or has expired."
        return None

    def action_open(self) -> None:
        if not self.services.check_can("artifacts.open"):
            return
        if self.is_inside:
            self.side.fold()
        else:
            self.focus_side()

    def action_copy(self) -> None:
        if self.services.check_can("artifacts.copy") and not self.copy_line() and (row := self.current) is not None:
            self._clipboard.copy(row.artifact_id, "the id")

    @property
    def _next_scope(self) -> str:
        order = [each for each in _SCOPES if each != "run" or self._run_id is not None]
        return order[(order.index(self._scope) + 1) % len(order)]

    def action_whose(self) -> None:
        self._scope = self._next_scope
        self.list.clear()
        self.read(self.search_for(self.reader.text), self.show)

    # Saving

    def action_save(self) -> None:
        if self.services.check_can("artifacts.save") and (row := self.current) is not None:
            self.services.run_in_background(self._save(row))

    async def _save(self, row: "ArtifactRow") -> None:
        """Ask for a path until the artifact is saved, or the user gives up."""
        typed: str | None = suggested_name(row.name, row.artifact_id)
        name, problem = typed, ""
        while (typed := await self.app.push_screen_wait(SaveAs(typed, problem))) is not None:
            path = await asyncio.to_thread(target_path, typed, name)
            try:
                written = await self._write(row, path)
            except OSError as error:
                problem = f"{path} cannot be written: {error.strerror or error}. Choose another file."
                continue
            except Exception as error:  # noqa: BLE001  (the content may be gone; any failure is shown)
                self.services.show_toast(f"{name_of(row)} cannot be read: {error}", severity="error")
                return
            if written is not None:
                self.services.show_toast(f"Saved {size(written)} to {path}")
                return
            problem = f"{path} was not overwritten. Choose another file."

    async def _write(self, row: "ArtifactRow", path: "Path") -> int | None:
        """Save to a file. Returns the number of bytes, or None if the user keeps an existing file."""
        engine = self.services.active_session.engine
        self._show_save_progress(row, 0)
        try:
            with slow_notice(self, self.show_remark, repeat=True):
                try:
                    return await save_artifact(engine, row, path, overwrite=False, progress=self._show_save_progress)
                except TargetExists:
                    ask = Question(f"{one_line(str(path))} already exists. Overwrite it?", "Overwrite", "Cancel")
                    if not await self.app.push_screen_wait(ask):
                        return None
                    return await save_artifact(engine, row, path, overwrite=True, progress=self._show_save_progress)
        finally:
            self._saving = ""
            self.show_remark()

    def _show_save_progress(self, row: "ArtifactRow", written: int) -> None:
        share = f" · {min(99, 100 * written // row.size_bytes)}%" if row.size_bytes else ""
        self._saving = f"Saving {one_line(name_of(row), 30)}: {size(written)}{share}"
