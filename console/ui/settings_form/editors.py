"""Editors of values: a line, a text of several lines, or a list of options. They cover the row of their field."""

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
from console.model.settings_form.fields import SELECTIONS, TEXTS, FieldKind, FormField
from console.model.settings_form.options import matching_options, option_items
from console.model.settings_form.values import edit_text, parse_text, selected_values, toggle_option
from console.model.text.columns import broken
from console.model.text.lists import ListItems
from console.ui.shared.bindings import bindings_for
from console.ui.shared.fields import LineField, SafeInput, TextField
from console.ui.shared.list import ItemList

MAX_EDITOR_ROWS: Final = 10
"""Rows of a text or a list."""
_LINE_BREAK: Final = "␊"
"""Shown for a line break in an editor of one line."""


class Editor(Vertical):
    """The base of editors. It posts values; the form checks them."""

    DEFAULT_CSS = """
    Editor { layer: over; position: absolute; height: auto; background: $surface; }
    Editor > .wrong { height: auto; color: $text-error; background: $surface; padding: 0 1; }
    Editor Input, Editor Input:focus { height: 1; border: none; padding: 0; background: $boost; }
    Editor TextField, Editor TextField:focus { min-height: 1; max-height: 100; }
    Editor.-framed { border: round $accent; border-title-color: $foreground; }
    """
    back: ClassVar[str] = "discard"
    """The label of esc."""
    is_warned = False
    """The user was told that the value cannot be saved."""

    @dataclass
    class Changed(Message):
        """Posted when the value changes."""

        field: FormField
        value: Any
        is_done: bool = False
        """The user has confirmed the value."""

    def __init__(self, field: FormField, value: Any) -> None:
        super().__init__()
        self.field = field
        self.value = value
        self._problem_line = Static("", classes="wrong", markup=False)
        self._problem_line.display = False
        self._problem = ""
        self._initial_text = edit_text(field, value)
        """If the text stays the same, so does the value, even if it has the wrong type."""

    def show_problem(self, problem: str | None) -> None:
        """Show or hide what is wrong with the value."""
        self._problem = f"✗ {problem}" if problem else ""
        self._problem_line.display = bool(problem)
        self._problem_line.update(Content(self._problem))

    def can_edit(self, field: FormField) -> bool:
        """Whether this is the editor of a field that may have changed otherwise."""
        return (field.key, field.kind) == (self.field.key, self.field.kind)

    def cover_row(self, row: int, left: int, room: Size) -> None:  # noqa: ARG002  (it uses the whole width)
        """Move below the row of the field, or up if there is no room. `left` is the column of the value."""
        self._move_to(1, row + 1, room)

    def _move_to(self, left: int, row: int, room: Size) -> None:
        rows = self.fit(room.width - left, room.height)
        self.styles.width, self.styles.max_height = room.width - left, room.height
        self.styles.offset = (left, max(0, min(row, room.height - rows)))

    def fit(self, width: int, height: int) -> int:  # noqa: ARG002  (for subclasses)
        """Resize to at most this size. Returns the number of rows."""
        return 1 + self._rows_below(width)

    def _rows_below(self, width: int) -> int:
        """Rows of the problem."""
        return len(broken(self._problem, max(1, width - 2))) if self._problem else 0

    def current_value(self) -> Any:
        """The value of the typed text."""
        return self.value

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()


class LineEditor(Editor):
    """Edits one line; enter saves it."""

    def cover_row(self, row: int, left: int, room: Size) -> None:
        """Cover the value in the row of the field."""
        self._move_to(left, row, room)

    def compose(self) -> ComposeResult:
        self._initial_text = self._initial_text.replace("\n", _LINE_BREAK)
        secret = SafeInput(self._initial_text, password=True, select_on_focus=False) if self.field.is_secret else None
        yield secret or LineField(self._initial_text)
        yield self._problem_line

    def on_mount(self) -> None:
        line = self.query_one(Input)
        line.cursor_blink = False
        line.focus()

    def current_value(self) -> Any:
        text = self.query_one(Input).value
        return self.value if text == self._initial_text else parse_text(self.field, text.replace(_LINE_BREAK, "\n"))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self.field, self.current_value()))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Changed(self.field, self.current_value(), is_done=True))


