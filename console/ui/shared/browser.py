"""Full screens with a list, and beside it the details of the item under the cursor."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from console.data.health import error_text
from console.model.commands.key_labels import with_keys
from console.model.commands.situation import TO_LIST
from console.model.text.lists import ListItems
from console.ui.shared.ask_line import AskLine
from console.ui.shared.fields import SafeInput
from console.ui.shared.full_screen import FullScreen
from console.ui.shared.list import ItemList, RowList, View
from console.ui.shared.slow_notice import slow_notice

if TYPE_CHECKING:
    from console.model.text.lists import Source
    from console.ui.shared.clipboard import Clipboard
    from console.ui.shared.services import AppServices


class SideData(NamedTuple):
    """Data that was loaded for the side, so far."""

    value: Any = None
    is_loaded: bool = False
    note: str = ""
    """Shown in place of the value: that it is being read, or why it cannot be read."""


class ListAndSide(Horizontal):
    """List and side, which cover it."""

    BLANK = True  # otherwise each of its lines is drawn too


class Browser(FullScreen):
    """Shows list and side, or one of them if the screen is narrow. The keys are those of the focused one."""

    AUTO_FOCUS = "#list"
    DEFAULT_CSS = """
    Browser #list { width: 3fr; height: 1fr; }
    Browser #side { width: 2fr; height: 1fr; padding: 0 1 0 0; border-left: solid $panel-lighten-2; }
    Browser.-narrow #list, Browser.-narrow #side { width: 1fr; border: none; }
    Browser.-narrow #side { display: none; }
    Browser.-narrow.-inside #side { display: block; }
    Browser.-narrow.-inside #list { display: none; }
    """

    def __init__(self, services: "AppServices", clipboard: "Clipboard") -> None:
        super().__init__(services)
        self._clipboard = clipboard
        self.list = ItemList(id="list")
        self.list.keeps_cursor = True  # the side describes the item under the cursor
        self.side = RowList(id="side")
        self.side.only_jumps_to_links = True
        self._side_item = ""
        """The id of the item that the side describes."""
        self._side_data = SideData()
        self._side_data_id = ""
        self._is_side_data_stale = False

    def body(self) -> ComposeResult:
        with ListAndSide():
            yield self.list
            yield self.side

    # The side

    def side_rows(self) -> "Source | None":
        """The details of the item under the cursor."""
        raise NotImplementedError

    def show_side(self) -> None:
        """Update the side. For the same item, its cursor and scroll position stay."""
        if self.has_class("-narrow") and not self.is_inside:
            return
        self.side.attempt(self._show_side)

    def _show_side(self) -> None:
        source, view = self.side_rows(), self.side.view
        current = self.list.current
        item_id = current.id if current is not None else ""
        is_same = item_id == self._side_item and view is not None
        self._side_item = item_id
        position = (view.cursor, view.top) if is_same and view is not None else (0, 0)
        self.side.show(None if source is None else View(source, *position))

    def on_item_list_moved(self) -> None:
        self.show_side()

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_side)  # there may be room for it now

    def load_side(self, data_id: str, read: Callable[[], Awaitable[object]]) -> SideData:
        """Return the data of the side with this id. If it is not loaded yet, load it and then update the side."""
        is_other = data_id != self._side_data_id
        if is_other:
            self._side_data_id, self._side_data = data_id, SideData()
        if is_other or self._is_side_data_stale:
            self._is_side_data_stale = False
            self.run_worker(partial(self._load_side, data_id, read), exclusive=True, group="side", exit_on_error=False)
        return self._side_data

    def expire_side(self) -> None:
        """Load the data of the side again when it is next shown; until then the old data is shown."""
        self._is_side_data_stale = True

    async def _load_side(self, data_id: str, read: Callable[[], Awaitable[object]]) -> None:
        try:
            with slow_notice(self, partial(self._set_side_data, data_id, SideData(note="Reading…"))):
                data = SideData(await read(), is_loaded=True)
        except Exception as error:  # noqa: BLE001  (any failure is shown in place of the data)
            data = SideData(note=error_text(error))
        self._set_side_data(data_id, data)

    def _set_side_data(self, data_id: str, data: SideData) -> None:
        if data_id == self._side_data_id:
            self._side_data = data
            self.show_side()

    def copy_line(self) -> bool:
        """Copy the line under the side's cursor. Returns False if the side does not have the focus."""
        view = self.side.view
        if not self.is_inside or view is None:
            return False
        self._clipboard.copy(view.source.copied(view.cursor), "the line")
        return True

    # Focus

    @property
    def is_inside(self) -> bool:
        """Whether the side has the focus."""
        return self.side.has_focus

    def focus_side(self) -> None:
        self.add_class("-inside")
        self.side.focus()

    def focus_list(self) -> None:
        self.remove_class("-inside")
        self.list.focus()

    def on_descendant_focus(self) -> None:
        """Show the part that got the focus, whether by a key, a click or another screen."""
        if self.has_class("-inside") != self.is_inside:
            self.set_class(self.is_inside, "-inside")
        self.show_side()

    @property
    def back(self) -> str:
        return TO_LIST if self.is_inside else super().back

    def step_back(self) -> None:
        if self.is_inside:
            self.focus_list()
        else:
            self.close_screen()

    def action_aside(self) -> None:
        if self.is_inside:
            self.focus_list()
        elif self.services.check_can(f"{self.place}.aside"):
            self.focus_side()

    # Moving

    @property
    def _focused_list(self) -> RowList:
        return self.side if self.is_inside else self.list

    def action_move(self, rows: int) -> None:
        self._focused_list.move(rows)

    def action_page(self, pages: int) -> None:
        self._focused_list.page(pages)

    def action_edge(self, is_last: int) -> None:
        self._focused_list.edge(is_last=bool(is_last))


