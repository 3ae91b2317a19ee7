"""The state browser: what runners keep, in all scopes, to see, change, and take back."""

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import BindingType

from console.data.state import KeyHistoryReader, StateReader
from console.model.commands.key_labels import key_of, with_keys
from console.model.inspector.json_tree import Tree
from console.model.state.json_text import editable
from console.model.state.keys import StateKeyRow, name_of
from console.model.state.rows import (
    DELETED,
    about_key,
    about_scope,
    change_row,
    key_row,
    meanwhile,
    scope_row,
    scope_words,
)
from console.model.text.folds import Folds
from console.model.text.lists import Item, ListItems, LongListItems, Row, Source, Text
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import number
from console.ui.shared.bindings import bindings_for
from console.ui.shared.browser import SearchBrowser
from console.ui.state.edit import EditValue
from engine.api import Expected, NotFound, StateChange, StateConflict

if TYPE_CHECKING:
    from engine.api import ScopeIdentity, StateEdit, StateRow

_NOTHING: Final = "Nothing is kept yet.\nWhat a runner writes with state_set, or tells as state.updated, is seen here."
_NONE_FOUND: Final = "No key or scope holds that.\nesc shows all."
_NONE_HERE: Final = "Nothing is kept that this session sees.\n{states.whose} shows the state of all runners."
BACK: Final = "esc leads back to the keys"
_OF_A_KEY: Final = frozenset({"edit", "delete", "history", "copy", "fold"})


