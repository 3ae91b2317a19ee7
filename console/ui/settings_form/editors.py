"""What a value is edited by: a line, a page, or a list to choose from. It lies over the row of its field."""

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Input, Static, TextArea

from console.model.commands.key_labels import key_of
from console.model.settings_form.fields import FormField, Kind
from console.model.settings_form.options import offered, option_items
from console.model.settings_form.values import picked, read, toggled, typed
from console.model.text.columns import broken
from console.model.text.lists import ListItems
from console.ui.shared.bindings import bindings_for
from console.ui.shared.fields import LineField, TextField
from console.ui.shared.list import ItemList

TALL: Final = 10
"""Rows of a page or a list, at most."""
_BREAK: Final = "␊"
"""What stands for the end of a line where there is only one."""


class Editor(Vertical):
    """Says what was typed; whether that fits is for the form to say."""

    DEFAULT_CSS = """
    Editor { layer: over; position: absolute; height: auto; background: $surface; }
    Editor > .wrong { height: auto; color: $text-error; background: $surface; padding: 0 1; }
    Editor Input, Editor Input:focus { height: 1; border: none; padding: 0; background: $boost; }
    Editor TextField, Editor TextField:focus { min-height: 1; max-height: 100; }
    Editor.-framed { border: round $accent; border-title-color: $foreground; }
    """
    back: ClassVar[str] = "leave it"
    """What esc does."""
    is_warned = False
    """It was said that this cannot be kept."""

    @dataclass
    class Changed(Message):
        """This is what the field would hold."""

        slot: FormField
        value: Any
        is_done: bool = False
        """The editor is not needed any more."""

    def __init__(self, slot: FormField, value: Any) -> None:
        super().__init__()
        self.slot = slot
        self.value = value
        self._wrong = Static("", classes="wrong", markup=False)
        self._wrong.display = False
        self._words = ""
        self._began = typed(slot, value)
        """What is edited. Where it stays so, the value does too, also one that is none of the field's type."""

    def say(self, words: str | None) -> None:
        """What is wrong with what is typed; nothing where it fits."""
        self._words = f"✗ {words}" if words else ""
        self._wrong.display = bool(words)
        self._wrong.update(Content(self._words))

    def suits(self, slot: FormField) -> bool:
        """Whether it edits this field, whatever else is new about that."""
        return (slot.key, slot.kind) == (self.slot.key, self.slot.kind)

    def lie(self, row: int, left: int, room: Size) -> None:  # noqa: ARG002  (it needs all columns)
        """Under the row of its field, whose value begins so far from the left; without room there it goes up."""
        self._lie_at(1, row + 1, room)

    def _lie_at(self, left: int, row: int, room: Size) -> None:
        rows = self.fit(room.width - left, room.height)
        self.styles.width, self.styles.max_height = room.width - left, room.height
        self.styles.offset = (left, max(0, min(row, room.height - rows)))

    def fit(self, width: int, height: int) -> int:  # noqa: ARG002  (others grow)
        """Take no more than this; the rows that it comes to."""
        return 1 + self._rows_below(width)

    def _rows_below(self, width: int) -> int:
        """Rows of what is wrong."""
        return len(broken(self._words, max(1, width - 2))) if self._words else 0

    def typed(self) -> Any:
        """The value as it is typed now."""
        return self.value

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()


class LineEditor(Editor):
    """Enter keeps it."""

    def lie(self, row: int, left: int, room: Size) -> None:
        """Over the value of its row."""
        self._lie_at(left, row, room)

    def compose(self) -> ComposeResult:
        self._began = self._began.replace("\n", _BREAK)
        secret = Input(self._began, password=True, select_on_focus=False) if self.slot.is_secret else None
        yield secret or LineField(self._began)
        yield self._wrong

    def on_mount(self) -> None:
        line = self.query_one(Input)
        line.cursor_blink = False
        line.focus()

    def typed(self) -> Any:
        text = self.query_one(Input).value
        return self.value if text == self._began else read(self.slot, text.replace(_BREAK, "\n"))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self.slot, self.typed()))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Changed(self.slot, self.typed(), is_done=True))


