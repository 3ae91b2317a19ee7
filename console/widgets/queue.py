"""The queue pane: what waits to be said, one line each, and what a person can do about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import reactive

from console.bindings import bindings_for
from console.model.glyphs import Glyphs
from console.model.piece import Piece
from console.model.prompt.waiting import ItemView, pending
from console.widgets.tones import Toned


class Queue(Toned, can_focus=True):
    """What waits to be said, in the order in which it will be. It is not there while nothing waits."""

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

    items: reactive[tuple[ItemView, ...]] = reactive(())
    cursor: reactive[int] = reactive(0)
    glyphs = Glyphs()

    @dataclass
    class Edit(Message):
        """Someone wants this message in the prompt, to say something else, or to say again what was dropped."""

        item_id: str

    @dataclass
    class Withdraw(Message):
        """It was never said."""

        item_id: str

    @dataclass
    class WithdrawAll(Message):
        """None of them was ever said."""

        item_ids: tuple[str, ...]

    @dataclass
    class Undo(Message):
        """It was said after all."""

        item_id: str

    @dataclass
    class Dismiss(Message):
        """What was dropped need not be shown any longer."""

        item_id: str

    @dataclass
    class Move(Message):
        """Its place is before this one, or behind all."""

        item_id: str
        before: str | None

    @dataclass
    class Turn(Message):
        """Into the run at work (`steer`), or kept for its end (`after`)."""

        item_id: str
        mode: str

    @dataclass
    class Hold(Message):
        """Keep it back."""

        item_id: str

    @dataclass
    class Release(Message):
        """Keep it back no longer."""

        item_id: str

    @dataclass
    class Refused(Message):
        """What was asked for cannot be done, and why."""

        words: str

    class Left(Message):
        """There is nothing further down, or nothing at all any more: on to the prompt."""

    def __init__(self, *, id: str | None = "queue") -> None:  # noqa: A002
        super().__init__(id=id)
        self.border_title = Content("Queue")
        self._top = 0
        """The first row that is shown."""

    @property
    def item(self) -> ItemView | None:
        """The one under the cursor."""
        return self.items[self.cursor] if self.items else None

    def use(self, glyphs: Glyphs) -> None:
        """Show the same with other glyphs."""
        self.glyphs = glyphs
        self.refresh()

    def why_not(self, what: str) -> str | None:
        """Why one of its commands cannot be carried out now on the message under the cursor."""
        item = self.item
        if what == "undo":
            has_any = any(one.fate == "withdrawn" for one in self.items)
            return None if has_any else "nothing was withdrawn in the last 5 seconds"
        if item is None:
            return "nothing waits"
        if what == "withdraw_all":
            return None if self._movable() else "nothing waits that could be withdrawn"
        if what == "turn":
            return item.why_not_turned
        # What was dropped can be said again or put away, what was withdrawn can be had back.
        may = {"dropped": ("edit", "withdraw"), "withdrawn": ("edit",)}.get(item.fate, ())
        return None if what in (*may, "above", "below") else item.why_not_editable

    def enter_from_below(self) -> None:
        """Take the focus, on the message that is nearest to the prompt."""
        self.cursor = max(0, len(self.items) - 1)
        self.focus()

    # What is shown

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self.items) - 1))

    def watch_cursor(self) -> None:
        self._reveal()

    def watch_items(self, before: tuple[ItemView, ...], items: tuple[ItemView, ...]) -> None:
        """The cursor stays on its message, wherever that went."""
        ids = [item.item_id for item in items]
        held = before[self.cursor].item_id if self.cursor < len(before) else None
        self.cursor = ids.index(held) if held in ids else self.cursor
        self.border_subtitle = Content(pending(items))
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

    def _line(self, place: int, item: ItemView, width: int) -> Content:
        """Sign, text and, at the right, what it waits for; where it is tight each of the two has half."""
        is_chosen, ellipsis = self.has_focus and place == self.cursor, self.glyphs["ellipsis"]
        sign = f"{self.glyphs['cursor'] if is_chosen else ' '}{self.glyphs[item.glyph]} {item.word:<7} "
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
                    self.content_of([Piece(right, "held" if item.is_overdue else "faint")]),
                )
            )
            .truncate(max(0, width))
        )
        return line.stylize_before(self.get_visual_style("queue--cursor")) if is_chosen else line

    def _reveal(self) -> None:
        rows = max(1, self.content_size.height)
        self._top = max(min(self._top, self.cursor, len(self.items) - rows), self.cursor - rows + 1, 0)
        self.refresh()

    # What a person does

    def action_cursor(self, step: int) -> None:
        if step > 0 and self.cursor >= len(self.items) - 1:
            self.post_message(self.Left())
        elif self.cursor + step < 0:
            self._refuse("it is the first already")
        else:
            self.cursor += step

    def action_edit(self) -> None:
        item = self.item
        if item is None:
            self._refuse("nothing waits")
        elif item.fate == "dropped":
            self.post_message(self.Edit(item.item_id))
        elif item.fate == "withdrawn":
            self.post_message(self.Undo(item.item_id))
        elif (changing := self._editable()) is not None:
            self.post_message(self.Edit(changing.item_id))

    def action_withdraw(self) -> None:
        item = self.item
        if item is not None and item.fate == "dropped":
            self.post_message(self.Dismiss(item.item_id))
        elif (changing := self._editable()) is not None:
            self.post_message(self.Withdraw(changing.item_id))

    def action_withdraw_all(self) -> None:
        if (why := self.why_not("withdraw_all")) is not None:
            self._refuse(why)
        else:
            self.post_message(self.WithdrawAll(tuple(self._movable())))

    def action_undo(self) -> None:
        withdrawn = [item for item in self.items if item.fate == "withdrawn"]
        if not withdrawn:
            self._refuse("nothing was withdrawn in the last 5 seconds")
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
            self._refuse("it is the first already")
        else:
            self.post_message(self.Move(item.item_id, others[place - 1]))

    def action_down(self) -> None:
        item = self._editable()
        if item is None:
            return
        others = self._movable()
        place = others.index(item.item_id)
        if place == len(others) - 1:
            self._refuse("it is the last already")
        else:
            self.post_message(self.Move(item.item_id, others[place + 2] if place + 2 < len(others) else None))

    def action_turn(self) -> None:
        item = self._editable()
        if item is None:
            return
        if item.why_not_turned is not None:
            self._refuse(item.why_not_turned)
        else:
            self.post_message(self.Turn(item.item_id, "after" if item.mode == "steer" else "steer"))

    def action_hold(self) -> None:
        item = self._editable()
        if item is not None:
            self.post_message((self.Release if item.fate == "held" else self.Hold)(item.item_id))

    def on_click(self, event: events.Click) -> None:
        """A click is the cursor, a second one edits."""
        offset = event.get_content_offset(self)
        if offset is not None and self._top + offset.y < len(self.items):
            self.cursor = self._top + offset.y
            if event.chain == 2:
                self.action_edit()

    def landings(self) -> Iterator[Offset]:
        """Where its messages begin."""
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

    def _editable(self) -> ItemView | None:
        """The message under the cursor if it can be changed; why not is said here."""
        item = self.item
        why = "nothing waits" if item is None else item.why_not_editable
        if why is None:
            return item
        self._refuse(why)
        return None

    def _movable(self) -> list[str]:
        return [item.item_id for item in self.items if item.is_editable]

    def _refuse(self, words: str) -> None:
        self.post_message(self.Refused(words))


def _fitted(text: str, cells: int, ellipsis: str) -> str:
    """The text, cut to so many columns."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + ellipsis if cells > 1 else ""
