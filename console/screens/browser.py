"""A list, and at its side what is to be known of the thing that the cursor is on."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal

from console.model.glyphs import Glyphs
from console.model.situation import TO_THE_LIST
from console.screens.full import SLOW, FullScreen
from console.widgets.inspector.row_list import RowList, View
from console.widgets.listing import Listing

if TYPE_CHECKING:
    from console.model.inspect.sheet import Source


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

    def __init__(self, glyphs: Glyphs, listing: Listing | None = None) -> None:
        super().__init__(glyphs)
        self.list = listing or Listing()
        self.list.id = "list"
        self.list.is_marked = True  # it is what the side speaks of, whatever has the focus
        self.side = RowList(id="side")
        self.side.is_quiet = True
        self.list.glyphs = self.side.glyphs = glyphs
        self._told_of = ""
        self._looked = Looked()
        self._looked_for = ""
        self._is_stale = False
        """What was looked up may be something else by now."""

    def body(self) -> ComposeResult:
        with Pair():
            yield self.list
            yield self.side

    def use(self, glyphs: Glyphs) -> None:
        super().use(glyphs)
        for each in (self.list, self.side):
            each.glyphs = glyphs
            each.redraw()
        self.show_side()

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
        slow = self.set_timer(SLOW, partial(self._has_looked, name, Looked(words="reading…")))
        try:
            looked = Looked(await read(), is_there=True)
        except Exception as error:  # noqa: BLE001  (whatever it was, it is said where the thing would be)
            looked = Looked(words=str(error) or type(error).__name__)
        finally:
            slow.stop()
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
        self.trackside.copy(view.source.copied(view.cursor), "the line")
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
        return TO_THE_LIST if self.is_inside else super().back

    def step_back(self) -> None:
        if self.is_inside:
            self.enter(is_inside=False)
        else:
            self.leave()

    def action_aside(self) -> None:
        if self.is_inside or self.trackside.can(f"{self.place}.aside"):
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
