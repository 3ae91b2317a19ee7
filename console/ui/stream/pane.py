"""The stream pane: every entry of a run as a row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from console.model.commands.key_labels import key_of
from console.model.stream.border import border_text
from console.model.stream.cursor import StreamCursor
from console.model.stream.filter import FilterError, only_kind, parse_filter, without_kind
from console.model.stream.layout import Span
from console.model.stream.time_column import TimeMode
from console.model.stream.timeline import Timeline
from console.model.text.safe import one_line
from console.ui.shared.bindings import bindings_for
from console.ui.shared.crash_guard import PaneGuard
from console.ui.shared.refused import refuse
from console.ui.stream.input_lines import CopyMenu, EntryLine, FilterLine
from console.ui.stream.lines import StreamLines


class StreamPane(PaneGuard, Vertical):
    """Shows a timeline, moves the cursor, and posts commands for the current entry."""

    BORDER_TITLE = "Stream"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("stream")
    DEFAULT_CSS = """
    StreamPane {
        height: 1fr;
        border: round $panel-lighten-2;
        border-title-color: $foreground;
        border-subtitle-color: $text-muted;
        &:focus-within { border: round $accent; }
        &.-wrong { border-subtitle-color: $text-error; }
    }
    """

    @dataclass
    class CursorMoved(Message):
        """Posted when the cursor moves. The screen shows the session as of this entry, or now if it is None."""

        position: int | None

    @dataclass
    class Inspect(Message):
        """Posted when the user opens an entry in the inspector."""

        position: int

    @dataclass
    class ToggleBreakpoint(Message):
        """Posted when the user sets or removes a breakpoint at entries of the kind of the current entry."""

        kind: str
        position: int

    @dataclass
    class Copy(Message):
        """Posted when the user copies a part of an entry: event, payload, text, id, or a reproducing command line."""

        what: str
        position: int

    @dataclass
    class Filter(Message):
        """Posted when the filter changes; `text` is empty if there is none."""

        text: str

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines = StreamLines()
        self._filter_line = FilterLine()
        self._entry_line = EntryLine()
        self._copy_menu = CopyMenu()
        self._view: StreamCursor | None = None
        self._filter = ""
        self._input_error = ""
        """Why the text in an open line is not accepted."""
        self._is_raw = False
        self._cursor: int | None = None
        self._subtitle = ""
        self._marks: dict[str, set[int]] = {}
        """Marked positions by run."""
        self.entry: int | None = None
        """The current entry if it may not be the newest, because the user moved the cursor or set a filter."""

    def compose(self) -> ComposeResult:
        yield self._lines
        yield self._filter_line
        yield self._entry_line
        yield self._copy_menu

    # Called by the screen

    def show(self, timeline: Timeline) -> None:
        """Show a run from its end with the current filter and its earlier marks."""
        self._marks = {run_id: marks for run_id, marks in self._marks.items() if marks}
        self._view = StreamCursor(timeline, self._marks.setdefault(timeline.run_id, set()))
        self._view.set_filter(parse_filter(self._filter))
        self._view.show_raw(self._is_raw)
        self._lines.show_view(self._view)
        self._redraw()

    def on_batch(self) -> None:
        """Called once a tick, after the timeline was updated."""
        if self._view is None:
            return
        self._view.tick()
        self._lines.on_batch()
        self._update_border()

    def go_to(self, position: int) -> None:
        """Put the cursor on an entry."""
        if self._view is not None:
            self._view.go(position)
            self._redraw()

    def cycle_times(self) -> TimeMode:
        """Switch to the next time mode."""
        self._lines.mode = self._lines.mode.next
        self._lines.redraw()
        return self._lines.mode

    def set_filter(self, text: str) -> None:
        """Set the filter; empty for none. Raises FilterError."""
        chosen = parse_filter(text)
        self._filter = chosen.text if chosen else ""
        if self._view is not None:
            self._view.set_filter(chosen)
        self.post_message(self.Filter(self._filter))
        self._redraw()

    def clear_filter(self) -> bool:
        """Clear the filter. Returns whether one was set."""
        had = bool(self._filter)
        if had:
            self.set_filter("")
        return had

    def go_live(self) -> bool:
        """Follow the end. Returns whether that is a change."""
        view = self._view
        if view is None or view.follow.is_tail:
            return False
        view.end()
        self._redraw()
        return True

    def go_to_turn(self, turn: int) -> None:
        """Put the cursor on the first entry of a turn."""
        self._change_view(lambda view: view.go_to_turn(turn))

    def why_not(self, what: str) -> str | None:
        """The reason why a command cannot be carried out now, or None."""
        view = self._view
        if what == "clear":
            return None if self._filter else "No filter is set."
        if view is None and what != "filter":
            return "No entries yet."
        if what == "time" and not self._lines.has_times:
            return "The pane is too narrow for times. Make it wider."
        if view is None or what in ("time", "raw", "filter", "only_tools", "only_steering"):
            return None
        if not view.timeline.last:
            return "No entries yet."
        if view.timeline.is_filtered and view.current() is None:
            if view.timeline.progress is not None:
                return "The filter is still being applied. Try again when it is done."
            return f"No entry matches the filter. Press {key_of('stream.clear')} to clear it."
        if what in ("next_mark", "clear_marks") and not view.marks:
            return f"No row is marked. Press {key_of('stream.mark')} to mark one."
        if what in ("next_match", "previous_match") and not view.timeline.has_filter:
            return f"No filter was set yet. Press {key_of('stream.filter')} to set one."
        return None

    @property
    def last(self) -> int:
        """The number of entries."""
        return 0 if self._view is None else self._view.timeline.last

    def focus(self, scroll_visible: bool = True) -> "StreamPane":
        """Focus the rows."""
        self._lines.focus(scroll_visible)
        return self

    # Keys

    def action_move(self, rows: int) -> None:
        self._move("up", lambda view: view.move(rows))

    def action_page(self, share: float) -> None:
        self._move("page_up", lambda view: view.page_by(share))

    def action_first(self) -> None:
        self._move("first", lambda view: view.first())

    def action_end(self) -> None:
        self._move("end", lambda view: view.end())

    def action_turn(self, step: int) -> None:
        self._move("turn_before", lambda view: view.turn(step))

    def action_match(self, step: int) -> None:
        view, before = self._view, self._cursor
        if self._refuse("next_match") or view is None:
            return
        self._change_view(lambda view: view.match(step))
        if self._cursor == before and not view.is_moving:
            refuse(self, "No other match in this direction.")

    def action_flag(self) -> None:
        self._move("mark", lambda view: view.toggle_mark())

    def action_next_flag(self) -> None:
        self._move("next_mark", lambda view: view.go_to_next_mark())

    def action_clear_flags(self) -> None:
        self._move("clear_marks", lambda view: view.marks.clear())

    def action_raw(self) -> None:
        if self._refuse("raw"):
            return
        self._is_raw = not self._is_raw
        self._change_view(lambda view: view.show_raw(self._is_raw))

    def action_time(self) -> None:
        if not self._refuse("time"):
            self.cycle_times()

    def action_see_only(self, pattern: str) -> None:
        self.set_filter(f"kind:{pattern}")

    def action_only(self) -> None:
        if not self._refuse("only") and (kind := self._kind) is not None:
            self.set_filter(only_kind(kind))

    def action_hide(self) -> None:
        if not self._refuse("hide") and (kind := self._kind) is not None:
            self.set_filter(without_kind(self._filter, kind))

    def action_clear(self) -> None:
        if not self._refuse("clear"):
            self.set_filter("")

    def action_inspect(self) -> None:
        if not self._refuse("inspect") and (position := self._position) is not None:
            self.go_to(position)
            self.post_message(self.Inspect(position))

    def action_breakpoint(self) -> None:
        if not self._refuse("breakpoint") and (kind := self._kind) is not None:
            self.post_message(self.ToggleBreakpoint(kind, self._position or 0))

    # The lines at the bottom

    def close_line(self) -> bool:
        """Close the open line. Returns whether one was open."""
        lines = [line for line in (self._copy_menu, self._filter_line, self._entry_line) if line.display]
        for line in lines:
            self._close(line)
        return bool(lines)

    def action_filter(self) -> None:
        self.close_line()
        self._filter_line.open(self._filter)

    def action_ask_entry(self) -> None:
        if not self._refuse("go_to"):
            self.close_line()
            self._entry_line.open()

    def action_yank(self) -> None:
        if not self._refuse("yank") and self._position is not None:
            self.close_line()
            self._copy_menu.display = True
            self._copy_menu.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input is self._entry_line:
            self._go_to_typed()
            return
        try:
            self.set_filter(event.value)
        except FilterError as error:
            self._show_error(str(error))
        else:
            self._close(self._filter_line)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_error("")

    def on_filter_line_closed(self, event: FilterLine.Closed) -> None:
        event.stop()
        self.close_line()

    def on_copy_menu_chosen(self, event: CopyMenu.Chosen) -> None:
        event.stop()
        if (position := self._position) is not None:
            self.post_message(self.Copy(event.what, position))
        self._close(self._copy_menu)

    def on_copy_menu_closed(self, event: CopyMenu.Closed) -> None:
        event.stop()
        self._close(self._copy_menu)

    def _go_to_typed(self) -> None:
        number = self._entry_line.number
        if number is None or not 1 <= number <= self.last:
            self._show_error(f"Enter a number from 1 to {self.last:,}.")
            return
        self._close(self._entry_line)
        self.go_to(number)

    def _show_error(self, text: str) -> None:
        self._input_error = text
        self._update_border()

    def _close(self, line: Widget) -> None:
        """Close a line and focus the rows."""
        had_focus = line.has_focus
        line.display = False
        if had_focus:
            self._lines.focus()
        self._show_error("")

    # Rows

    def on_stream_lines_clicked(self, event: StreamLines.Clicked) -> None:
        event.stop()
        before = self._cursor
        self._change_view(lambda view: view.click(event.row))
        if self._cursor is not None and self._cursor == before:
            self.post_message(self.Inspect(self._cursor))  # a second click on the same row

    def on_stream_lines_wheeled(self, event: StreamLines.Wheeled) -> None:
        event.stop()
        self._change_view(lambda view: view.scroll(event.rows))

    # Private

    def _refuse(self, command: str) -> bool:
        """Post the reason if a command cannot be carried out now. Returns whether there was one."""
        return refuse(self, self.why_not(command))

    def _move(self, command: str, change: Callable[[StreamCursor], None]) -> None:
        """Change the view, or post the reason why the command cannot be carried out."""
        if not self._refuse(command):
            self._change_view(change)

    def _change_view(self, change: Callable[[StreamCursor], None]) -> None:
        if self._view is not None:
            change(self._view)
            self._redraw()

    @property
    def _current(self) -> Span | None:
        return None if self._view is None else self._view.current()

    @property
    def _kind(self) -> str | None:
        return None if (span := self._current) is None else span.kind

    @property
    def _position(self) -> int | None:
        return None if self._view is None else self._view.entry

    def _redraw(self) -> None:
        """Draw the rows and update the border after a command."""
        self._lines.redraw()
        self._update_border()

    def _update_border(self) -> None:
        """Update the border, and post `CursorMoved` if the cursor has moved."""
        view = self._view
        if view is None:
            return
        self.entry = None if view.follow.is_tail and not view.timeline.is_filtered else view.entry
        if view.cursor != self._cursor:
            self._cursor = view.cursor
            self.post_message(self.CursorMoved(view.cursor))
        text = self._input_error or border_text(view, self._filter, self.size.width)
        if not self.styles.border_left[0]:
            text = f" {text} "  # Textual puts spaces around it only if the border has corners
        if text != self._subtitle:
            self._subtitle = text
            self.set_class(bool(self._input_error), "-wrong")
            self.border_subtitle = Content(one_line(text, 200))
