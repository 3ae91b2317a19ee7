"""Input fields. Every field of the app is a `SafeInput` or a `SafeTextArea`.

Their text may come from a platform, a runner or the clipboard: it is edited as it is, and shown without characters that
a terminal obeys or hides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.widgets.text_area import Edit, EditResult, Location

from console.model.text.safe import in_place, one_line
from console.ui.shared.bindings import bindings_for, text_area_bindings

_STYLE: Final = """
    background: $surface; padding: 0; border: none; scrollbar-size-vertical: 1;
"""


MAX_WRAPPED_LINE_CHARS: Final = 10_000
"""Longer lines are not wrapped: Textual blocks the screen for seconds to wrap 300,000 characters."""
MAX_WRAPPED_LINES: Final = 2_000
"""With more lines none is wrapped: Textual wraps all of them at once, visible or not."""
MAX_BRACKET_SEARCH_CHARS: Final = 20_000
"""In longer text the bracket that matches the one at the cursor is not searched: on each move of the cursor Textual may
read up to the end of the text."""


class SafeInput(Input):
    """Textual's line, which shows its text and its placeholder safely."""

    def validate_placeholder(self, placeholder: str) -> str:
        return one_line(placeholder)

    @property
    def _value(self) -> Text:
        shown = "•" * len(self.value) if self.password else in_place(self.value)
        return Text(shown, no_wrap=True, overflow="ignore", end="")


class SafeTextArea(TextArea):
    """Textual's text area, which shows its text safely, and whose cost does not grow with the length of a line."""

    def __init__(self, text: str = "", *, soft_wrap: bool = True, **options: Any) -> None:
        self._may_wrap = soft_wrap
        super().__init__(text, soft_wrap=soft_wrap and _can_wrap(text), **options)

    def get_line(self, line_index: int) -> Text:
        """A line of the same length that is safe to show."""
        return Text(in_place(self.document.get_line(line_index)), end="", no_wrap=True)

    def load_text(self, text: str) -> None:
        # Before the text: Textual wraps it when it is loaded.
        if self.soft_wrap != (is_wrapped := self._may_wrap and _can_wrap(text)):
            self.set_reactive(TextArea.soft_wrap, is_wrapped)
        super().load_text(text)

    def edit(self, edit: Edit) -> EditResult:
        if self.soft_wrap and not _can_wrap(edit.text):
            self.soft_wrap = False
        return super().edit(edit)

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """The location of the matching bracket, or None; in a long text always None."""
        if not self.match_cursor_bracket or self._is_long():
            return None
        return super().find_matching_bracket(bracket, search_from)

    def _is_long(self) -> bool:
        lengths = accumulate(len(line) + 1 for line in self.document.lines)
        return any(total > MAX_BRACKET_SEARCH_CHARS for total in lengths)


def _can_wrap(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) <= MAX_WRAPPED_LINES and all(len(line) <= MAX_WRAPPED_LINE_CHARS for line in lines)


class LineField(SafeInput):
    """A field of one line."""

    DEFAULT_CSS = f"""
    LineField, LineField:focus {{ height: 1; width: 1fr; {_STYLE} }}
    LineField:focus {{ background: $boost; }}
    """

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(value, placeholder=placeholder, id=id, select_on_focus=False)


class TextField(SafeTextArea, inherit_bindings=False):
    """A field of several lines that grows with its text. Tab goes to the next field."""

    BINDINGS: ClassVar[list[BindingType]] = text_area_bindings()
    DEFAULT_CSS = f"""
    TextField, TextField:focus {{ height: auto; min-height: 1; max-height: 8; width: 1fr; {_STYLE} }}
    TextField:focus {{ background: $boost; }}
    .-short TextField {{ max-height: 4; }}
    """

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(text, placeholder=placeholder, id=id, highlight_cursor_line=False)
        self.match_cursor_bracket = False


class Choice(Widget, can_focus=True):
    """A choice of a few options: left and right change it, enter opens a list of them."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("choice")
    DEFAULT_CSS = """
    Choice { height: 1; width: 1fr; background: $surface; text-wrap: nowrap; text-overflow: ellipsis; }
    Choice:focus { background: $boost; }
    """
    value: reactive[str] = reactive("")
    about: reactive[str] = reactive("")
    """An explanation of the value."""

    @dataclass
    class Changed(Message):
        """Posted when the value changes."""

        choice: "Choice"

    @dataclass
    class ListWanted(Message):
        """Posted when the user opens the list of options."""

        choice: "Choice"

    def __init__(self, value: str, options: Sequence[str], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.options = options
        self.set_reactive(Choice.value, value)

    def watch_value(self) -> None:
        self.post_message(self.Changed(self))

    def action_choose(self, step: int) -> None:
        index = self.options.index(self.value) if self.value in self.options else -step
        self.value = self.options[(index + step) % len(self.options)]

    def action_list(self) -> None:
        self.post_message(self.ListWanted(self))

    def on_click(self) -> None:
        self.action_list()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render(self) -> Content:
        shown = f"< {self.value} >" if self.has_focus else self.value
        return Content.assemble((shown, "bold"), (f"  {self.about}" if self.about else "", "$text-muted"))
