"""A dialog to pick one of many texts by typing a part of it."""

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from console.model.text.word_match import matching, shown, spans
from console.ui.shared.dialog import Dialog
from console.ui.shared.fields import SafeInput
from console.ui.shared.marked_list import MarkedOptionList

MAX_FINDER_ROWS: Final = 50
"""Rows that are built; typing more narrows them down."""


class Finder(Dialog[str | None]):
    """Returns the chosen text, or None after esc. The best match is at the top and highlighted."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012  (as Textual has it)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "close", priority=True),
        Binding("up", "move('cursor_up')", "up", priority=True),
        Binding("down", "move('cursor_down')", "down", priority=True),
        Binding("pageup", "move('page_up')", "page up", priority=True),
        Binding("pagedown", "move('page_down')", "page down", priority=True),
    ]
    own_keys = (("enter", "select"), ("esc", "close"))
    SCOPED_CSS = False
    DEFAULT_CSS = """
    Finder { align: center bottom; background: $background 0%; }
    Finder > Vertical { width: 76; max-width: 100%; height: auto; max-height: 100%; border: round $accent; }
    Finder > Vertical { background: $surface; margin: 0 0 1 0; }
    Finder Input, Finder Input:focus { border: none; height: 1; padding: 0 1; background: $panel; }
    Finder OptionList, Finder OptionList:focus { height: auto; max-height: 12; border: none; padding: 0; }
    Finder OptionList { background: $surface; scrollbar-size-vertical: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    Finder.-short OptionList { max-height: 7; }
    Finder OptionList > .option-list--option { padding: 0 1 0 2; }
    Finder OptionList > .option-list--option-highlighted {
        color: $block-cursor-foreground; background: $block-cursor-background; text-style: bold;
    }
    """

    def __init__(
        self,
        title: str,
        texts: Sequence[str],
        *,
        chosen: str = "",
        no_match: str = "No match.",
        empty: str = "The list is empty.",
    ) -> None:
        super().__init__()
        self._title = title
        self._texts = texts
        self._chosen = chosen
        self._no_match = no_match
        self._empty = empty
        self._found: list[str] = []
        self._input = SafeInput(placeholder="Type to search")
        self._list = MarkedOptionList(markup=False)
        self._list.can_focus = False

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self._title
            box.border_subtitle = "enter select · esc close"
            yield self._input
            yield self._list

    def on_mount(self) -> None:
        self._fill("")
        if self._chosen in self._found:
            self._list.highlighted = self._found.index(self._chosen)

    @property
    def row(self) -> str | None:
        """The highlighted text."""
        index = self._list.highlighted
        return self._found[index] if index is not None and index < len(self._found) else None

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_move(self, action: str) -> None:
        """Run an action of the list."""
        getattr(self._list, f"action_{action}")()

    @on(Input.Changed)
    def _text_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.row is not None:
            self.dismiss(self.row)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_index < len(self._found):
            self.dismiss(self._found[event.option_index])

    def _fill(self, typed: str) -> None:
        found = matching(self._texts, typed)
        self._found = found[:MAX_FINDER_ROWS]
        rows = [Option(_highlighted(text, typed)) for text in self._found]
        if len(found) > MAX_FINDER_ROWS:
            rows.append(
                Option(Content(f"{len(found) - MAX_FINDER_ROWS} more. Type to narrow the list."), disabled=True)
            )
        if not found:
            rows.append(Option(Content(self._no_match if self._texts else self._empty), disabled=True))
        self._list.clear_options().add_options(rows)
        self._list.highlighted = 0 if found else None


def _highlighted(text: str, typed: str) -> Content:
    line = shown(text)
    content = Content(line)
    for start, end in spans(line, typed):
        content = content.stylize("bold underline", start, end)
    return content