class HiddenText(TextField):
    """Shows dots in place of the letters of a secret."""

    def get_line(self, line_index: int) -> Text:
        return Text("•" * len(self.document.get_line(line_index)), end="", no_wrap=True)


class TextEditor(Editor):
    """Edits several lines; esc saves them."""

    back = "save"

    def compose(self) -> ComposeResult:
        self.add_class("-framed")
        hints = {
            FieldKind.LINES: " · one per line",
            FieldKind.PROMPT: " · text, or `system:` and `user:` above each message",
        }
        self.border_title = Content(f"{self.field.label}{hints.get(self.field.kind, '')}")
        self.border_subtitle = f"esc saves · then {key_of('form.undo')} undoes it"
        yield (HiddenText if self.field.is_secret else TextField)(self._initial_text)
        yield self._problem_line

    def on_mount(self) -> None:
        area = self.query_one(TextField)
        area.cursor_blink = False
        self._initial_text = area.text  # the widget normalises line ends
        area.focus()
        area.move_cursor(area.document.end)

    def fit(self, width: int, height: int) -> int:
        below = self._rows_below(width - 2)
        rows = max(1, min(MAX_EDITOR_ROWS, height - 2 - below))
        self.query_one(TextField).styles.height = rows
        return rows + below + 2

    def current_value(self) -> Any:
        text = self.query_one(TextArea).text
        return self.value if text == self._initial_text else parse_text(self.field, text)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self.field, self.current_value()))


class ListEditor(Editor):
    """Selects options. Typing searches them; enter selects one, or deselects it if several are allowed."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("field")
    back = "close"

    def __init__(self, field: FormField, value: Any) -> None:
        super().__init__(field, value)
        self._options: list[Any] = []
        self._list = ItemList()
        self._list.chooses_on_click = True
        self._list.can_focus = False  # the search keeps the focus
        self._list.keeps_cursor = True

    def compose(self) -> ComposeResult:
        self.add_class("-framed")
        hints = {FieldKind.MANY: " · any number", FieldKind.RANKED: " · 1 is tried first"}
        self.border_title = Content(f"{self.field.label}{hints.get(self.field.kind, '')}")
        self.border_subtitle = "enter chooses · esc closes"
        search = "Type to search" + (", or another value" if self.field.allows_others else "")
        unknown = self.field.no_options_text or "No options known; type an id"
        yield SafeInput(placeholder=search if self.field.options else unknown)
        yield self._list
        yield self._problem_line

    def on_mount(self) -> None:
        line = self.query_one(Input)
        line.cursor_blink = False
        self._fill_list()
        selected = selected_values(self.field, self.value)
        self._list.go_to(self._options.index(selected[0]) if selected and selected[0] in self._options else 0)
        line.focus()

    def fit(self, width: int, height: int) -> int:
        below = self._rows_below(width - 2)
        wanted = len(matching_options(self.field, self.value, ""))  # the size does not change while the user types
        rows = max(1, min(MAX_EDITOR_ROWS, wanted + 1, height - 3 - below))
        self._list.styles.height = rows
        return rows + below + 3

    def _fill_list(self) -> None:
        self._options = matching_options(self.field, self.value, self.query_one(Input).value.strip())
        none = "No option matches." if self.field.options else "enter adds the typed value."
        self._list.fill(ListItems(list(option_items(self.field, self.value, self._options))), none)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._list.clear()
        self._fill_list()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    def on_item_list_chosen(self, event: ItemList.Chosen) -> None:
        event.stop()
        self.action_take()

    def on_item_list_moved(self, event: ItemList.Moved) -> None:
        event.stop()

    def action_take(self) -> None:
        if self._list.view is None or not self._options:
            return
        option = self._options[self._list.view.cursor]
        self.value = toggle_option(self.field, self.value, option)
        self.post_message(self.Changed(self.field, self.value, is_done=True))
        if self.field.kind is not FieldKind.ONE:
            self.query_one(Input).value = ""
            self._fill_list()

    def action_move(self, rows: int) -> None:
        self._list.move(rows)


def editor_of(field: FormField, value: Any) -> Editor:
    """Create the editor for a kind of field."""
    if field.kind in TEXTS:
        return TextEditor(field, value)
    if field.kind in SELECTIONS:
        return ListEditor(field, value)
    return LineEditor(field, value)
