"""A browser that is searched by typing, and that looks by itself whether anything is new."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.widgets import Input

from console.model.commands.naming import keyed
from console.model.glyphs import Glyphs
from console.model.shelf import Shelf
from console.model.situation import TO_THE_LIST
from console.screens.browser import Browser
from console.widgets.asking_line import AskingLine
from console.widgets.listing import Listing

AGAIN: Final = 1.0
"""Seconds after which it looks whether anything is new."""


class Searched(Browser):
    """What it lists is read in pages: the first of them when it is opened, the next near the end of the list."""

    DEFAULT_CSS = """
    Searched #search { height: 1; border: none; padding: 0 1; background: $surface; }
    Searched #search:focus { border: none; background: $boost; }
    """
    placeholder: ClassVar[str]
    """Keys are named by their commands."""

    def __init__(self, glyphs: Glyphs, listing: Listing | None = None) -> None:
        super().__init__(glyphs, listing)
        self.search = Input(placeholder=keyed(self.placeholder), id="search", select_on_focus=False)
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
        if self.trouble and self._is_behind:
            self._search()
        elif self.trouble and not self.list.shelf.height:
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
        return TO_THE_LIST if self.search.has_focus else super().back

    @property
    def own_keys(self) -> Sequence[tuple[str, str]]:
        if self.line.is_open:
            return (("enter", "take it"),)
        if self.search.has_focus:
            return (("enter", "to what was found" if self.search.value else TO_THE_LIST),)
        return ()

    @property
    def keys_of(self) -> str:
        return "" if isinstance(self.focused, Input) else self.place

    # What is shown

    @property
    def reads(self) -> str:
        return "searching…" if self._is_searching else super().reads

    def shelf(self) -> Shelf:
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
        self.list.fill(self.shelf(), f"It cannot be read: {self.trouble}" if self.trouble else self.nothing())
        self.show_remark()
