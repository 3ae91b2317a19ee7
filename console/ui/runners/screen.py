"""The runner picker: who can run, what each can do and may ask for, and which files were left out."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message
from textual.widgets import Input

from console.model.runners.choices import (
    AGENT,
    PLACE,
    PROBLEM,
    RUNNER,
    RunnerChoice,
    best,
    details,
    fitting,
    items,
    nothing,
)
from console.model.text import paths
from console.model.text.lists import Item, ListItems, Row, row
from console.model.text.paths import read_folder
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import number
from console.ui.shared.bindings import bindings_for
from console.ui.shared.details import Details
from console.ui.shared.full_screen import FullScreen
from console.ui.shared.list import Headed, Listing

_PLACE = "place "
"""How the name of a row begins that is a file or a folder."""


class Offered(NamedTuple):
    """All that there is to choose from, as it is now."""

    found: tuple[RunnerChoice, ...]
    chosen: str
    """The key of the one in use."""
    now: int


class RunnersScreen(FullScreen):
    """Typing searches; a path is opened. Enter takes what the cursor is on."""

    place = "runners"
    heading = "Runners"
    AUTO_FOCUS = "#search"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("runners")
    DEFAULT_CSS = """
    RunnersScreen #search { height: 3; border: round $accent; padding: 0 1; background: $background; }
    RunnersScreen #found { layout: horizontal; height: 1fr; }
    RunnersScreen Headed { width: 3fr; }
    RunnersScreen Details { width: 2fr; height: 1fr; padding: 0 2; border-left: solid $panel-lighten-2; }
    RunnersScreen.-narrow #found { layout: vertical; }
    RunnersScreen.-narrow Headed { width: 1fr; height: 1fr; }
    RunnersScreen.-narrow Details {
        width: 1fr; height: 45%; padding: 0 1; border: none; border-top: solid $panel-lighten-2;
    }
    RunnersScreen.-short #search { height: 1; border: none; }
    """

    class Take(Message):
        """Someone wants this one from now on."""

        def __init__(self, offer: RunnerChoice) -> None:
            super().__init__()
            self.offer = offer

    class OpenPlace(Message):
        """Someone wants the runner that lies here."""

        def __init__(self, path: str, *, is_listed: bool = False) -> None:
            super().__init__()
            self.path = path
            self.is_listed = is_listed
            """It was chosen from those that were opened before, not typed."""

    def __init__(self, ask: Callable[[], Awaitable[Offered]]) -> None:
        super().__init__()
        self._ask = ask
        self._offered: Offered | None = None
        self._folder = paths.FolderListing()
        """The folder of the path that is typed, as far as it is known."""
        self._wrong = ""
        """Why what is typed could not be opened."""
        self._is_awaited = False
        """Enter was pressed before there was anything to choose from."""
        self.search = Input(placeholder="search, or a path such as ./my_runner.py", id="search")
        self.search.cursor_blink = False
        self.list = Headed()
        self.list.can_focus = False  # typing goes on wherever the cursor is
        self.list.is_marked = True
        self.leaf = Details()

    def body(self) -> ComposeResult:
        yield self.search
        with Container(id="found"):
            yield self.list
            yield self.leaf

    def on_mount(self) -> None:
        self.read(self.look_again(), self._go_on)

    # What is shown

    async def look_again(self) -> None:
        """Other runners may be there, or another in use."""
        is_first = self._offered is None
        self._offered = await self._ask()
        self.refill()
        if is_first:
            self._go_to_best()

    def _go_to_best(self) -> None:
        """To what is searched for; else to the one in use, so that enter, pressed too soon, changes nothing."""
        text, offered = self.search.value, self._offered
        if offered is None or paths.is_path(text):
            return
        meant = best(fitting(offered.found, text), text) if text.strip() else None
        place = self.list.shelf.place_of(meant.key if meant is not None else offered.chosen)
        if place is not None:
            self.list.go_to(place)

    def _go_on(self) -> None:
        if self._is_awaited:
            self._is_awaited = False
            self.action_take()

    def refill(self) -> None:
        """The list as the search wants it."""
        text = self.search.value
        if paths.is_path(text):
            self._list_places(text)
        elif (offered := self._offered) is not None:
            shown = fitting(offered.found, text)
            self.list.fill(ListItems(list(items(shown, offered.now, offered.chosen))), nothing(text))
        self.show_remark()
        self._tell_more()

    def remark(self) -> str:
        if paths.is_path(self.search.value):
            names = self._folder.names
            return f"the first {len(names)} of more; type on" if names and self._folder.is_cut else "open by path"
        found = self._offered.found if self._offered is not None else ()
        counts = Counter(offer.kind for offer in found)
        told = [number(counts[AGENT], "agent")] if counts[AGENT] else []
        told.append(number(counts[RUNNER], "runner"))
        to_mend = sum(bool(offer.unfit) for offer in found)
        told += [f"{to_mend} to mend"] if to_mend else []
        return " · ".join([*told, f"{counts[PROBLEM]} left out"] if counts[PROBLEM] else told)

    def _list_places(self, text: str) -> None:
        beginning = paths.split_path(text)[1]
        if not self._folder.covers(text):
            self.run_worker(partial(self._look_in, text), exclusive=True, group="places", exit_on_error=False)
            return  # what stands there stays until it is known
        hits = paths.matching_names(self._folder.names, beginning)
        here = [Item(_PLACE, _this_folder)] if not beginning and not self._folder.problem else []
        self.list.start_over()
        shelf = ListItems([*here, *(Item(f"{_PLACE}{one.shown}", _place_row(one)) for one in hits)])
        self.list.fill(shelf, _no_place(text, self._folder))

    async def _look_in(self, text: str) -> None:
        self._folder = await read_folder(text)
        if paths.is_path(self.search.value):
            self.refill()

    def say(self, wrong: str) -> None:
        """What is typed could not be opened, and why; until something else is typed."""
        self._wrong = wrong
        self._tell_more()

    def _tell_more(self) -> None:
        offer = self.offer
        if paths.is_path(self.search.value):
            self.leaf.show(self._about_paths())
        elif offer is not None and self._offered is not None:
            self.leaf.show(details(offer, self._offered.now))
        else:
            self.leaf.show(())

    def _about_paths(self) -> Iterator[Sequence[Piece]]:
        if self._wrong:
            yield [Piece("✗ it cannot be opened", "failed")]
            for line in self._wrong.splitlines()[:8]:
                yield [Piece(one_line(line, 400), "text")]
            yield []
        yield [Piece("A Python file with a runner, a plugin's folder, or a folder of both.", "text")]
        yield [Piece("tab goes on with the name · enter opens it", "faint")]
        yield [Piece("`trackside new NAME` makes a runner that works at once.", "faint")]

    @property
    def offer(self) -> RunnerChoice | None:
        """What the cursor is on."""
        found = self._offered.found if self._offered is not None else ()
        return next((offer for offer in found if offer.key == self.list.chosen), None)

    # What a person does

    def on_input_changed(self) -> None:
        self._wrong = ""
        if not paths.is_path(self.search.value):
            self.list.start_over()
        self.refill()
        self._go_to_best()

    def on_listing_moved(self) -> None:
        self._tell_more()

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        event.stop()
        self.action_take()

    def on_input_submitted(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        text, offer = self.search.value, self.offer
        if paths.is_path(text):
            self._open_place(text)
        elif self._offered is None:
            self._is_awaited = True
        elif offer is None:
            self.trackside.tell(nothing(text).partition("\n")[0], severity="warning")
        elif offer.kind == PROBLEM:
            self.trackside.tell(f"{offer.path} is left out: {offer.label}", severity="warning")
        elif offer.kind == PLACE:
            self.post_message(self.OpenPlace(offer.name, is_listed=True))
        else:
            self.post_message(self.Take(offer))

    def _open_place(self, text: str) -> None:
        """What the cursor is on: a file is opened, a folder gone into; nothing fits, so what is typed is tried."""
        typed, _ = paths.split_path(text)
        chosen = self.list.chosen if self._folder.covers(text) else None
        name = (chosen or "").removeprefix(_PLACE)
        if name.endswith("/"):
            self._type(typed + name)
        else:
            path = typed + name if chosen is not None else text
            self.post_message(self.OpenPlace(path.rstrip("/") or path))

    def action_complete(self) -> None:
        """Tab: as much of a path as is certain."""
        text = self.search.value
        if not paths.is_path(text):
            self.trackside.tell("tab goes on with a path; type ./ to begin one")
        elif self._folder.covers(text):
            self._type(paths.complete_path(text, self._folder))

    def _type(self, text: str) -> None:
        self.search.value = text
        self.search.cursor_position = len(text)

    def action_move(self, rows: int) -> None:
        self.list.move(rows)

    def action_page(self, pages: int) -> None:
        self.list.page(pages)

    def why_not(self, what: str) -> str | None:
        return self.leaf.why_not(what)

    def action_scroll_details(self, pages: int) -> None:
        """On or back in what is told of the one that the cursor is on."""
        if self.trackside.can("runners.more" if pages > 0 else "runners.less"):
            self.leaf.page(pages)

    @property
    def back(self) -> str:
        return "clear" if self.search.value else super().back

    def step_back(self) -> None:
        """What is typed goes first."""
        if self.search.value:
            self._type("")
        else:
            self.leave()


def _this_folder(width: int) -> Row:
    return row(width, [Piece("./  ", "jump"), Piece("this folder: every runner in it", "faint")])


def _place_row(found: paths.FolderEntry) -> Callable[[int], Row]:
    def make(width: int) -> Row:
        return row(width, [Piece(one_line(found.shown), "jump" if found.is_folder else "strong")])

    return make


def _no_place(text: str, folder: paths.FolderListing) -> str:
    if folder.problem:
        return f"{one_line(paths.split_path(text)[0], 80)}: {folder.problem}."
    if folder.is_cut:
        return f"There are too many names here to look at them all.\nenter opens what is typed: {one_line(text, 80)}"
    return f"Nothing here begins so: {one_line(text, 80)}\nFolders and Python files are listed here."