REFRESH_SECONDS: Final = 1.0
"""How often the list is checked for changes."""


class SearchBrowser(Browser):
    """A browser with a search line. Its list is read in pages: the first on opening, the next near the end."""

    DEFAULT_CSS = """
    SearchBrowser #search { height: 1; border: none; padding: 0 1; background: $surface; }
    SearchBrowser #search:focus { border: none; background: $boost; }
    """
    placeholder: ClassVar[str]
    """The placeholder of the search line; keys are written as command ids."""

    def __init__(self, services: "AppServices", clipboard: "Clipboard") -> None:
        super().__init__(services, clipboard)
        self.search = SafeInput(placeholder=with_keys(self.placeholder), id="search", select_on_focus=False)
        self.ask_line = AskLine()
        self._has_begun = False
        self._is_searching = False

    def body(self) -> ComposeResult:
        yield self.search
        yield from super().body()
        yield self.ask_line

    def on_mount(self) -> None:
        self.open_reader()  # a key may be pressed before the first page is read
        self.read(self._begin(), self._show_first_page)
        self.set_interval(REFRESH_SECONDS, self._refresh_list)

    async def _begin(self) -> None:
        """Read after the first frame: reading and drawing at once would delay each other."""
        drawn = asyncio.Event()
        self.call_after_refresh(drawn.set)
        await drawn.wait()
        self._has_begun = True
        await self.read_first_page()

    def _show_first_page(self) -> None:
        self.show()
        if self._is_search_outdated:  # the user typed meanwhile
            self._search()

    # Interface for subclasses

    def open_reader(self) -> None:
        """Create the reader of the list, without reading."""
        raise NotImplementedError

    def read_first_page(self) -> Awaitable[None]:
        raise NotImplementedError

    def read_next_page(self) -> Awaitable[None] | None:
        """Read the next page; None if there is none."""
        raise NotImplementedError

    async def read_changes(self) -> bool:
        """Read what has changed. Returns whether the list must be shown again."""
        raise NotImplementedError

    @property
    def searched_text(self) -> str:
        """The text that the list was last searched for."""
        raise NotImplementedError

    async def search_for(self, text: str) -> None:
        """Read the items that contain a text; all items if it is empty."""
        raise NotImplementedError

    def list_items(self) -> ListItems:
        """The items that were read."""
        raise NotImplementedError

    def empty_text(self) -> str:
        """The text that is shown if there are no items."""
        raise NotImplementedError

    # Reading

    def on_item_list_want_more(self) -> None:
        if not self.reading and (page := self.read_next_page()) is not None:
            self.read(page, self._show_next_page)

    def _show_next_page(self) -> None:
        self.list.want_more_again()
        self.show()

    def _refresh_list(self) -> None:
        if not self.is_current or self.reading:
            return
        if self.read_error and self._is_search_outdated:
            self._search()
        elif self.read_error and not self.list.source.height:
            self.read(self.read_first_page(), self.show)
        else:
            self.run_worker(self._read_changes, exit_on_error=False)

    async def _read_changes(self) -> None:
        if await self.read_changes():
            self.show()
        else:
            self.list.redraw()  # ages in the rows have changed

    # Searching

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input is self.search:
            self._search()

    @property
    def _is_search_outdated(self) -> bool:
        """Whether the typed text differs from the searched one."""
        return self.search.value.strip() != self.searched_text

    def _search(self) -> None:
        """Search, one search at a time: text that is typed meanwhile is searched for afterwards."""
        if self._has_begun and not self._is_searching:
            self._is_searching = True
            self.read(self._search_until_current(), self.show)

    async def _search_until_current(self) -> None:
        try:
            while self._is_search_outdated:
                await self.search_for(self.search.value.strip())
                self.list.clear()
        finally:
            self._is_searching = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter moves the focus to the list."""
        if event.input is self.search:
            self.list.focus()

    def action_search(self) -> None:
        self.search.focus()

    def step_back(self) -> None:
        if self.ask_line.close():
            return
        if self.search.has_focus and not self.search.value:
            self.list.focus()
        elif self.search.value and not self.is_inside:
            self.search.value = ""
            self.list.focus()
        else:
            super().step_back()

    @property
    def back(self) -> str:
        if self.ask_line.is_open:
            return "cancel"
        if self.search.value and not self.is_inside:
            return "clear"
        return TO_LIST if self.search.has_focus else super().back

    @property
    def own_keys(self) -> Sequence[tuple[str, str]]:
        if self.ask_line.is_open:
            return (("enter", "accept"),)
        if self.search.has_focus:
            return (("enter", "to the results" if self.search.value else TO_LIST),)
        return ()

    @property
    def keys_of(self) -> str:
        return "" if isinstance(self.focused, Input) else self.place

    # Showing

    @property
    def reads(self) -> str:
        return "Searching…" if self._is_searching else super().reads

    def show(self) -> None:
        """Update list and side."""
        if self.is_attached:
            self.list.attempt(self.show_list)
            self.call_after_refresh(self.show_side)  # in a frame of its own: two short frames

    def show_list(self) -> None:
        """Update the list and the remark."""
        self.list.fill(
            self.list_items(), f"The list cannot be read: {self.read_error}" if self.read_error else self.empty_text()
        )
        self.show_remark()
