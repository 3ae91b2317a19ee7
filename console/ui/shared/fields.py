"""Fields that may hold what a platform or a runner wrote: it is edited as it is, and shown harmless."""

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
from console.ui.shared.bindings import bindings_for, bindings_of_a_text

_STYLE: Final = """
    background: $surface; padding: 0; border: none; scrollbar-size-vertical: 1;
"""


class LineField(Input):
    """One line."""

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
    """Several lines; grows with them. Tab leads to the next field."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of_a_text()
    DEFAULT_CSS = f"""
    TextField, TextField:focus {{ height: auto; min-height: 1; max-height: 8; width: 1fr; {_STYLE} }}
    TextField:focus {{ background: $boost; }}
    .-short TextField {{ max-height: 4; }}
    """

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(text, placeholder=placeholder, id=id, highlight_cursor_line=False)
        self.match_cursor_bracket = False

    def get_line(self, line_index: int) -> Text:
        """A line as it may be shown, of the same length."""
        return Text(in_place(self.document.get_line(line_index)), end="", no_wrap=True)


class Choice(Widget, can_focus=True):
    """One of a few: left and right go through them, enter wants to see them all."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("choice")
    DEFAULT_CSS = """
    Choice { height: 1; width: 1fr; background: $surface; text-wrap: nowrap; text-overflow: ellipsis; }
    Choice:focus { background: $boost; }
    """
    value: reactive[str] = reactive("")
    about: reactive[str] = reactive("")
    """What the value means."""

    @dataclass
    class Changed(Message):
        """It is another one now."""

        choice: "Choice"

    @dataclass
    class ListWanted(Message):
        """Someone wants to see all of them."""

        choice: "Choice"

    def __init__(self, value: str, options: Sequence[str], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.options = options
        self.set_reactive(Choice.value, value)

    def watch_value(self) -> None:
        self.post_message(self.Changed(self))

    def action_choose(self, step: int) -> None:
        place = self.options.index(self.value) if self.value in self.options else -step
        self.value = self.options[(place + step) % len(self.options)]

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
