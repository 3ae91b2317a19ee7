"""A list, and at its side what is to be known of the thing that the cursor is on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from console.model.commands.key_labels import with_keys
from console.model.commands.situation import TO_LIST
from console.model.text.lists import ListItems
from console.ui.shared.ask_line import AskingLine
from console.ui.shared.full_screen import FullScreen
from console.ui.shared.list import Listing, RowList, View
from console.ui.shared.slow_notice import slow_notice

if TYPE_CHECKING:
    from console.model.text.lists import Source
    from console.ui.shared.clipboard import Clipboard
    from console.ui.shared.services import AppServices


class Looked(NamedTuple):
    """What was looked up for the side, so far."""

    value: Any = None
    is_there: bool = False
    words: str = ""
    """What is said in its place: why it cannot be read, or that it takes long."""


class Pair(Horizontal):
    """Two beside each other, which cover all of it."""

    BLANK = True  # else each of its lines is drawn, too


class Browser(FullScreen):
    """Where there is little room, the list or the side; else both. Whose keys it has depends on which has the focus."""

    AUTO_FOCUS = "#list"
    DEFAULT_CSS = """
    Browser #list { width: 3fr; height: 1fr; }
    Browser #side { width: 2fr; height: 1fr; padding: 0 1 0 0; border-left: solid $panel-lighten-2; }
    Browser.-narrow #list, Browser.-narrow #side { width: 1fr; border: none; }
    Browser.-narrow #side { display: none; }
    Browser.-narrow.-inside #side { display: block; }
    Browser.-narrow.-inside #list { display: none; }
    """

    def __init__(self, services: "AppServices", clipboard: "Clipboard", listing: Listing | None = None) -> None:
        super().__init__(services)
        self._clipboard = clipboard
        self.list = listing or Listing()
        self.list.id = "list"
        self.list.is_marked = True  # it is what the side speaks of, whatever has the focus
        self.side = RowList(id="side")
        self.side.is_quiet = True
        self._told_of = ""
        self._looked = Looked()
        self._looked_for = ""
        self._is_stale = False
        """What was looked up may be something else by now."""

    def body(self) -> ComposeResult:
        with Pair():
            yield self.list
            yield self.side

    # What is told at the side

    def tell(self) -> "Source | None":
        """What is to be known of the thing that the cursor is on."""
        raise NotImplementedError

    def show_side(self) -> None:
        """Tell it as it is now; of the same thing one stays where one was."""
        if self.has_class("-narrow") and not self.is_inside:
            return
        self.side.attempt(self._show_side)

    def _show_side(self) -> None:
        source, view = self.tell(), self.side.view
        current = self.list.current
        name = current.id if current is not None else ""
        is_same = name == self._told_of and view is not None
        self._told_of = name
        at = (view.cursor, view.top) if is_same and view is not None else (0, 0)
        self.side.show(None if source is None else View(source, *at))

    def on_listing_moved(self) -> None:
        self.show_side()

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_side)  # there may be room for it now

    def look_up(self, name: str, read: Callable[[], Awaitable[object]]) -> Looked:
        """Something that the side needs: nothing at first, and when it is there the side is shown again."""
        is_other = name != self._looked_for
        if is_other:
            self._looked_for, self._looked = name, Looked()
        if is_other or self._is_stale:
            self._is_stale = False
            self.run_worker(partial(self._look_up, name, read), exclusive=True, group="side", exit_on_error=False)
        return self._looked

    def look_again(self) -> None:
        """What was looked up may be something else by now; until that is there, it is told as it was."""
        self._is_stale = True

    async def _look_up(self, name: str, read: Callable[[], Awaitable[object]]) -> None:
        try:
            with slow_notice(self, partial(self._has_looked, name, Looked(words="Reading…"))):
                looked = Looked(await read(), is_there=True)
        except Exception as error:  # noqa: BLE001  (whatever it was, it is said where the thing would be)
            looked = Looked(words=str(error) or type(error).__name__)
        self._has_looked(name, looked)

    def _has_looked(self, name: str, looked: Looked) -> None:
        if name == self._looked_for:
            self._looked = looked
            self.show_side()

    def copy_line(self) -> bool:
        """In the side, copy what the cursor is on there; whether one is in it."""
        view = self.side.view
        if not self.is_inside or view is None:
            return False
        self._clipboard.copy(view.source.copied(view.cursor), "the line")
        return True

    # Where one is

    @property
    def is_inside(self) -> bool:
        """The side has the focus."""
        return self.side.has_focus

    def enter(self, *, is_inside: bool) -> None:
        """Go to the side, or back to the list."""
        self.set_class(is_inside, "-inside")
        (self.side if is_inside else self.list).focus()

    def on_descendant_focus(self) -> None:
        """Wherever the focus comes from, it is on what is seen."""
        if self.has_class("-inside") != self.is_inside:
            self.set_class(self.is_inside, "-inside")
        self.show_side()

    @property
    def back(self) -> str:
        return TO_LIST if self.is_inside else super().back

    def step_back(self) -> None:
        if self.is_inside:
            self.enter(is_inside=False)
        else:
            self.close_screen()

    def action_aside(self) -> None:
        if self.is_inside or self.services.check_can(f"{self.place}.aside"):
            self.enter(is_inside=not self.is_inside)

    # Moving in what has the focus

    @property
    def _moving(self) -> RowList:
        return self.side if self.is_inside else self.list

    def action_move(self, rows: int) -> None:
        self._moving.move(rows)

    def action_page(self, pages: int) -> None:
        self._moving.page(pages)

    def action_edge(self, is_last: int) -> None:
        self._moving.edge(is_last=bool(is_last))


AGAIN: Final = 1.0
"""Seconds after which it looks whether anything is new."""


class SearchBrowser(Browser):
    """What it lists is read in pages: the first of them when it is opened, the next near the end of the list."""

    DEFAULT_CSS = """
    SearchBrowser #search { height: 1; border: none; padding: 0 1; background: $surface; }
    SearchBrowser #search:focus { border: none; background: $boost; }
    """
    placeholder: ClassVar[str]
    """Keys are named by their commands."""

    def __init__(self, services: "AppServices", clipboard: "Clipboard", listing: Listing | None = None) -> None:
        super().__init__(services, clipboard, listing)
        self.search = Input(placeholder=with_keys(self.placeholder), id="search", select_on_focus=False)
        self.line = AskingLine()
        self._has_begun = False
        self._is_searching = False

    def body(self) -> ComposeResult:
        yield self.search
        yield from super().body()
        yield self.line

    def on_mount(self) -> None:
        self.take_a_desk()  # a key may be pressed before the first page is read
        self.read(self._begin(), self._show_first)
        self.set_interval(AGAIN, self._look_again)

    async def _begin(self) -> None:
        """After the first frame: two who want the one interpreter would keep each other waiting."""
        drawn = asyncio.Event()
        self.call_after_refresh(drawn.set)
        await drawn.wait()
        self._has_begun = True
        await self.begin()

    def _show_first(self) -> None:
        self.show()
        if self._is_behind:  # someone was quicker
            self._search()

    # What each reads

    def take_a_desk(self) -> None:
        """Have who is asked for all that is listed; nothing is read yet."""
        raise NotImplementedError

    def begin(self) -> Awaitable[None]:
        """The first page."""
        raise NotImplementedError

    def more(self) -> Awaitable[None] | None:
        """The next page, if there is one."""
        raise NotImplementedError

    async def freshen(self) -> bool:
        """What is new; whether there is anything to be shown."""
        raise NotImplementedError

    @property
    def sought(self) -> str:
        """What was searched for, of which the list is."""
        raise NotImplementedError

    async def find(self, text: str) -> None:
        """List what holds this; all, where it is empty."""
        raise NotImplementedError

    def on_listing_want_more(self) -> None:
        if not self.reading and (more := self.more()) is not None:
            self.read(more, self._show_more)

    def _show_more(self) -> None:
        self.list.ask_again()
        self.show()

    def _look_again(self) -> None:
        if not self.is_current or self.reading:
            return
        if self.read_error and self._is_behind:
            self._search()
        elif self.read_error and not self.list.shelf.height:
            self.read(self.begin(), self.show)
        else:
            self.run_worker(self._freshen, exit_on_error=False)

    async def _freshen(self) -> None:
        if await self.freshen():
            self.show()
        else:
            self.list.redraw()  # it was longer ago by now

    # Searching

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input is self.search:
            self._search()

    @property
    def _is_behind(self) -> bool:
        """Something else is typed than was searched for."""
        return self.search.value.strip() != self.sought

    def _search(self) -> None:
        """One search at a time: what is typed meanwhile is looked for when it is over."""
        if self._has_begun and not self._is_searching:
            self._is_searching = True
            self.read(self._find(), self.show)

    async def _find(self) -> None:
        try:
            while self._is_behind:
                await self.find(self.search.value.strip())
                self.list.start_over()
        finally:
            self._is_searching = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes to what was found."""
        if event.input is self.search:
            self.list.focus()

    def action_search(self) -> None:
        self.search.focus()

    def step_back(self) -> None:
        if self.line.close():
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
        if self.line.is_open:
            return "leave it"
        if self.search.value and not self.is_inside:
            return "clear"
        return TO_LIST if self.search.has_focus else super().back

    @property
    def own_keys(self) -> Sequence[tuple[str, str]]:
        if self.line.is_open:
            return (("enter", "take it"),)
        if self.search.has_focus:
            return (("enter", "to what was found" if self.search.value else TO_LIST),)
        return ()

    @property
    def keys_of(self) -> str:
        return "" if isinstance(self.focused, Input) else self.place

    # What is shown

    @property
    def reads(self) -> str:
        return "searching…" if self._is_searching else super().reads

    def shelf(self) -> ListItems:
        """All that was read, as it is now."""
        raise NotImplementedError

    def nothing(self) -> str:
        """What is said where that is nothing."""
        raise NotImplementedError

    def show(self) -> None:
        """The list and the side as they are now."""
        if self.is_attached:
            self.list.attempt(self._show)
            self.call_after_refresh(self.show_side)  # each is drawn by itself: that is two short frames

    def _show(self) -> None:
        self.list.fill(self.shelf(), f"It cannot be read: {self.read_error}" if self.read_error else self.nothing())
        self.show_remark()
