"""The queue pane: one line per queued message, with the commands on it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import reactive

from console.model.queue.items import QueueRow, count_words
from console.model.text.glyphs import GLYPHS
from console.model.text.piece import Piece
from console.ui.shared.bindings import bindings_for
from console.ui.shared.refused import refuse
from console.ui.shared.styled_text import StyledText
from engine.events import Fate, Mode

_COMMANDS_OF_ENDED: Final[Mapping[str, tuple[str, ...]]] = {
    Fate.DROPPED: ("edit", "withdraw"),
    Fate.WITHDRAWN: ("edit",),
}
"""Commands that a message still takes after it was dropped or withdrawn."""


class Queue(StyledText, can_focus=True):
    """The queued messages in order. Hidden while the queue is empty."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("queue")
    SCOPED_CSS = False
    DEFAULT_CSS = """
    Queue { height: auto; max-height: 8; border: round $panel-lighten-2; padding: 0; display: none; }
    Queue.-waits { display: block; }
    Queue:focus { border: round $accent; }
    .-narrow Queue, .-narrow Queue:focus { max-height: 2; border: none; padding: 0 1 0 0; }
    Queue .queue--cursor { background: $chosen; text-style: bold; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"queue--cursor"}

    items: reactive[tuple[QueueRow, ...]] = reactive(())
    cursor: reactive[int] = reactive(0)

    @dataclass
    class Edit(Message):
        """Posted when the user edits a queued message, or takes a dropped one back to the prompt."""

        item_id: str

    @dataclass
    class Withdraw(Message):
        """Posted when the user withdraws a message."""

        item_id: str

    @dataclass
    class WithdrawAll(Message):
        """Posted when the user withdraws all messages."""

        item_ids: tuple[str, ...]

    @dataclass
    class Undo(Message):
        """Posted when the user undoes a withdrawal."""

        item_id: str

    @dataclass
    class Dismiss(Message):
        """Posted when the user dismisses a dropped message."""

        item_id: str

    @dataclass
    class Move(Message):
        """Posted when the user moves a message before another one, or to the end (None)."""

        item_id: str
        before: str | None

    @dataclass
    class Turn(Message):
        """Posted when the user switches a message between steering the run and waiting for its end."""

        item_id: str
        mode: str

    @dataclass
    class Hold(Message):
        """Posted when the user pauses a message."""

        item_id: str

    @dataclass
    class Release(Message):
        """Posted when the user resumes a message."""

        item_id: str

    class Left(Message):
        """Posted when the user moves below the last message or the queue becomes empty; the prompt gets the focus."""

    def __init__(self, *, id: str | None = "queue") -> None:  # noqa: A002
        super().__init__(id=id)
        self.border_title = Content("Queue")
        self._top = 0
        """The first visible row."""

    @property
    def item(self) -> QueueRow | None:
        """The message under the cursor."""
        return self.items[self.cursor] if self.items else None

    def why_not(self, what: str) -> str | None:
        """The reason why a command cannot be carried out on the message under the cursor, or None."""
        item = self.item
        if what == "undo":
            has_any = any(one.fate == Fate.WITHDRAWN for one in self.items)
            return None if has_any else "No message was withdrawn in the last 5 seconds."
        if item is None:
            return "The queue is empty."
        if what == "withdraw_all":
            return None if self._movable() else "No queued message can be withdrawn."
        if what == "turn":
            return item.why_not_turned
        # A dropped message can be edited or dismissed, a withdrawn one restored.
        may = _COMMANDS_OF_ENDED.get(item.fate, ())
        return None if what in (*may, "above", "below") else item.why_not_editable

    def enter_from_below(self) -> None:
        """Focus the message that is nearest to the prompt."""
        self.cursor = max(0, len(self.items) - 1)
        self.focus()

    # Drawing

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self.items) - 1))

    def watch_cursor(self) -> None:
        self._reveal()

    def watch_items(self, before: tuple[QueueRow, ...], items: tuple[QueueRow, ...]) -> None:
        """Keep the cursor on its message."""
        ids = [item.item_id for item in items]
        held = before[self.cursor].item_id if self.cursor < len(before) else None
        self.cursor = ids.index(held) if held in ids else self.cursor
        self.border_subtitle = Content(count_words(items))
        if before and not items and self.has_focus:
            self.post_message(self.Left())
        self.set_class(bool(items), "-waits")
        if len(before) != len(items):
            self.refresh(layout=True)
        self._reveal()

    def on_resize(self) -> None:
        self._reveal()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return len(self.items)

    def render(self) -> Content:
        width, rows = self.content_size
        shown = self.items[self._top : self._top + rows]
        lines = [self._line(self._top + row, item, width) for row, item in enumerate(shown)]
        hidden = len(self.items) - len(shown)
        if lines and hidden:
            more = f"  +{hidden} more"
            last = self._line(self._top + len(shown) - 1, shown[-1], width - len(more))
            lines[-1] = last + self.content_of([Piece(more, "faint")])
        return Content("\n").join(lines)

    def _line(self, place: int, item: QueueRow, width: int) -> Content:
        """Glyph, text, and on the right the detail; if space is short, text and detail share it."""
        is_chosen, ellipsis = self.has_focus and place == self.cursor, GLYPHS["ellipsis"]
        sign = f"{GLYPHS['cursor'] if is_chosen else ' '}{GLYPHS[item.glyph]} {item.word:<7} "
        room = max(0, width - cell_len(sign))
        right = "  ".join(part for part in (item.detail, item.age) if part)
        right = _fitted(right, max(room // 2, room - cell_len(item.text) - 1), ellipsis)
        room = max(0, room - cell_len(right) - 1)
        text = set_cell_size(_fitted(item.text, room, ellipsis), room) + " "
        line = (
            Content("")
            .join(
                (
                    self.content_of([Piece(sign, item.glyph)]),
                    Content(text) if item.is_open else self.content_of([Piece(text, "faint")]),
                    self.content_of([Piece(right, "paused" if item.is_overdue else "faint")]),
                )
            )
            .truncate(max(0, width))
        )
        return line.stylize_before(self.get_visual_style("queue--cursor")) if is_chosen else line

    def _reveal(self) -> None:
        rows = max(1, self.content_size.height)
        self._top = max(min(self._top, self.cursor, len(self.items) - rows), self.cursor - rows + 1, 0)
        self.refresh()

    # Keys

    def action_cursor(self, step: int) -> None:
        if step > 0 and self.cursor >= len(self.items) - 1:
            self.post_message(self.Left())
        elif self.cursor + step < 0:
            refuse(self, "This message is already first.")
        else:
            self.cursor += step

    def action_edit(self) -> None:
        item = self.item
        if item is None:
            refuse(self, "The queue is empty.")
        elif item.fate == Fate.DROPPED:
            self.post_message(self.Edit(item.item_id))
        elif item.fate == Fate.WITHDRAWN:
            self.post_message(self.Undo(item.item_id))
        elif (changing := self._editable()) is not None:
            self.post_message(self.Edit(changing.item_id))

    def action_withdraw(self) -> None:
        item = self.item
        if item is not None and item.fate == Fate.DROPPED:
            self.post_message(self.Dismiss(item.item_id))
        elif (changing := self._editable()) is not None:
            self.post_message(self.Withdraw(changing.item_id))

    def action_withdraw_all(self) -> None:
        if (why := self.why_not("withdraw_all")) is not None:
            refuse(self, why)
        else:
            self.post_message(self.WithdrawAll(tuple(self._movable())))

    def action_undo(self) -> None:
        withdrawn = [item for item in self.items if item.fate == Fate.WITHDRAWN]
        if not withdrawn:
            refuse(self, "No message was withdrawn in the last 5 seconds.")
            return
        item = self.item
        self.post_message(self.Undo((item if item in withdrawn and item is not None else withdrawn[-1]).item_id))

    def action_up(self) -> None:
        item = self._editable()
        if item is None:
            return
        others = self._movable()
        place = others.index(item.item_id)
        if place == 0:
            refuse(self, "This message is already first.")
        else:
            self.post_message(self.Move(item.item_id, others[place - 1]))

    def action_down(self) -> None:
        item = self._editable()
        if item is None:
            return
        others = self._movable()
        place = others.index(item.item_id)
        if place == len(others) - 1:
            refuse(self, "This message is already last.")
        else:
            self.post_message(self.Move(item.item_id, others[place + 2] if place + 2 < len(others) else None))

    def action_turn(self) -> None:
        item = self._editable()
        if item is None:
            return
        if item.why_not_turned is not None:
            refuse(self, item.why_not_turned)
        else:
            self.post_message(self.Turn(item.item_id, Mode.AFTER if item.mode == Mode.STEER else Mode.STEER))

    def action_pause(self) -> None:
        item = self._editable()
        if item is not None:
            self.post_message((self.Release if item.fate == Fate.PAUSED else self.Hold)(item.item_id))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked message; a second click edits it."""
        offset = event.get_content_offset(self)
        if offset is not None and self._top + offset.y < len(self.items):
            self.cursor = self._top + offset.y
            if event.chain == 2:
                self.action_edit()

    def landings(self) -> Iterator[Offset]:
        """The offsets of the messages, for jump mode."""
        inset = self.content_region.offset - self.region.offset
        yield from (inset + Offset(0, row) for row in range(min(self.content_size.height, len(self.items) - self._top)))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll(1, event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll(-1, event)

    def _scroll(self, step: int, event: events.MouseEvent) -> None:
        top = max(0, min(self._top + step, len(self.items) - self.content_size.height))
        if top != self._top:
            event.stop()
            self._top = top
            self.refresh()

    def _editable(self) -> QueueRow | None:
        """The message under the cursor if it can be changed; otherwise the reason is posted."""
        item = self.item
        why = "The queue is empty." if item is None else item.why_not_editable
        if why is None:
            return item
        refuse(self, why)
        return None

    def _movable(self) -> list[str]:
        return [item.item_id for item in self.items if item.is_editable]


def _fitted(text: str, cells: int, ellipsis: str) -> str:
    """The text, cut to a width."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + ellipsis if cells > 1 else ""
