"""The lines that open at the bottom of the stream: a filter, an entry to go to, what to copy."""

from typing import TYPE_CHECKING

from textual.widgets import Input

from console.model.stream.filters import FilterError
from console.widgets.stream.filter_line import EntryLine, FilterLine
from console.widgets.stream.yank import YankMenu

if TYPE_CHECKING:
    from textual.widget import Widget

    from console.widgets.stream.lines import StreamLines

    _Widget = Widget
else:
    # Not Textual's widget: of two bases that are, it would take the styles and keys of the first only.
    _Widget = object


class Asking(_Widget):
    """A part of the stream. One line at a time; esc or the answer closes it."""

    _lines: "StreamLines"
    _filter_line: FilterLine
    _entry_line: EntryLine
    _yank_menu: YankMenu
    _filter: str
    _wrong = ""
    """What is wrong with what is being typed."""

    if TYPE_CHECKING:

        @property
        def _position(self) -> int | None: ...
        @property
        def last(self) -> int: ...
        def set_filter(self, text: str) -> None: ...
        def go_to(self, position: int) -> None: ...
        def yank(self, what: str, position: int) -> None: ...
        def _refuses(self, what: str) -> bool: ...
        def _tell(self) -> None: ...

    def close_line(self) -> bool:
        """Close the line that is open; whether there was one."""
        lines = [line for line in (self._yank_menu, self._filter_line, self._entry_line) if line.display]
        for line in lines:
            self._close(line)
        return bool(lines)

    def action_filter(self) -> None:
        self.close_line()
        self._filter_line.open(self._filter)

    def action_ask_entry(self) -> None:
        if not self._refuses("go_to"):
            self.close_line()
            self._entry_line.open()

    def action_yank(self) -> None:
        if not self._refuses("yank") and self._position is not None:
            self.close_line()
            self._yank_menu.display = True
            self._yank_menu.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input is self._entry_line:
            self._go_to_typed()
            return
        try:
            self.set_filter(event.value)
        except FilterError as error:
            self._say_wrong(str(error))
        else:
            self._close(self._filter_line)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._say_wrong("")

    def on_filter_line_left(self, event: FilterLine.Left) -> None:
        event.stop()
        self.close_line()

    def on_yank_menu_chosen(self, event: YankMenu.Chosen) -> None:
        event.stop()
        if (position := self._position) is not None:
            self.yank(event.what, position)
        self._close(self._yank_menu)

    def on_yank_menu_closed(self, event: YankMenu.Closed) -> None:
        event.stop()
        self._close(self._yank_menu)

    def _go_to_typed(self) -> None:
        number = self._entry_line.number
        if number is None or not 1 <= number <= self.last:
            self._say_wrong(f"the entries are #1 to #{self.last:,}")
            return
        self._close(self._entry_line)
        self.go_to(number)

    def _say_wrong(self, words: str) -> None:
        self._wrong = words
        self._tell()

    def _close(self, line: "Widget") -> None:
        """Back from a line to the rows."""
        had_focus = line.has_focus
        line.display = False
        if had_focus:
            self._lines.focus()
        self._say_wrong("")
