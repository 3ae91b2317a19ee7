"""The state browser: the state of runners in all scopes, to view, edit, and undo edits."""

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import BindingType

from console.data.state import KeyHistoryReader, NotFound, StateChange, StateConflict, StateReader
from console.model.commands.key_labels import key_of, with_keys
from console.model.inspector.json_tree import Tree
from console.model.state.json_text import to_json_text
from console.model.state.keys import StateListRow, key_id
from console.model.state.rows import (
    DELETED,
    change_row,
    conflict_text,
    key_details,
    key_row,
    scope_details,
    scope_label,
    scope_row,
)
from console.model.text.folds import Folds
from console.model.text.lists import Item, ListItems, LongListItems, Row, Source, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import number
from console.ui.shared.bindings import bindings_for
from console.ui.shared.browser import SearchBrowser
from console.ui.shared.clipboard import Clipboard
from console.ui.shared.services import AppServices
from console.ui.state.controller import StateController
from console.ui.state.edit import EditValue
from engine.events import Expected

if TYPE_CHECKING:
    from engine.api import ScopeIdentity, StateEdit, StateRow

_NO_STATE: Final = (
    "No state yet.\nState that a runner writes with state_set, or reports as state.updated, appears here."
)
_NONE_FOUND: Final = "No key or scope matches.\nesc shows all."
_NONE_IN_SESSION: Final = "This session has no state.\n{states.whose} shows the state of all runners."
BACK: Final = "esc goes back to the keys"
_NEEDS_KEY: Final = frozenset({"edit", "delete", "history", "copy", "fold"})
"""Commands that act on the key at the cursor."""


