"""The rows of the stream. The cost depends on the screen only, not on the length of the run."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.style import Style
from textual import events
from textual.geometry import Offset, Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from console.model.stream.cursor import PageRow, StreamCursor
from console.model.stream.rows import TONES
from console.model.stream.time_column import TimeMode
from console.ui.shared.crash_guard import PaneGuard
from console.ui.shared.selection import highlight_range
from console.ui.stream.row import Columns, RowStyle, draw_heading, draw_note, draw_row

WHEEL_ROWS: Final = 3
"""Rows per step of the mouse wheel."""
MAX_CACHED_STRIPS: Final = 1_024
_PARTS = ("position", "time", "text", "cursor", "pinned", "mark", "heading", "base", "faint")


class StreamLines(PaneGuard, Widget, can_focus=True):
    """A page of rows with its own scroll position: a virtual size would need a layout for every entry."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"stream--{name}" for name in (*TONES, *_PARTS)}
    DEFAULT_CSS = """
    StreamLines {
        height: 1fr;
        background: $surface;
        & .stream--position, & .stream--time, & .stream--heading, & .stream--faint { color: $text-muted; }
        & .stream--text { color: $foreground; }
        & .stream--cursor { color: $accent; text-style: bold; }
        & .stream--mark { color: $warning; text-style: bold; }
        & .stream--pinned { background: $chosen; }
        & .stream--message { color: $foreground; }
        & .stream--tool, & .stream--action { color: $text-accent; }
        & .stream--state, & .stream--artifact { color: $text-secondary; }
        & .stream--steering, & .stream--user, & .stream--pause, & .stream--cancel { color: $text-warning; }
        & .stream--run, & .stream--host { color: $text-primary; }
        & .stream--call, & .stream--output, & .stream--runner { color: $text-muted; }
        & .stream--warning { color: $text-warning; text-style: bold; }
        & .stream--error { color: $text-error; text-style: bold; }
    }
    """

    @dataclass
    class Clicked(Message):
        """Posted when the user clicks a row; `row` counts from the top of the page."""

        row: int

    @dataclass
    class Wheeled(Message):
        """Posted when the user turns the mouse wheel."""

        rows: int

    def __init__(self) -> None:
        super().__init__()
        self.mode = TimeMode.STEP
        self._view: StreamCursor | None = None
        self._lines: list[Strip] = []
        self._strips: OrderedDict[tuple[object, ...], Strip] = OrderedDict()
        self._styles: dict[str, Style] = {}
        self._row_style: RowStyle | None = None
        self._heading = self._blank = Strip([])
        self._is_complete = False
        self._drawn_version = -1

    @property
    def rows(self) -> int:
        """The number of rows that fit."""
        return max(1, self.size.height - self._heading_height)

    @property
    def has_times(self) -> bool:
        """Whether the time column is shown."""
        return self._row_style is None or bool(self._row_style.columns.time)

    def show_view(self, view: StreamCursor) -> None:
        """Show the page of a cursor."""
        self._view = view
        self._strips.clear()
        self.redraw()

    def on_batch(self) -> None:
        """Called once a tick: draw again if the rows may have changed."""
        view = self._view
        if view is not None and (view.timeline.version != self._drawn_version or not self._is_complete):
            self.redraw()

    def redraw(self) -> None:
        """Draw the page and refresh the lines that have changed."""
        view = self._view
        if view is None or not self.size.width:
            return
        view.resize(self.rows)
        self._drawn_version = view.timeline.version
        page = view.page()
        self._is_complete = page.is_whole
        row_style = self._update_row_style(view)
        current = None if page.current is None else page.current.first
        lines = [self._row(shown, row_style, view, current) for shown in page.rows]
        if len(lines) < self.rows and (note := self._note(view, is_empty=not lines)):
            # Missing rows at the end of a run are above, so the note goes to the top.
            above = self.rows - len(lines) if lines and view.follow.is_tail else 0
            lines[:0] = [self._blank] * (above - 1)
            lines.insert(0 if above else len(lines), draw_note(note, self.size.width, row_style))
        if self._heading_height:
            lines.insert(0, self._heading)
        lines += [self._blank] * (self.size.height - len(lines))
        self._replace(lines)

    def repaint(self) -> None:
        """Draw again after the theme or the width has changed."""
        self._styles.clear()
        self._strips.clear()
        self._row_style = None
        self.redraw()

    def render_line(self, y: int) -> Strip:
        strip = self._lines[y] if y < len(self._lines) else Strip.blank(self.size.width, self._style("base"))
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(y)) is not None:
            strip = highlight_range(strip, *span, self.screen.get_component_rich_style("screen--selection"))
        # Textual needs offsets only for the widget under the mouse.
        return strip.apply_offsets(0, y) if self.app.mouse_over is self else strip

    # Text selection

    def selection_updated(self, selection: Selection | None) -> None:
        """Stop following the end while text is being selected."""
        if selection is not None and self._view is not None:
            self._view.stop_following()
            self.redraw()
        super().selection_updated(selection)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text. Only rows in view can be selected."""
        text = "\n".join(strip.text.rstrip() for strip in self._lines)
        return selection.extract(text), "\n"

    # Styles and mouse

    def notify_style_update(self) -> None:
        super().notify_style_update()
        # Textual calls this before the component styles are updated.
        self.call_later(self.repaint)

    def on_resize(self) -> None:
        self.repaint()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Wheeled(-WHEEL_ROWS))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Wheeled(WHEEL_ROWS))

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked row, unless the click ended a selection."""
        event.stop()
        event.prevent_default()  # a second click would select everything
        if self.text_selection is None:
            self.post_message(self.Clicked(event.y - self._heading_height))

    def jump_offsets(self) -> Iterator[Offset]:
        """The offsets of the rows, for jump mode."""
        rows = len(self._view.page().rows) if self._view is not None else 0
        yield from (Offset(0, self._heading_height + row) for row in range(min(rows, self.rows)))

    # Private

    @property
    def _heading_height(self) -> int:
        return 1 if self.size.height > 6 else 0

    def _row(self, shown: PageRow, row_style: RowStyle, view: StreamCursor, current: int | None) -> Strip:
        is_current = shown.span.first == current
        is_flagged = shown.span.first in view.marks
        key = (shown, is_current, is_current and view.cursor is not None, is_flagged)
        strip = self._strips.get(key)
        if strip is None:
            strip = draw_row(shown, row_style, is_current=key[1], is_pinned=key[2], is_flagged=is_flagged)
            if len(self._strips) >= MAX_CACHED_STRIPS:
                self._strips.popitem(last=False)
            self._strips[key] = strip
        return strip

    def _note(self, view: StreamCursor, *, is_empty: bool) -> str:
        """The reason why there are no more rows, if it is not obvious."""
        if not self._is_complete:
            return "Reading…"
        if not is_empty:
            return ""
        return "No entry matches the filter." if view.timeline.is_filtered else "No entries yet."

    def _update_row_style(self, view: StreamCursor) -> RowStyle:
        """Return the row style for the current size and run. Clears the cached strips if it has changed."""
        timeline = view.timeline
        layout = Columns.fit(self.size.width, timeline.last), self.mode, timeline.began, timeline.is_filtered
        row_style = self._row_style
        if row_style is None or (row_style.columns, row_style.mode, row_style.began, row_style.is_filtered) != layout:
            row_style = RowStyle(*layout, self._style)
            self._row_style = row_style
            self._strips.clear()
            self._heading = draw_heading(row_style)
            self._blank = Strip.blank(self.size.width, self._style("base"))
        return row_style

    def _replace(self, lines: list[Strip]) -> None:
        """Refresh the lines that differ; with incoming deltas that is one line."""
        before, self._lines = self._lines, lines
        if len(before) != len(lines):
            self.refresh()
            return
        changed = [y for y, (old, new) in enumerate(zip(before, lines, strict=True)) if old is not new and old != new]
        if len(changed) > len(lines) // 2:
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _style(self, name: str) -> Style:
        """The style of a part or tone. Only the cursor's row has its own background."""
        style = self._styles.get(name)
        if style is None:
            style = self.rich_style if name == "base" else self.get_component_rich_style(f"stream--{name}")
            if name not in ("base", "pinned"):
                style = Style(color=style.color, bold=style.bold)
            self._styles[name] = style
        return style
