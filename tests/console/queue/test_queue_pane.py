"""The queue pane alone, used with keys and mouse."""

from typing import ClassVar

import pytest
from rich.cells import cell_len
from textual.app import ComposeResult
from textual.events import MouseScrollUp
from textual.message import Message
from textual.widgets import Static

from console.model.queue.items import QueueRun, queue_rows
from console.ui.queue.pane import Queue
from console.ui.shared.refused import Refused
from console.ui.terminal.ascii_filter import ASCII
from engine.api import QueueItem
from engine.events import Fate, Mode
from tests.support.console.pilot import until
from tests.support.console.single_pane_app import SinglePaneApp

SECOND = 1_000_000
RUN = QueueRun("run", turn=3)
HOSTILE = "[/] [bold]x[/bold] \x1b[31m\x1b]0;t\x07 \x9b2J \u202e [@click=app.quit]y[/]"
SIZES = [(40, 15), (80, 24), (160, 45)]


def item(
    item_id: str, text: str = "", mode: str = "steer", fate: str = "queued", reason: str | None = None
) -> QueueItem:
    return QueueItem(
        item_id=item_id,
        event_id=f"event {item_id}",
        mode=mode,
        fate=fate,
        reason=reason,
        text=text or f"message {item_id}",
        run_id="run",
        created_at=0,
        decided_at=0,
        envelope={},
    )


class QueueApp(SinglePaneApp):
    HORIZONTAL_BREAKPOINTS: ClassVar = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]
    CSS = "Static { height: 1fr; }"

    def __init__(self, *items: QueueItem) -> None:
        super().__init__()
        self.given = items
        self.posted: list[Message] = []

    def compose(self) -> ComposeResult:
        yield Static("above")
        yield Queue()

    def on_mount(self) -> None:
        self.give(*self.given)
        self.queue.enter_from_below()

    def give(self, *items: QueueItem, run: QueueRun | None = RUN, now: int = 4 * SECOND) -> None:
        self.queue.items = queue_rows(items, run, now)

    @property
    def queue(self) -> Queue:
        return self.query_one(Queue)

    @property
    def picture(self) -> list[str]:
        return [strip.text for strip in self.screen._compositor.render_strips()]

    @property
    def rows(self) -> list[str]:
        edge = 1 if self.queue.styles.border_left[0] else 0
        top = self.queue.region.y + edge
        return [line[edge : len(line) - edge] for line in self.picture[top : top + self.queue.content_size.height]]


def _record(kind: type[Message]) -> None:
    def record(self: QueueApp, message: Message) -> None:
        self.posted.append(message)

    setattr(QueueApp, kind.handler_name, record)


for _kind in (
    Queue.Edit, Queue.Withdraw, Queue.Undo, Queue.Dismiss, Queue.Move, Queue.SetMode, Queue.Pause,
    Queue.Resume, Refused, Queue.Left,
):  # fmt: skip
    _record(_kind)


async def test_row_shows_text_and_what_the_message_waits_for():
    app = QueueApp(
        item("a", "skip the tests, ship it"),
        item("b", "write a summary", mode="after"),
        item("c", "use metric", fate="pulled"),
        item("d", "no buses", fate=Fate.PAUSED),
        item("e", "a kitchen", fate="dropped", reason="failed"),
    )
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.pause()

        assert [" ".join(row.split()) for row in app.rows] == [
            "▲ steer skip the tests, ship it waiting for T3→T4 4s",
            "↳ after write a summary when the run ends",
            "◑ pulled use metric T3",
            "‖ paused no buses steer, until resumed",
            "›✕ dropped a kitchen run failed before T4",
        ]
        assert any("─ Queue ─" in line for line in app.picture)
        assert any("4 queued · 1 dropped" in line for line in app.picture)


