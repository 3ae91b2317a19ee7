"""The runner picker: agents and runners with their capabilities and permissions, and files that were left out."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from console.model.runners.choices import (
    ChoiceKind,
    RunnerChoice,
    best_match,
    choice_details,
    choice_items,
    empty_text,
    matching_choices,
)
from console.model.text import paths
from console.model.text.lists import Item, ListItems, Row, row
from console.model.text.paths import read_folder
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import number
from console.ui.shared.bindings import bindings_for
from console.ui.shared.details import Details
from console.ui.shared.fields import SafeInput
from console.ui.shared.full_screen import FullScreen
from console.ui.shared.list import ItemList
from console.ui.shared.services import AppServices

if TYPE_CHECKING:
    from console.ui.runners.controller import RunnersController

_PATH_ID = "place "
"""The prefix of the id of a row with a file or folder."""


class RunnerList(NamedTuple):
    """The choices of the picker."""

    choices: tuple[RunnerChoice, ...]
    key_in_use: str
    """The key of the choice in use."""
    now: int


class RunnersScreen(FullScreen):
    """Searches as the user types, or completes a path. Enter chooses the row at the cursor."""

    place = "runners"
    heading = "Runners"
    AUTO_FOCUS = "#search"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("runners")
    DEFAULT_CSS = """
    RunnersScreen #search { height: 3; border: round $accent; padding: 0 1; background: $background; }
    RunnersScreen #found { layout: horizontal; height: 1fr; }
    RunnersScreen ItemList { width: 3fr; }
    RunnersScreen Details { width: 2fr; height: 1fr; padding: 0 2; border-left: solid $panel-lighten-2; }
    RunnersScreen.-narrow #found { layout: vertical; }
    RunnersScreen.-narrow ItemList { width: 1fr; height: 1fr; }
    RunnersScreen.-narrow Details {
        width: 1fr; height: 45%; padding: 0 1; border: none; border-top: solid $panel-lighten-2;
    }
    RunnersScreen.-short #search { height: 1; border: none; }
    """

    def __init__(self, services: AppServices, controller: "RunnersController") -> None:
        super().__init__(services)
        self._controller = controller
        self._runners: RunnerList | None = None
        self._folder = paths.FolderListing()
        """The loaded names of the folder of the typed path."""
        self._path_error = ""
        """Why the typed path could not be opened."""
        self._is_enter_pending = False
        """Enter was pressed before the list was loaded."""
        self.search = SafeInput(placeholder="Search, or type a path such as ./my_runner.py", id="search")
        self.search.cursor_blink = False
        self.list = ItemList()
        self.list.can_focus = False  # the search keeps the focus
        self.list.keeps_cursor = True
        self.details = Details()

    def body(self) -> ComposeResult:
        yield self.search
        with Container(id="found"):
            yield self.list
            yield self.details

    def on_mount(self) -> None:
        self.read(self.reload(), self._finish_loading)

    # Showing

    async def reload(self) -> None:
        """Load the choices again."""
        is_first = self._runners is None
        self._runners = await self._controller.load_choices()
        self.refill()
        if is_first:
            self._go_to_best()

    def _go_to_best(self) -> None:
        """Move to the best match; without a search to the choice in use, so that enter changes nothing."""
        text, runners = self.search.value, self._runners
        if runners is None or paths.is_path(text):
            return
        best = best_match(matching_choices(runners.choices, text), text) if text.strip() else None
        place = self.list.source.place_of(best.key if best is not None else runners.key_in_use)
        if place is not None:
            self.list.go_to(place)

    def _finish_loading(self) -> None:
        if self._is_enter_pending:
            self._is_enter_pending = False
            self.action_take()

    def refill(self) -> None:
        """Show the choices or paths that match the search."""
        text = self.search.value
        if paths.is_path(text):
            self._list_paths(text)
        elif (runners := self._runners) is not None:
            matching = matching_choices(runners.choices, text)
            items = choice_items(matching, runners.now, runners.key_in_use)
            self.list.fill(ListItems(list(items)), empty_text(text))
        self.show_remark()
        self._show_details()

    def remark(self) -> str:
        if paths.is_path(self.search.value):
            names = self._folder.names
            return f"First {len(names)} names; type more" if names and self._folder.is_cut else "Open by path"
        choices = self._runners.choices if self._runners is not None else ()
        counts = Counter(choice.kind for choice in choices)
        agents, problems = counts[ChoiceKind.AGENT], counts[ChoiceKind.PROBLEM]
        parts = [number(agents, "agent")] if agents else []
        parts.append(number(counts[ChoiceKind.RUNNER], "runner"))
        invalid = sum(bool(choice.config_problem) for choice in choices)
        parts += [f"{invalid} to fix"] if invalid else []
        return " · ".join([*parts, f"{problems} left out"] if problems else parts)

    def _list_paths(self, text: str) -> None:
        beginning = paths.split_path(text)[1]
        if not self._folder.covers(text):
            self.run_worker(partial(self._scan, text), exclusive=True, group="places", exit_on_error=False)
            return  # the list stays until the folder is scanned
        hits = paths.matching_names(self._folder.names, beginning)
        here = [Item(_PATH_ID, _this_folder)] if not beginning and not self._folder.problem else []
        self.list.clear()
        shelf = ListItems([*here, *(Item(f"{_PATH_ID}{one.shown}", _path_row(one)) for one in hits)])
        self.list.fill(shelf, _no_path_text(text, self._folder))

    async def _scan(self, text: str) -> None:
        self._folder = await read_folder(text)
        if paths.is_path(self.search.value):
            self.refill()

    def show_path_error(self, error: str) -> None:
        """Show why the typed path could not be opened, until the user types something else."""
        self._path_error = error
        self._show_details()

    def _show_details(self) -> None:
        choice = self.choice
        if paths.is_path(self.search.value):
            self.details.show(self._path_details())
        elif choice is not None and self._runners is not None:
            self.details.show(choice_details(choice, self._runners.now))
        else:
            self.details.show(())

    def _path_details(self) -> Iterator[Sequence[Piece]]:
        if self._path_error:
            yield [Piece("✗ Cannot be opened", "failed")]
            for line in self._path_error.splitlines()[:8]:
                yield [Piece(one_line(line, 400), "text")]
            yield []
        yield [Piece("A Python file with a runner, a plugin folder, or a folder with several of them.", "text")]
        yield [Piece("tab completes the name · enter opens it", "faint")]
        yield [Piece("`trackside new NAME` creates a working runner.", "faint")]

    @property
    def choice(self) -> RunnerChoice | None:
        """The choice at the cursor."""
        choices = self._runners.choices if self._runners is not None else ()
        return next((choice for choice in choices if choice.key == self.list.current_id), None)

    # Commands

    def on_input_changed(self) -> None:
        self._path_error = ""
        if not paths.is_path(self.search.value):
            self.list.clear()
        self.refill()
        self._go_to_best()

    def on_item_list_moved(self) -> None:
        self._show_details()

    def on_item_list_chosen(self, event: ItemList.Chosen) -> None:
        event.stop()
        self.action_take()

    def on_input_submitted(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        text, choice = self.search.value, self.choice
        if paths.is_path(text):
            self._open_path(text)
        elif self._runners is None:
            self._is_enter_pending = True
        elif choice is None:
            self.services.show_toast(empty_text(text).partition("\n")[0], severity="warning")
        elif choice.kind is ChoiceKind.PROBLEM:
            self.services.show_toast(f"{choice.path} is left out: {choice.label}", severity="warning")
        elif choice.kind is ChoiceKind.PLACE:
            self._controller.open_path(choice.name, is_recent=True)
        else:
            self._controller.choose(choice)

    def _open_path(self, text: str) -> None:
        """Open the file or enter the folder at the cursor; open the typed path if no name matches."""
        typed, _ = paths.split_path(text)
        chosen = self.list.current_id if self._folder.covers(text) else None
        name = (chosen or "").removeprefix(_PATH_ID)
        if name.endswith("/"):
            self._type(typed + name)
        else:
            path = typed + name if chosen is not None else text
            self._controller.open_path(path.rstrip("/") or path, is_recent=False)

    def action_complete(self) -> None:
        """Complete the path as far as it is unambiguous."""
        text = self.search.value
        if not paths.is_path(text):
            self.services.show_toast("tab completes a path. Type ./ to start one.")
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
        return self.details.why_not(what)

    def action_scroll_details(self, pages: int) -> None:
        if self.services.check_can("runners.more" if pages > 0 else "runners.less"):
            self.details.page(pages)

    @property
    def back(self) -> str:
        return "clear" if self.search.value else super().back

    def step_back(self) -> None:
        """Clear the search, then close the screen."""
        if self.search.value:
            self._type("")
        else:
            self.close_screen()


def _this_folder(width: int) -> Row:
    return row(width, [Piece("./  ", "jump"), Piece("this folder: all runners in it", "faint")])


def _path_row(found: paths.FolderEntry) -> Callable[[int], Row]:
    def make(width: int) -> Row:
        return row(width, [Piece(one_line(found.shown), "jump" if found.is_folder else "strong")])

    return make


def _no_path_text(text: str, folder: paths.FolderListing) -> str:
    if folder.problem:
        return f"{one_line(paths.split_path(text)[0], 80)}: {folder.problem}."
    if folder.is_cut:
        return f"This folder has too many names to search.\nenter opens {one_line(text, 80)}"
    return f"No match for {one_line(text, 80)}\nOnly folders and Python files are listed."
