"""The queue pane: a list of the queued messages, with the commands on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from rich.segment import Segment
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from console.model.queue.items import QueueRow, count_words
from console.model.text.columns import cells, cut
from console.model.text.glyphs import GLYPHS
from console.model.text.lists import MARGIN_COLUMNS, Item, ListItems, Row
from console.model.text.piece import Piece
from console.ui.shared.bindings import bindings_for
from console.ui.shared.list import ItemList
from console.ui.shared.refused import refuse
from engine.events import Fate, Mode

_COMMANDS_OF_ENDED: Final[Mapping[str, tuple[str, ...]]] = {
    Fate.DROPPED: ("edit", "withdraw"),
    Fate.WITHDRAWN: ("edit",),
}
"""Commands that a message still takes after it was dropped or withdrawn."""


class Queue(ItemList):
    """The queued messages in order. Hidden while the queue is empty."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("queue")
    SCOPED_CSS = False
    DEFAULT_CSS = """
    Queue { height: auto; max-height: 8; border: round $panel-lighten-2; padding: 0; display: none; }
    Queue.-waits { display: block; }
    Queue:focus { border: round $accent; }
    .-narrow Queue, .-narrow Queue:focus { max-height: 2; border: none; padding: 0 1 0 0; }
    """
    WHEEL_ROWS = 1

    items: reactive[tuple[QueueRow, ...]] = reactive(())

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
    class SetMode(Message):
        """Posted when the user switches a message between steering the run and waiting for its end."""

        item_id: str
        mode: str

    @dataclass
    class Pause(Message):
        """Posted when the user pauses a message."""

        item_id: str

    @dataclass
    class Resume(Message):
        """Posted when the user resumes a message."""

        item_id: str

    class Left(Message):
        """Posted when the user moves below the last message or the queue becomes empty; the prompt gets the focus."""

    def __init__(self, *, id: str | None = "queue") -> None:  # noqa: A002
        super().__init__(id=id)
        self.border_title = Content("Queue")

    @property
    def item(self) -> QueueRow | None:
        """The message under the cursor."""
        return self.items[self.cursor] if self.cursor < len(self.items) else None

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
        self.go_to(len(self.items) - 1)
        self.focus()

    # Drawing

    def watch_items(self, before: tuple[QueueRow, ...], items: tuple[QueueRow, ...]) -> None:
        """Show the messages; the cursor stays on its message."""
        has_other_height = len(items) != self.source.height
        self.fill(ListItems([Item(item.item_id, partial(_row, item)) for item in items]))
        self.border_subtitle = Content(count_words(items))
        if before and not items and self.has_focus:
            self.post_message(self.Left())
        self.set_class(bool(items), "-waits")
        if has_other_height:
            self.refresh(layout=True)

    def render_line(self, y: int) -> Strip:
        """Draw a row; the last visible one also shows how many are hidden."""
        visible = self.visible_rows
        hidden = self.source.height - len(visible)
        if not hidden or y != len(visible) - 1:
            return super().render_line(y)
        more = f"  +{hidden} more"
        width = max(0, self.size.width - len(more))
        strip = self._draw(_row(self.items[visible[y]], width), width, is_cursor=visible[y] == self.cursor)
        return Strip.join([strip, Strip([Segment(more, self._tone_style("faint"))])])

    # Keys

    def action_cursor(self, step: int) -> None:
        if step > 0 and self.cursor >= len(self.items) - 1:
            self.post_message(self.Left())
        elif self.cursor + step < 0:
            refuse(self, "This message is already first.")
        else:
            self.move(step)

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
            self.post_message(self.SetMode(item.item_id, Mode.AFTER if item.mode == Mode.STEER else Mode.STEER))

    def action_pause(self) -> None:
        item = self._editable()
        if item is not None:
            self.post_message((self.Resume if item.fate == Fate.PAUSED else self.Pause)(item.item_id))

    def on_item_list_chosen(self, event: ItemList.Chosen) -> None:
        """Edit the message after a double click."""
        event.stop()
        self.action_edit()

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


def _row(item: QueueRow, width: int) -> Row:
    """Glyph, word and text, and on the right the detail; if space is short, text and detail share it."""
    sign = f"{GLYPHS[item.glyph]} {item.word:<7} "
    room = max(0, width - MARGIN_COLUMNS - cells(sign))
    right = "  ".join(part for part in (item.detail, item.age) if part)
    right = cut(right, max(room // 2, room - cells(item.text) - 1))
    return Row(
        [
            Piece(sign, item.glyph),
            Piece(cut(item.text, max(0, room - cells(right) - 1)), "" if item.is_open else "faint"),
        ],
        right=Piece(right, "paused" if item.is_overdue else "faint"),
    )