class StateScreen(SearchBrowser):
    """Keys under the scope that they belong to; or what became of one key, until esc."""

    place = "states"
    heading = "State"
    placeholder = "{states.search} searches keys and whose they are"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("states")

    def __init__(self, session: str) -> None:
        super().__init__()
        self._session = session
        self.past: KeyHistoryReader | None = None
        """The history that is shown."""
        self._came_from = ""
        self._folds = Folds()
        """Of the value that is told at the side."""

    # Reading

    def open_reader(self) -> None:
        self.desk = StateReader(self.trackside.stage.engine)

    def read_first_page(self) -> Awaitable[None]:
        return self.desk.load_first()

    def read_next_page(self) -> Awaitable[None] | None:
        source = self.past or self.desk
        return None if source.is_complete else source.load_more()

    async def read_changes(self) -> bool:
        is_new = self.past is None and await self.desk.refresh(self.list.visible_rows.start)
        if is_new:
            self.expire_side()
        return is_new

    @property
    def searched_text(self) -> str:
        return self.desk.text

    async def search_for(self, text: str) -> None:
        await self._turn(StateReader(self.trackside.stage.engine, text, self.desk.session))

    async def _turn(self, desk: StateReader) -> None:
        await desk.load_first()
        self.desk, self.past = desk, None
        self.list.clear()

    async def _read_again(self) -> None:
        self.expire_side()
        if self.past is not None:
            self.past = KeyHistoryReader(self.trackside.stage.engine, self.past.of)
            await self.past.load_more()
        await self.desk.reload()
        self.show()

    # What is shown

    def empty_text(self) -> str:
        if self.past is not None:
            return "It is not known what became of it."
        return with_keys(_NONE_FOUND if self.desk.text else _NONE_HERE if self.desk.session is not None else _NOTHING)

    def remark(self) -> str:
        if (past := self.past) is not None:
            count = number(len(past.changes), "change") if past.is_complete else f"{len(past.changes):,}+ changes"
            return f"history of {one_line(past.of.key, 30)} · {count}"
        whose = "of this session" if self.desk.session is not None else "of all runners"
        keys = self.desk.keys.count
        return f"{number(keys, 'key') if self.desk.is_complete else f'{keys:,}+ keys'} {whose}"

    def list_items(self) -> ListItems:
        if self.past is not None:
            return ListItems([self._change_item(change) for change in self.past.changes])
        return LongListItems(self.desk.keys.entries, self._item, self.desk.keys.place_of)

    def show_list(self) -> None:
        was_scope = self._entry is not None and self._entry.row is None
        self.search.disabled = self.past is not None  # it searches keys, and would leave the history
        self.search.placeholder = BACK if self.past is not None else with_keys(self.placeholder)
        super().show_list()
        if not was_scope and self._entry is not None and self._entry.row is None:
            self.list.move(1)  # who did not choose a scope is on a key: the first, or the next where one was deleted

    def _item(self, entry: StateKeyRow) -> Item:
        return Item(entry.name, partial(self._row, entry), entry)

    def _row(self, entry: StateKeyRow, width: int) -> Row:
        if entry.row is not None:
            return key_row(entry.row, width, self._now)
        return scope_row(entry.scope, self._title_of(entry.scope), width)

    def _title_of(self, scope: "ScopeIdentity") -> str:
        return self.desk.titles.get(scope.conversation_id, "")

    def _change_item(self, change: StateChange) -> Item:
        return Item(f"#{change.number}", partial(self._change_row, change), change)

    def _change_row(self, change: StateChange, width: int) -> Row:
        return change_row(change, width, self._now)

    @property
    def _now(self) -> int:
        return self.trackside.stage.engine.now()

    # What the cursor is on

    @property
    def _entry(self) -> StateKeyRow | None:
        thing = self.list.current.thing if self.list.current is not None else None
        return thing if isinstance(thing, StateKeyRow) else None

    @property
    def kept(self) -> "StateRow | None":
        """The key; in a history, the one whose it is."""
        if self.past is not None:
            return self.past.of
        return self._entry.row if self._entry is not None else None

    @property
    def change(self) -> StateChange | None:
        """The change of it, in a history."""
        thing = self.list.current.thing if self.list.current is not None else None
        return thing if isinstance(thing, StateChange) else None

    @property
    def scope(self) -> "ScopeIdentity | None":
        """The scope: of the key, or the heading's own."""
        if self.past is not None:
            return self.past.of.identity
        return self._entry.scope if self._entry is not None else None

    def side_rows(self) -> Source | None:
        kept, change, scope = self.kept, self.change, self.scope
        if kept is None:
            return None if scope is None else about_scope(scope, self._title_of(scope))
        title = self._title_of(kept.identity)
        return about_key(kept, title, change, self._now, self._value_of(kept, change))

    def _value_of(self, kept: "StateRow", change: StateChange | None) -> Source:
        if change is not None and change.glimpse is None:
            return Text(Piece(DELETED, "removed"))
        name = f"{kept.identity.key}\n{kept.key}\n{change.number if change else ''}"
        looked = self.load_side(name, partial(self._read_value, kept, change))
        return Tree(looked.value, self._folds) if looked.is_loaded else Text(Piece(one_line(looked.note), "faint"))

    async def _read_value(self, kept: "StateRow", change: StateChange | None) -> Any:
        return await self.desk.value(kept.identity, kept.key, change.number if change is not None else None)

    def on_item_list_moved(self) -> None:
        self._folds = Folds()
        super().on_item_list_moved()

    # Acting

    def on_item_list_chosen(self) -> None:
        self.action_edit()

    @property
    def back(self) -> str:
        return "to the keys" if self._leads_out_of_history else super().back

    @property
    def _leads_out_of_history(self) -> bool:
        return self.past is not None and not self.ask_line.is_open and not self.is_inside

    def step_back(self) -> None:
        if self._leads_out_of_history:
            self._leave_history()
        else:
            super().step_back()

    def why_not(self, what: str) -> str | None:
        """Why something cannot be done with what the cursor is on."""
        if what == "undo":
            return None if self.trackside.has_edited_state else "nothing was changed here that could be undone"
        if what in ("add", "clear", "aside") and self.scope is None:
            return "nothing is kept here"
        if what in _OF_A_KEY and self.kept is None:
            return "choose a key first" if self.list.source.height else "nothing is kept here"
        if what == "fold" and not self.is_inside:
            return f"{key_of('states.aside')} leads to the value; what is in it folds there"
        return self._why_not_in_history(what) if self.past is not None else None

    def _why_not_in_history(self, what: str) -> str | None:
        if what in ("add", "clear", "delete", "history", "whose", "search"):
            return "this is the history of one key; esc leads back"
        change = self.change
        if what in ("edit", "copy") and (change is None or change.glimpse is None):
            return "it was deleted then; choose another change"
        return None

    def action_search(self) -> None:
        if self.trackside.can("states.search"):
            super().action_search()

    def action_whose(self) -> None:
        if self.trackside.can("states.whose"):
            session = self._session if self.desk.session is None else None
            self.focus_list()
            self.read(self._turn(StateReader(self.trackside.stage.engine, self.desk.text, session)), self.show)

    def action_fold(self) -> None:
        if self.trackside.can("states.fold"):
            self.side.fold()

    def action_edit(self) -> None:
        kept, change = self.kept, self.change
        if self.trackside.can("states.edit") and kept is not None:
            self.read(self._edit(kept, change))

    async def _edit(self, kept: "StateRow", change: StateChange | None) -> None:
        value = seen = await self._read_value(kept, change)
        if change is not None:
            try:
                seen = await self._read_value(kept, None)
            except NotFound:
                seen = Expected.NOTHING
        if self.app.screen is self:  # who pressed the key twice has one already
            self._open_editor(kept.identity, kept.key, editable(value), seen)

    def _open_editor(self, scope: "ScopeIdentity", key: str, text: str, seen: object) -> None:
        engine = self.trackside.stage.engine

        async def save(value: Any, seen: object) -> None:
            act = engine.state.set(scope, key, value, expected=seen)
            await self._change_state(act, f"wrote {key}", name_of(scope, key))

        title = f"{key} · {scope_words(scope, self._title_of(scope))}"
        self.app.push_screen(EditValue(title, text, save, seen, engine.now))

    def action_add(self) -> None:
        scope = self.scope
        if self.trackside.can("states.add") and scope is not None:
            add = partial(self._add, scope)
            self.ask_line.ask("Name of the new key", "", add, why_required="A key needs a name.")

    def _add(self, scope: "ScopeIdentity", key: str) -> None:
        self._open_editor(scope, key.strip(), "null", Expected.NOTHING)

    def action_delete(self) -> None:
        kept = self.kept
        if self.trackside.can("states.delete") and kept is not None:
            self.do(f"deleting {one_line(kept.key, 30)}…", self._delete(kept))

    async def _delete(self, kept: "StateRow") -> None:
        delete = self.trackside.stage.engine.state.delete(kept.identity, kept.key, expected=kept)
        try:
            await self._change_state(delete, f"deleted {kept.key}", name_of(kept.identity, kept.key))
        except StateConflict as moved:
            await self._read_again()
            key, words = one_line(kept.key, 40), meanwhile(moved, self._now)
            again = f"{key} stays: {words} · {key_of('states.delete')} again deletes that"
            self.trackside.tell(f"{key}: {words}" if moved.now is Expected.NOTHING else again, severity="warning")

    def action_clear(self) -> None:
        scope = self.scope
        if self.trackside.can("states.clear") and scope is not None:
            clear = self.trackside.stage.engine.state.clear(scope)
            place = self.list.current.id if self.list.current is not None else ""
            self.do("clearing the scope…", self._change_state(clear, "cleared {count}", place))

    async def _change_state(self, act: "Awaitable[StateEdit]", said: str, place: str) -> None:
        """`{count}` in what is said of it is how many keys were changed; to its place one comes back."""
        edit = await self.trackside.edit_state(act, place)
        self.mention(said.replace("{count}", number(edit.count, "key")), f"{key_of('states.undo')} undoes it")
        await self._read_again()

    def action_undo(self) -> None:
        if self.trackside.can("states.undo"):
            self.hush()
            self.do("undoing it…", self._undo())

    async def _undo(self) -> None:
        came_back = await self.trackside.take_state_back()
        await self._read_again()
        self._go_back_to(came_back)

    def action_history(self) -> None:
        kept = self.kept
        if self.trackside.can("states.history") and kept is not None and (current := self.list.current) is not None:
            self._came_from = current.id
            self.focus_list()  # what became of it is in the list
            self.past = KeyHistoryReader(self.trackside.stage.engine, kept)
            self.list.clear()
            self.read(self.past.load_more(), self.show)

    def _leave_history(self) -> None:
        self.past = None
        self.list.clear()
        self.show()
        self._go_back_to(self._came_from)

    def _go_back_to(self, name: str | None) -> None:
        if name is not None and self.is_attached and (place := self.list.source.place_of(name)) is not None:
            self.list.go_to(place)

    def action_copy(self) -> None:
        kept, change = self.kept, self.change
        if self.trackside.can("states.copy") and kept is not None and not self.copy_line():
            self.read(self._copy(kept, change))

    async def _copy(self, kept: "StateRow", change: StateChange | None) -> None:
        self.trackside.copy(editable(await self._read_value(kept, change)), f"the value of {kept.key}")
