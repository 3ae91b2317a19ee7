"""Input fields. Their text may come from a platform or a runner: it is edited as it is, and shown without control
characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, TextArea

from console.model.text.safe import in_place
from console.ui.shared.bindings import bindings_for, text_area_bindings

_STYLE: Final = """
    background: $surface; padding: 0; border: none; scrollbar-size-vertical: 1;
"""


class LineField(Input):
    """A field of one line."""

    DEFAULT_CSS = f"""
    LineField, LineField:focus {{ height: 1; width: 1fr; {_STYLE} }}
    LineField:focus {{ background: $boost; }}
    """

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(value, placeholder=placeholder, id=id, select_on_focus=False)

    @property
    def _value(self) -> Text:
        return Text(in_place(self.value), no_wrap=True, overflow="ignore", end="")


class TextField(TextArea, inherit_bindings=False):
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

    def get_line(self, line_index: int) -> Text:
        """A line of the same length that is safe to show."""
        return Text(in_place(self.document.get_line(line_index)), end="", no_wrap=True)


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
