"""ItemList: the cursor, headings, the end of the list and clicks."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.message import Message

from console.model.text.lists import Item, ListItems, Row
from console.model.text.piece import Piece
from console.ui.shared.list import PREFETCH_ROWS, ItemList
from tests.support.console.single_pane_app import SinglePaneApp

HEIGHT = 6


def item(name: str) -> Item:
    """An item, or a heading if its name begins with #."""
    return Item(name, lambda _: Row([Piece(name, "text")]), is_heading=name.startswith("#"))


def items(names: Sequence[str]) -> ListItems:
    return ListItems([item(name) for name in names])


class ListApp(SinglePaneApp):
    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.list = ItemList()
        self.names = names
        self.posted: list[type[Message]] = []

    def compose(self) -> ComposeResult:
        yield self.list

    def on_mount(self) -> None:
        self.list.fill(items(self.names), "Nothing here.")
        self.list.focus()

    def on_item_list_chosen(self, event: ItemList.Chosen) -> None:
        self.posted.append(type(event))

    def on_item_list_want_more(self, event: ItemList.WantMore) -> None:
        self.posted.append(type(event))

    def on_item_list_empty(self, event: ItemList.Empty) -> None:
        self.posted.append(type(event))

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen_lines]


async def test_cursor_stays_on_its_item_when_items_come_and_go():
    app = ListApp(["a", "b", "c"])
    async with app.run_test(size=(20, HEIGHT)) as pilot:
        app.list.move(1)
        app.list.fill(items(["x", "y", "a", "b"]))
        await pilot.pause()

        assert (app.list.current_id, app.list.cursor) == ("b", 3)
        assert "›b" in app.lines


async def test_cursor_stays_on_its_row_when_its_item_is_gone():
    app = ListApp(["a", "b", "c"])
    async with app.run_test(size=(20, HEIGHT)):
        app.list.move(1)
        app.list.fill(items(["a", "c"]))

        assert app.list.current_id == "c"


async def test_cursor_passes_over_headings_in_both_directions():
    app = ListApp(["#1", "a", "#2", "b"])
    async with app.run_test(size=(20, HEIGHT)):
        assert app.list.current_id == "a"
        app.list.move(1)
        assert app.list.current_id == "b"
        app.list.move(-1)
        assert app.list.current_id == "a"
        app.list.edge(is_last=False)
        assert app.list.current_id == "a"


async def test_heading_above_the_cursor_is_visible():
    app = ListApp(["#1", *"abcdefghij"])
    async with app.run_test(size=(20, HEIGHT)) as pilot:
        app.list.edge(is_last=True)
        app.list.edge(is_last=False)
        await pilot.pause()

        assert app.lines[:2] == [" #1", "›a"]


async def test_empty_list_shows_its_text_and_reports_moves():
    app = ListApp([])
    async with app.run_test(size=(20, HEIGHT)) as pilot:
        app.posted.clear()
        app.list.move(1)
        await pilot.pause()

        assert " Nothing here." in app.lines
        assert app.posted == [ItemList.Empty]


async def test_more_items_are_wanted_once_for_each_length():
    app = ListApp([f"n{number}" for number in range(PREFETCH_ROWS * 3)])
    async with app.run_test(size=(20, HEIGHT)) as pilot:
        assert app.posted == []
        app.list.edge(is_last=True)
        app.list.move(-1)
        await pilot.pause()
        assert app.posted == [ItemList.WantMore]

        app.list.want_more_again()
        app.list.move(-1)
        await pilot.pause()
        assert app.posted == [ItemList.WantMore] * 2


async def test_double_click_chooses_and_a_single_click_only_if_set():
    app = ListApp(["a", "b"])
    async with app.run_test(size=(20, HEIGHT)) as pilot:
        app.posted.clear()
        await pilot.click(ItemList, offset=(1, 1))
        assert (app.list.current_id, app.posted) == ("b", [])
        await pilot.double_click(ItemList, offset=(1, 0))
        assert (app.list.current_id, app.posted) == ("a", [ItemList.Chosen])

        app.list.chooses_on_click = True
        await pilot.click(ItemList, offset=(1, 1))
        assert app.posted == [ItemList.Chosen] * 2


async def test_click_on_a_heading_chooses_nothing():
    app = ListApp(["a", "#1", "b"])
    async with app.run_test(size=(20, HEIGHT)) as pilot:
        app.posted.clear()
        app.list.chooses_on_click = True
        await pilot.click(ItemList, offset=(1, 1))
        await pilot.double_click(ItemList, offset=(1, 1))
        assert app.posted == []