async def test_ascii_mode_replaces_the_glyphs_of_the_queue():
    app = QueueApp(item("a"), item("b", "long " * 40, mode="after"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        first, second = (row.translate(ASCII) for row in app.rows[:2])

        assert first.startswith(" ^ steer ")
        assert second.startswith(">> after ")
        assert "~" in second


@pytest.mark.parametrize("size", SIZES)
async def test_empty_queue_is_hidden(size: tuple[int, int]):
    app = QueueApp()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert not app.queue.display
        app.give(item("a"))
        await pilot.pause()
        assert app.queue.display
        assert "message a" in app.rows[0]
        app.queue.focus()
        app.give()
        await pilot.pause()
        assert not app.queue.display
        assert isinstance(app.posted[-1], Queue.Left)


@pytest.mark.parametrize(("size", "rows"), [((160, 45), 6), ((80, 24), 2)])
async def test_long_queue_scrolls_and_counts_hidden_rows(size: tuple[int, int], rows: int):
    app = QueueApp(*(item(str(number)) for number in range(9)))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: len(app.rows) == rows and "message 8" in app.rows[-1])
        assert app.rows[-1].rstrip().endswith(f"+{9 - rows} more")

        await pilot.press(*["up"] * 8)
        assert "›▲ steer   message 0" in app.rows[0]
        assert app.rows[-1].rstrip().endswith(f"+{9 - rows} more")
        await pilot.press("j")
        assert "›▲ steer   message 1" in app.rows[1]


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_and_wide_texts_stay_on_one_line(size: tuple[int, int]):
    app = QueueApp(
        item("a", HOSTILE),
        item("b", "東京" * 60, mode="slot", reason=HOSTILE * 3),
        item("c", "two\nlines", fate="dropped", reason=HOSTILE),
        item("d", "e\u0301" * 200),
    )
    async with app.run_test(size=size) as pilot:
        await pilot.press("up", "up")
        await pilot.pause()

        assert not set("".join(app.picture)) & set("\x1b\x07\x9b\u202e")
        assert {cell_len(line) for line in app.picture} == {size[0]}
        await pilot.press("up")
        assert "[/] [bold" in "".join(app.picture)


async def test_cursor_stays_on_its_message():
    app = QueueApp(item("a"), item("b"), item("c"))
    async with app.run_test() as pilot:
        await pilot.press("up")
        assert app.queue.item is not None
        assert app.queue.item.item_id == "b"
        app.give(item("b"), item("a"), item("c"))
        assert app.queue.item.item_id == "b"
        app.give(item("a"))
        assert app.queue.item.item_id == "a"


@pytest.mark.parametrize(
    ("key", "posted"),
    [
        ("enter", Queue.Edit("b")),
        ("d", Queue.Withdraw("b")),
        ("K", Queue.Move("b", "a")),
        ("shift+k", Queue.Move("b", "a")),
        ("alt+up", Queue.Move("b", "a")),
        ("J", Queue.Move("b", "d")),
        ("alt+down", Queue.Move("b", "d")),
        ("t", Queue.SetMode("b", Mode.AFTER)),
        ("h", Queue.Pause("b")),
    ],
)
async def test_keys_post_commands_for_the_message_under_the_cursor(key: str, posted: Message):
    app = QueueApp(item("a"), item("b"), item("c"), item("d"))
    async with app.run_test() as pilot:
        app.queue.go_to(1)
        await pilot.press(key)

        assert [repr(message) for message in app.posted] == [repr(posted)]


async def test_last_but_one_message_moves_to_the_end():
    app = QueueApp(item("a"), item("b"), item("c", fate="dropped"))
    async with app.run_test() as pilot:
        app.queue.go_to(0)
        await pilot.press("J")

        assert repr(app.posted[0]) == repr(Queue.Move("a", None))


async def test_paused_message_is_resumed_and_after_message_is_steered():
    app = QueueApp(item("a", fate=Fate.PAUSED, mode="after"))
    async with app.run_test() as pilot:
        await pilot.press("h", "t")

        assert [repr(message) for message in app.posted] == [
            repr(Queue.Resume("a")),
            repr(Queue.SetMode("a", Mode.STEER)),
        ]


async def test_dropped_message_is_taken_back_or_dismissed():
    app = QueueApp(item("a", fate="dropped", reason="cancelled"))
    async with app.run_test() as pilot:
        await pilot.press("enter", "d")

        assert [repr(message) for message in app.posted] == [repr(Queue.Edit("a")), repr(Queue.Dismiss("a"))]


async def test_withdrawal_is_undone_within_five_seconds():
    app = QueueApp(item("a", fate="withdrawn"), item("b"))
    async with app.run_test() as pilot:
        await pilot.press("u", "enter")
        app.queue.go_to(0)
        await pilot.press("u")
        app.give(item("a", fate="withdrawn"), item("b"), now=6 * SECOND)
        await pilot.press("u")

        assert [repr(message) for message in app.posted] == [
            repr(Queue.Undo("a")),
            repr(Queue.Undo("a")),
            repr(Queue.Undo("a")),
            repr(Refused("No message was withdrawn in the last 5 seconds.")),
        ]


@pytest.mark.parametrize("key", ["enter", "d", "K", "J", "t", "h"])
async def test_every_key_shows_why_a_pulled_message_cannot_be_changed(key: str):
    app = QueueApp(item("a"), item("b", fate="pulled"))
    async with app.run_test() as pilot:
        await pilot.press(key)

        words = "The runner has pulled this message. It can no longer be changed."
        assert [repr(message) for message in app.posted] == [repr(Refused(words))]


async def test_impossible_commands_show_the_reason():
    app = QueueApp(item("a"), item("b", mode="slot"))
    async with app.run_test() as pilot:
        await pilot.press("J")
        app.queue.go_to(0)
        await pilot.press("K")
        app.give(item("a", mode="after"), run=QueueRun("run", cannot_steer="this runner declares no steering"))
        await pilot.press("t")

        assert [message.reason for message in app.posted if isinstance(message, Refused)] == [
            "This message is already last.",
            "This message is already first.",
            "The run cannot take this message: this runner declares no steering",
        ]


async def test_down_from_the_last_message_leaves_the_queue():
    app = QueueApp(item("a"), item("b"))
    async with app.run_test() as pilot:
        await pilot.press("up", "up", "down", "down")

        assert [type(message) for message in app.posted] == [Refused, Queue.Left]


async def test_click_selects_double_click_edits_and_wheel_scrolls():
    app = QueueApp(*(item(str(number)) for number in range(9)))
    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.pause()
        await pilot.click(Queue, offset=(20, 2))
        assert app.queue.item is not None
        assert app.queue.item.item_id == "4"
        await pilot.double_click(Queue, offset=(20, 1))
        assert repr(app.posted[-1]) == repr(Queue.Edit("3"))
        await pilot._post_mouse_events([MouseScrollUp], Queue, offset=(20, 2))
        await pilot.pause()
        assert "message 2" in app.rows[0]


async def test_overdue_message_is_shown_in_words():
    app = QueueApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.give(item("a"), now=31 * SECOND)
        await pilot.pause()

        assert app.rows[0].rstrip().endswith("runner has not pulled yet  31s")
