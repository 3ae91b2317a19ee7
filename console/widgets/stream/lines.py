"""The rows of the stream. What it costs depends on the screen alone, not on how long the run is."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.geometry import Offset, Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from console.model.glyphs import Glyphs
from console.model.stream.look import Look, Shown
from console.model.stream.rows import TONES
from console.model.stream.stamps import TimeMode
from console.widgets.guard import Guarded
from console.widgets.marking import marked
from console.widgets.stream.row import Columns, Setting, heading, paint, words

WHEEL = 3
"""Rows that a notch of the wheel moves."""
STRIPS = 1_024
"""Painted rows that are kept."""
_PARTS = ("position", "time", "text", "cursor", "pinned", "mark", "heading", "base", "faint")


class StreamLines(Guarded, Widget, can_focus=True):
    """A page of rows. It keeps its own place: a virtual size would ask for a layout whenever an entry comes."""

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
        & .stream--steering, & .stream--person, & .stream--hold, & .stream--cancel { color: $text-warning; }
        & .stream--run, & .stream--host { color: $text-primary; }
        & .stream--call, & .stream--output, & .stream--runner { color: $text-muted; }
        & .stream--warning { color: $text-warning; text-style: bold; }
        & .stream--error { color: $text-error; text-style: bold; }
    }
    """

    @dataclass
    class Clicked(Message):
        """A row of the page was chosen with the mouse."""

        row: int

    @dataclass
    class Wheeled(Message):
        """The wheel was turned by so many rows."""

        rows: int

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self.glyphs = glyphs
        self.mode = TimeMode.STEP
        self._look: Look | None = None
        self._lines: list[Strip] = []
        self._strips: OrderedDict[tuple[object, ...], Strip] = OrderedDict()
        self._styles: dict[str, Style] = {}
        self._setting: Setting | None = None
        self._heading = self._blank = Strip([])
        self._is_whole = False
        self._seen = -1

    @property
    def rows(self) -> int:
        """How many rows fit."""
        return max(1, self.size.height - self._heading_height)

    @property
    def has_times(self) -> bool:
        """There is room for them."""
        return self._setting is None or bool(self._setting.columns.time)

    def look_at(self, look: Look) -> None:
        """Show what someone looks at."""
        self._look = look
        self._strips.clear()
        self.look_again()

    def on_batch(self) -> None:
        """Once a tick: look again, if there may be something else to see."""
        look = self._look
        if look is not None and (look.timeline.version != self._seen or not self._is_whole):
            self.look_again()

    def look_again(self) -> None:
        """Paint the page anew, and only those lines of it that have changed."""
        look = self._look
        if look is None or not self.size.width:
            return
        look.resize(self.rows)
        self._seen = look.timeline.version
        page = look.page()
        self._is_whole = page.is_whole
        setting = self._arrange(look)
        current = None if page.current is None else page.current.first
        lines = [self._row(shown, setting, look, current) for shown in page.rows]
        if len(lines) < self.rows and (note := self._note(look, is_empty=not lines)):
            # What is missing at the end of a run is above: the end stays where it will be.
            above = self.rows - len(lines) if lines and look.follow.is_tail else 0
            lines[:0] = [self._blank] * (above - 1)
            lines.insert(0 if above else len(lines), words(note, self.size.width, setting))
        if self._heading_height:
            lines.insert(0, self._heading)
        lines += [self._blank] * (self.size.height - len(lines))
        self._replace(lines)

    def repaint(self) -> None:
        """The theme, the width or the glyphs are other ones."""
        self._styles.clear()
        self._strips.clear()
        self._setting = None
        self.look_again()

    def render_line(self, y: int) -> Strip:
        strip = self._lines[y] if y < len(self._lines) else Strip.blank(self.size.width, self._style("base"))
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(y)) is not None:
            strip = marked(strip, *span, self.screen.get_component_rich_style("screen--selection"))
        # Where the mouse is, Textual asks for a line to know what it points at; else nobody needs to be told.
        return strip.apply_offsets(0, y) if self.app.mouse_over is self else strip

    # What the mouse marks

    def selection_updated(self, selection: Selection | None) -> None:
        """What is being marked must not move away."""
        if selection is not None and self._look is not None:
            self._look.stay()
            self.look_again()
        super().selection_updated(selection)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is marked, as it is seen: what is not in view cannot be."""
        text = "\n".join(strip.text.rstrip() for strip in self._lines)
        return selection.extract(text), "\n"

    # Drawing anew, and the mouse

    def notify_style_update(self) -> None:
        super().notify_style_update()
        # Textual says so before it has worked out how the parts look.
        self.call_later(self.repaint)

    def on_resize(self) -> None:
        self.repaint()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Wheeled(-WHEEL))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Wheeled(WHEEL))

    def on_click(self, event: events.Click) -> None:
        """A row is chosen; where something was marked with the same hand, that was it."""
        event.stop()
        event.prevent_default()  # Textual would mark all of it with a second click
        if self.text_selection is None:
            self.post_message(self.Clicked(event.y - self._heading_height))

    def landings(self) -> Iterator[Offset]:
        """Where its rows begin."""
        rows = len(self._look.page().rows) if self._look is not None else 0
        yield from (Offset(0, self._heading_height + row) for row in range(min(rows, self.rows)))

    # Inside

    @property
    def _heading_height(self) -> int:
        return 1 if self.size.height > 6 else 0

    def _row(self, shown: Shown, setting: Setting, look: Look, current: int | None) -> Strip:
        is_current = shown.span.first == current
        is_flagged = shown.span.first in look.flags
        key = (shown, is_current, is_current and look.cursor is not None, is_flagged)
        strip = self._strips.get(key)
        if strip is None:
            strip = paint(shown, setting, is_current=key[1], is_pinned=key[2], is_flagged=is_flagged)
            if len(self._strips) >= STRIPS:
                self._strips.popitem(last=False)
            self._strips[key] = strip
        return strip

    def _note(self, look: Look, *, is_empty: bool) -> str:
        """Why there are not more rows, if that is not plain to see."""
        if not self._is_whole:
            return "reading…"
        if not is_empty:
            return ""
        return "nothing matches the filter" if look.timeline.is_hiding else "nothing is recorded yet"

    def _arrange(self, look: Look) -> Setting:
        """How rows look now; those painted before go if that has changed."""
        timeline = look.timeline
        how = Columns.fit(self.size.width, timeline.last), self.mode, timeline.began, timeline.is_hiding
        setting = self._setting
        if setting is None or (setting.columns, setting.mode, setting.began, setting.is_filtered) != how:
            setting = Setting(*how, self.glyphs, self._style)
            self._setting = setting
            self._strips.clear()
            self._heading = heading(setting)
            self._blank = Strip.blank(self.size.width, self._style("base"))
        return setting

    def _replace(self, lines: list[Strip]) -> None:
        """Refresh what differs: while deltas come that is one line."""
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
        """The style of a part or tone: only the cursor's row has a background of its own."""
        style = self._styles.get(name)
        if style is None:
            style = self.rich_style if name == "base" else self.get_component_rich_style(f"stream--{name}")
            if name not in ("base", "pinned"):
                style = Style(color=style.color, bold=style.bold)
            self._styles[name] = style
        return style