class HiddenText(TextField):
    """Of a secret, no more is seen than how long it is."""

    def get_line(self, line_index: int) -> Text:
        return Text("•" * len(self.document.get_line(line_index)), end="", no_wrap=True)


class PageEditor(Editor):
    """Several lines; esc keeps them."""

    back = "keep it"

    def compose(self) -> ComposeResult:
        self.add_class("-framed")
        how = {Kind.LINES: " · one in each line", Kind.PROMPT: " · text, or `system:` and `user:` above each message"}
        self.border_title = Content(f"{self.slot.label}{how.get(self.slot.kind, '')}")
        self.border_subtitle = f"esc keeps it · then {key_of('form.undo')} undoes"
        yield (HiddenText if self.slot.is_secret else TextField)(self._began)
        yield self._wrong

    def on_mount(self) -> None:
        page = self.query_one(TextField)
        page.cursor_blink = False
        self._began = page.text  # it has its own mind about the ends of lines
        page.focus()
        page.move_cursor(page.document.end)

    def fit(self, width: int, height: int) -> int:
        below = self._rows_below(width - 2)
        rows = max(1, min(TALL, height - 2 - below))
        self.query_one(TextField).styles.height = rows
        return rows + below + 2

    def typed(self) -> Any:
        text = self.query_one(TextArea).text
        return self.value if text == self._began else read(self.slot, text)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self.slot, self.typed()))


class ListEditor(Editor):
    """Typing finds; enter chooses, of several also takes back."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("field")
    back = "close"

    def __init__(self, slot: FormField, value: Any) -> None:
        super().__init__(slot, value)
        self._offered: list[Any] = []
        self._list = ItemList()
        self._list.chooses_on_click = True
        self._list.can_focus = False  # typing goes on wherever the cursor is
        self._list.keeps_cursor = True

    def compose(self) -> ComposeResult:
        self.add_class("-framed")
        said = {Kind.MANY: " · any of them", Kind.RANKED: " · 1 is tried first"}.get(self.slot.kind, "")
        self.border_title = Content(f"{self.slot.label}{said}")
        self.border_subtitle = "enter chooses · esc closes"
        find = "type to find" + (", or another" if self.slot.takes_others else "")
        unknown = self.slot.when_unknown or "none is known here; type an id"
        yield Input(placeholder=find if self.slot.options else unknown)
        yield self._list
        yield self._wrong

    def on_mount(self) -> None:
        line = self.query_one(Input)
        line.cursor_blink = False
        self._fill()
        chosen = picked(self.slot, self.value)
        self._list.go_to(self._offered.index(chosen[0]) if chosen and chosen[0] in self._offered else 0)
        line.focus()

    def fit(self, width: int, height: int) -> int:
        below = self._rows_below(width - 2)
        wanted = len(offered(self.slot, self.value, ""))  # so that it does not jump as one types
        rows = max(1, min(TALL, wanted + 1, height - 3 - below))
        self._list.styles.height = rows
        return rows + below + 3

    def _fill(self) -> None:
        self._offered = offered(self.slot, self.value, self.query_one(Input).value.strip())
        none = "nothing is called so" if self.slot.options else "enter adds what is typed"
        self._list.fill(ListItems(list(option_items(self.slot, self.value, self._offered))), none)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._list.clear()
        self._fill()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    def on_item_list_chosen(self, event: ItemList.Chosen) -> None:
        event.stop()
        self.action_take()

    def on_item_list_moved(self, event: ItemList.Moved) -> None:
        event.stop()

    def action_take(self) -> None:
        if self._list.view is None or not self._offered:
            return
        one = self._offered[self._list.view.cursor]
        self.value = toggled(self.slot, self.value, one)
        self.post_message(self.Changed(self.slot, self.value, is_done=True))
        if self.slot.kind is not Kind.ONE:
            self.query_one(Input).value = ""
            self._fill()

    def action_move(self, rows: int) -> None:
        self._list.move(rows)


def editor_of(slot: FormField, value: Any) -> Editor:
    """The one that fits."""
    if slot.kind in (Kind.PAGE, Kind.PROMPT, Kind.LINES):
        return PageEditor(slot, value)
    if slot.kind in (Kind.ONE, Kind.MANY, Kind.RANKED):
        return ListEditor(slot, value)
    return LineEditor(slot, value)