class StateScreen(SearchBrowser):
    """Shows the keys under their scopes, or the history of one key."""

    place = "states"
    heading = "State"
    placeholder = "{states.search} searches keys and scopes"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("states")

    def __init__(self, services: AppServices, controller: StateController, clipboard: Clipboard, session: str) -> None:
        super().__init__(services, clipboard)
        self._controller = controller
        self._session = session
        self.history: KeyHistoryReader | None = None
        """The reader of the history that is shown; None while keys are shown."""
        self._row_before_history = ""
        self._folds = Folds()
        """The folds of the value at the side."""

    # Reading

    def open_reader(self) -> None:
        self.reader = StateReader(self.services.active_session.engine)

    def read_first_page(self) -> Awaitable[None]:
        return self.reader.load_first()

    def read_next_page(self) -> Awaitable[None] | None:
        reader = self.history or self.reader
        return None if reader.is_complete else reader.load_more()

    async def read_changes(self) -> bool:
        is_new = self.history is None and await self.reader.refresh(self.list.visible_rows.start)
        if is_new:
            self.expire_side()
        return is_new

    @property
    def searched_text(self) -> str:
        return self.reader.text

    async def search_for(self, text: str) -> None:
        await self._switch_reader(StateReader(self.services.active_session.engine, text, self.reader.session))

    async def _switch_reader(self, reader: StateReader) -> None:
        await reader.load_first()
        self.reader, self.history = reader, None
        self.list.clear()

    async def _reload(self) -> None:
        self.expire_side()
        if self.history is not None:
            self.history = KeyHistoryReader(self.services.active_session.engine, self.history.row)
            await self.history.load_more()
        await self.reader.reload()
        self.show()

    # Showing

    def empty_text(self) -> str:
        if self.history is not None:
            return "No change of this key is recorded."
        return with_keys(
            _NONE_FOUND if self.reader.text else _NONE_IN_SESSION if self.reader.session is not None else _NO_STATE
        )

    def remark(self) -> str:
        if (history := self.history) is not None:
            changes = len(history.changes)
            count = number(changes, "change") if history.is_complete else f"{changes:,}+ changes"
            return f"History of {one_line(history.row.key, 30)} · {count}"
        whose = "of this session" if self.reader.session is not None else "of all runners"
        keys = self.reader.keys.count
        return f"{number(keys, 'key') if self.reader.is_complete else f'{keys:,}+ keys'} {whose}"

    def list_items(self) -> ListItems:
        if self.history is not None:
            return ListItems([self._change_item(change) for change in self.history.changes])
        return LongListItems(self.reader.keys.rows, self._item, self.reader.keys.index_of)

    def show_list(self) -> None:
        was_scope = self._current is not None and self._current.row is None
        self.search.disabled = self.history is not None  # a search would leave the history
        self.search.placeholder = BACK if self.history is not None else with_keys(self.placeholder)
        super().show_list()
        if not was_scope and self._current is not None and self._current.row is None:
            self.list.move(
                1
            )  # the user did not choose the scope: go to the first key, or to the one after a deleted one

    def _item(self, entry: StateListRow) -> Item:
        return Item(entry.id, partial(self._row, entry), entry)

    def _row(self, entry: StateListRow, width: int) -> Row:
        if entry.row is not None:
            return key_row(entry.row, width, self._now)
        return scope_row(entry.scope, self._title_of(entry.scope), width)

    def _title_of(self, scope: "ScopeIdentity") -> str:
        return self.reader.titles.get(scope.conversation_id, "")

    def _change_item(self, change: StateChange) -> Item:
        return Item(f"#{change.number}", partial(self._change_row, change), change)

    def _change_row(self, change: StateChange, width: int) -> Row:
        return change_row(change, width, self._now)

    @property
    def _now(self) -> int:
        return self.services.active_session.engine.now()

    # The row at the cursor

    @property
    def _current(self) -> StateListRow | None:
        thing = self.list.current.thing if self.list.current is not None else None
        return thing if isinstance(thing, StateListRow) else None

    @property
    def row(self) -> "StateRow | None":
        """The key at the cursor, or the key whose history is shown."""
        if self.history is not None:
            return self.history.row
        return self._current.row if self._current is not None else None

    @property
    def change(self) -> StateChange | None:
        """The change at the cursor, in a history."""
        thing = self.list.current.thing if self.list.current is not None else None
        return thing if isinstance(thing, StateChange) else None

    @property
    def scope(self) -> "ScopeIdentity | None":
        """The scope of the row at the cursor."""
        if self.history is not None:
            return self.history.row.identity
        return self._current.scope if self._current is not None else None

    def side_rows(self) -> Source | None:
        row, change, scope = self.row, self.change, self.scope
        if row is None:
            return None if scope is None else scope_details(scope, self._title_of(scope))
        title = self._title_of(row.identity)
        return key_details(row, title, change, self._now, self._value_of(row, change))

    def _value_of(self, row: "StateRow", change: StateChange | None) -> Source:
        if change is not None and change.glimpse is None:
            return Text(Piece(DELETED, "removed"))
        name = f"{row.identity.key}\n{row.key}\n{change.number if change else ''}"
        looked = self.load_side(name, partial(self._read_value, row, change))
        return Tree(looked.value, self._folds) if looked.is_loaded else Text(Piece(one_line(looked.note), "faint"))

    async def _read_value(self, row: "StateRow", change: StateChange | None) -> Any:
        return await self.reader.value(row.identity, row.key, change.number if change is not None else None)

    def on_item_list_moved(self) -> None:
        self._folds = Folds()
        super().on_item_list_moved()

    # Commands

    def on_item_list_chosen(self) -> None:
        self.action_edit()

    @property
    def back(self) -> str:
        return "to the keys" if self._esc_leaves_history else super().back

    @property
    def _esc_leaves_history(self) -> bool:
        return self.history is not None and not self.ask_line.is_open and not self.is_inside

    def step_back(self) -> None:
        if self._esc_leaves_history:
            self._leave_history()
        else:
            super().step_back()

    def why_not(self, what: str) -> str | None:
        """Why a command is not available for the row at the cursor."""
        if what == "undo":
            return None if self._controller.can_undo else "There is no change to undo."
        if what in ("add", "clear", "aside") and self.scope is None:
            return "There is no state here."
        if what in _NEEDS_KEY and self.row is None:
            return "Choose a key first." if self.list.source.height else "There is no state here."
        if what == "fold" and not self.is_inside:
            return f"{key_of('states.aside')} goes to the value. Fold it there."
        return self._why_not_in_history(what) if self.history is not None else None

    def _why_not_in_history(self, what: str) -> str | None:
        if what in ("add", "clear", "delete", "history", "whose", "search"):
            return "This is the history of one key. esc goes back to the keys."
        change = self.change
        if what in ("edit", "copy") and (change is None or change.glimpse is None):
            return "This change deleted the key. Choose another change."
        return None

    def action_search(self) -> None:
        if self.services.check_can("states.search"):
            super().action_search()

    def action_whose(self) -> None:
        if self.services.check_can("states.whose"):
            session = self._session if self.reader.session is None else None
            self.focus_list()
            self.read(
                self._switch_reader(StateReader(self.services.active_session.engine, self.reader.text, session)),
                self.show,
            )

    def action_fold(self) -> None:
        if self.services.check_can("states.fold"):
            self.side.fold()

    def action_edit(self) -> None:
        row, change = self.row, self.change
        if self.services.check_can("states.edit") and row is not None:
            self.read(self._edit(row, change))

    async def _edit(self, row: "StateRow", change: StateChange | None) -> None:
        value = seen = await self._read_value(row, change)
        if change is not None:
            try:
                seen = await self._read_value(row, None)
            except NotFound:
                seen = Expected.NOTHING
        if self.app.screen is self:  # not if the key was pressed twice
            self._open_editor(row.identity, row.key, to_json_text(value), seen)

    def _open_editor(self, scope: "ScopeIdentity", key: str, text: str, seen: object) -> None:
        engine = self.services.active_session.engine

        async def save(value: Any, seen: object) -> None:
            act = engine.state.set(scope, key, value, expected=seen)
            await self._change_state(act, f"Saved {key}", key_id(scope, key))

        report = partial(self.services.show_toast, severity="error")
        title = f"{key} · {scope_label(scope, self._title_of(scope))}"
        self.app.push_screen(EditValue(title, text, save, seen, engine.now, report))

    def action_add(self) -> None:
        scope = self.scope
        if self.services.check_can("states.add") and scope is not None:
            add = partial(self._add, scope)
            self.ask_line.ask("Name of the new key", "", add, why_required="A key needs a name.")

    def _add(self, scope: "ScopeIdentity", key: str) -> None:
        self._open_editor(scope, key.strip(), "null", Expected.NOTHING)

    def action_delete(self) -> None:
        row = self.row
        if self.services.check_can("states.delete") and row is not None:
            self.run_with_progress(f"Deleting {one_line(row.key, 30)}…", self._delete(row))

    async def _delete(self, row: "StateRow") -> None:
        delete = self.services.active_session.engine.state.delete(row.identity, row.key, expected=row)
        try:
            await self._change_state(delete, f"Deleted {row.key}", key_id(row.identity, row.key))
        except StateConflict as conflict:
            await self._reload()
            key, now_text = one_line(row.key, 40), conflict_text(conflict, self._now)
            again = f"{key} is not deleted: {now_text} · {key_of('states.delete')} again deletes it"
            self.services.show_toast(
                f"{key}: {now_text}" if conflict.now is Expected.NOTHING else again, severity="warning"
            )

    def action_clear(self) -> None:
        scope = self.scope
        if self.services.check_can("states.clear") and scope is not None:
            clear = self.services.active_session.engine.state.clear(scope)
            row_id = self.list.current.id if self.list.current is not None else ""
            self.run_with_progress("Clearing the scope…", self._change_state(clear, "Cleared {count}", row_id))

    async def _change_state(self, act: "Awaitable[StateEdit]", toast: str, row_id: str) -> None:
        """Edit state and show a toast, in which `{count}` is the number of changed keys. Undo returns to `row_id`."""
        edit = await self._controller.edit(act, row_id)
        self.show_key_toast(toast.replace("{count}", number(edit.count, "key")), f"{key_of('states.undo')} undoes it")
        await self._reload()

    def action_undo(self) -> None:
        if self.services.check_can("states.undo"):
            self.dismiss_key_toasts()
            self.run_with_progress("Undoing…", self._undo())

    async def _undo(self) -> None:
        row_id = await self._controller.undo()
        await self._reload()
        self._go_to(row_id)

    def action_history(self) -> None:
        row = self.row
        if self.services.check_can("states.history") and row is not None and (current := self.list.current) is not None:
            self._row_before_history = current.id
            self.focus_list()  # the history is in the list
            self.history = KeyHistoryReader(self.services.active_session.engine, row)
            self.list.clear()
            self.read(self.history.load_more(), self.show)

    def _leave_history(self) -> None:
        self.history = None
        self.list.clear()
        self.show()
        self._go_to(self._row_before_history)

    def _go_to(self, row_id: str | None) -> None:
        if row_id is not None and self.is_attached and (place := self.list.source.place_of(row_id)) is not None:
            self.list.go_to(place)

    def action_copy(self) -> None:
        row, change = self.row, self.change
        if self.services.check_can("states.copy") and row is not None and not self.copy_line():
            self.read(self._copy(row, change))

    async def _copy(self, row: "StateRow", change: StateChange | None) -> None:
        self._clipboard.copy(to_json_text(await self._read_value(row, change)), f"the value of {row.key}")
