"""The stream: every entry of a run in a row, as it comes or long after."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from console.bindings import bindings_for
from console.model.commands.naming import key_of
from console.model.glyphs import Glyphs
from console.model.safe import one_line
from console.model.stream import filters
from console.model.stream.border import status
from console.model.stream.layout import Span
from console.model.stream.look import Look
from console.model.stream.stamps import TimeMode
from console.model.stream.timeline import Timeline
from console.widgets.guard import Guarded
from console.widgets.stream.asking import Asking
from console.widgets.stream.filter_line import EntryLine, FilterLine
from console.widgets.stream.lines import StreamLines
from console.widgets.stream.yank import YankMenu


class StreamPane(Guarded, Asking, Vertical):
    """Shows a timeline, moves in it, and tells what someone wants of the row that they are on."""

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
        """Show the world as of this entry; none is now."""

        position: int | None

    @dataclass
    class Inspect(Message):
        """Someone wants to see all of an entry."""

        position: int

    @dataclass
    class HoldOn(Message):
        """Hold the run at entries of this kind, such as the one at the position."""

        kind: str
        position: int

    @dataclass
    class Yank(Message):
        """Copy something of an entry: its event, payload, text or id, or the command line that reproduces it."""

        what: str
        position: int

    @dataclass
    class Filter(Message):
        """Another filter is in force; empty is none."""

        text: str

    @dataclass
    class Refused(Message):
        """What was asked for cannot be done, and why."""

        words: str

    def __init__(self, glyphs: Glyphs | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._glyphs = glyphs or Glyphs()
        self._lines = StreamLines(self._glyphs)
        self._filter_line = FilterLine()
        self._entry_line = EntryLine()
        self._yank_menu = YankMenu()
        self._look: Look | None = None
        self._filter = ""
        self._is_raw = False
        self._cursor: int | None = None
        self._subtitle = ""
        self._marks: dict[str, set[int]] = {}
        """What was marked, of each run that was shown."""
        self.entry: int | None = None
        """The entry that the cursor is on where that need not be the newest: someone went there, or filters."""

    def compose(self) -> ComposeResult:
        yield self._lines
        yield self._filter_line
        yield self._entry_line
        yield self._yank_menu

    # From the app

    def show(self, timeline: Timeline) -> None:
        """Look at a run from its end, filtered as the one before; what was marked in it is marked again."""
        self._marks = {run_id: marks for run_id, marks in self._marks.items() if marks}
        self._look = Look(timeline, self._marks.setdefault(timeline.run_id, set()))
        self._look.choose(filters.parse(self._filter))
        self._look.show_raw(self._is_raw)
        self._lines.look_at(self._look)
        self._moved()

    def on_batch(self) -> None:
        """Once a tick, after what is new was appended and what was read was taken."""
        if self._look is None:
            return
        self._look.tick()
        self._lines.on_batch()
        self._tell()

    def go_to(self, position: int) -> None:
        """Put the cursor on an entry."""
        if self._look is not None:
            self._look.go(position)
            self._moved()

    def use(self, glyphs: Glyphs) -> None:
        """Show the same with other glyphs."""
        self._glyphs = self._lines.glyphs = glyphs
        self._lines.repaint()
        self._tell()

    def cycle_times(self) -> TimeMode:
        """The next way to tell times."""
        self._lines.mode = self._lines.mode.next
        self._lines.look_again()
        return self._lines.mode

    def set_filter(self, text: str) -> None:
        """See less, or all again. Raises FilterError."""
        chosen = filters.parse(text)
        self._filter = chosen.text if chosen else ""
        if self._look is not None:
            self._look.choose(chosen)
        self.post_message(self.Filter(self._filter))
        self._moved()

    def clear_filter(self) -> bool:
        """See everything again; whether something was hidden."""
        had = bool(self._filter)
        if had:
            self.set_filter("")
        return had

    def yank(self, what: str, position: int) -> None:
        """Have something of an entry copied."""
        self.post_message(self.Yank(what, position))

    def go_live(self) -> bool:
        """Follow the end again; whether it was not followed."""
        look = self._look
        if look is None or look.follow.is_tail:
            return False
        look.end()
        self._moved()
        return True

    def go_to_turn(self, turn: int) -> None:
        """Put the cursor on the first entry of a turn."""
        self._with(lambda look: look.go_to_turn(turn))

    def why_not(self, what: str) -> str | None:
        """Why one of its commands cannot be carried out now, as far as that is to be seen here."""
        look = self._look
        if what == "clear":
            return None if self._filter else "nothing is filtered"
        if look is None and what != "filter":
            return "nothing is recorded yet"
        if what == "time" and not self._lines.has_times:
            return "there is no room for times; they are shown where the pane is wider"
        if look is None or what in ("time", "raw", "filter", "only_tools", "only_steering"):
            return None
        if not look.timeline.last:
            return "nothing is recorded yet"
        if look.timeline.is_hiding and look.current() is None:
            return f"nothing matches the filter; {key_of('stream.clear')} clears it"
        if what in ("next_mark", "clear_marks") and not look.flags:
            return f"nothing is marked; {key_of('stream.mark')} marks a row"
        if what in ("next_match", "previous_match") and not look.timeline.has_filter:
            return f"there was no filter yet; {key_of('stream.filter')} sets one"
        return None

    @property
    def last(self) -> int:
        """How many entries there are."""
        return 0 if self._look is None else self._look.timeline.last

    def focus(self, scroll_visible: bool = True) -> "StreamPane":
        """The rows take the keys."""
        self._lines.focus(scroll_visible)
        return self

    # Keys

    def action_move(self, rows: int) -> None:
        self._try("up", lambda look: look.move(rows))

    def action_page(self, share: float) -> None:
        self._try("page_up", lambda look: look.page_by(share))

    def action_first(self) -> None:
        self._try("first", lambda look: look.first())

    def action_end(self) -> None:
        self._try("end", lambda look: look.end())

    def action_turn(self, step: int) -> None:
        self._try("turn_before", lambda look: look.turn(step))

    def action_match(self, step: int) -> None:
        look, before = self._look, self._cursor
        if self._refuses("next_match") or look is None:
            return
        self._with(lambda look: look.match(step))
        if self._cursor == before and not look.is_going:
            self.post_message(self.Refused("there is no other match this way"))

    def action_flag(self) -> None:
        self._try("mark", lambda look: look.flag())

    def action_next_flag(self) -> None:
        self._try("next_mark", lambda look: look.next_flag())

    def action_clear_flags(self) -> None:
        self._try("clear_marks", lambda look: look.flags.clear())

    def action_raw(self) -> None:
        if self._refuses("raw"):
            return
        self._is_raw = not self._is_raw
        self._with(lambda look: look.show_raw(self._is_raw))

    def action_time(self) -> None:
        if not self._refuses("time"):
            self.cycle_times()

    def action_see_only(self, pattern: str) -> None:
        self.set_filter(f"kind:{pattern}")

    def action_only(self) -> None:
        if not self._refuses("only") and (kind := self._kind) is not None:
            self.set_filter(filters.only(kind))

    def action_hide(self) -> None:
        if not self._refuses("hide") and (kind := self._kind) is not None:
            self.set_filter(filters.without(self._filter, kind))

    def action_clear(self) -> None:
        if not self._refuses("clear"):
            self.set_filter("")

    def action_inspect(self) -> None:
        if not self._refuses("inspect") and (position := self._position) is not None:
            self.go_to(position)
            self.post_message(self.Inspect(position))

    def action_hold_on(self) -> None:
        if not self._refuses("hold_on") and (kind := self._kind) is not None:
            self.post_message(self.HoldOn(kind, self._position or 0))

    # From the parts

    def on_stream_lines_clicked(self, event: StreamLines.Clicked) -> None:
        event.stop()
        before = self._cursor
        self._with(lambda look: look.click(event.row))
        if self._cursor is not None and self._cursor == before:
            self.post_message(self.Inspect(self._cursor))  # a second click on the same row

    def on_stream_lines_wheeled(self, event: StreamLines.Wheeled) -> None:
        event.stop()
        self._with(lambda look: look.scroll(event.rows))

    # Inside

    def _refuses(self, what: str) -> bool:
        """Whether something cannot be done now; says why."""
        why = self.why_not(what)
        if why is not None:
            self.post_message(self.Refused(why))
        return why is not None

    def _try(self, what: str, move: Callable[[Look], None]) -> None:
        if not self._refuses(what):
            self._with(move)

    def _with(self, move: Callable[[Look], None]) -> None:
        if self._look is not None:
            move(self._look)
            self._moved()

    @property
    def _current(self) -> Span | None:
        return None if self._look is None else self._look.current()

    @property
    def _kind(self) -> str | None:
        return None if (span := self._current) is None else span.kind

    @property
    def _position(self) -> int | None:
        return None if self._look is None else self._look.entry

    def _moved(self) -> None:
        """Something was done here: show it, and what follows from it, at once."""
        self._lines.look_again()
        self._tell()

    def _tell(self) -> None:
        look = self._look
        if look is None:
            return
        self.entry = None if look.follow.is_tail and not look.timeline.is_hiding else look.entry
        if look.cursor != self._cursor:
            self._cursor = look.cursor
            self.post_message(self.CursorMoved(look.cursor))
        text = self._wrong or status(look, self._filter, self._glyphs, self.size.width)
        if not self.styles.border_left[0]:
            text = f" {text} "  # Textual sets it off from the line only where there is a corner
        if text != self._subtitle:
            self._subtitle = text
            self.set_class(bool(self._wrong), "-wrong")
            self.border_subtitle = Content(one_line(text, 200))
