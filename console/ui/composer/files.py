"""The files that go along with an event: those that do, and a line in which another is named."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from console.model.text.glyphs import GLYPHS
from console.model.text.paths import Candidate, readings
from console.model.text.safe import one_line
from console.model.text.units import size
from console.ui.shared.bindings import bindings_for
from console.ui.shared.fields import LineField
from console.ui.shared.path_picker import PathPicker
from console.ui.shared.styled_text import StyledText

if TYPE_CHECKING:
    from engine.api import Attachment

NONE: Final = "(none yet)"


class Files(StyledText, can_focus=True):
    """One line for each."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("files")
    DEFAULT_CSS = """
    Files { height: auto; width: 1fr; }
    Files:focus { background: $boost; }
    """
    files: "reactive[Sequence[Attachment]]" = reactive((), layout=True)
    place: reactive[int] = reactive(0)

    @dataclass
    class Removed(Message):
        """This one does not go along."""

        place: int

    @dataclass
    class Left(Message):
        """Beyond the first or the last."""

        step: int

    def watch_files(self, files: "Sequence[Attachment]") -> None:
        self.can_focus = bool(files)
        self.place = min(self.place, max(0, len(files) - 1))

    def action_remove(self) -> None:
        if self.files:
            self.post_message(self.Removed(self.place))

    def action_move(self, step: int) -> None:
        if 0 <= self.place + step < len(self.files):
            self.place += step
        else:
            self.post_message(self.Left(step))

    def on_click(self, event: events.Click) -> None:
        self.place = max(0, min(event.y, len(self.files) - 1))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render(self) -> Content:
        if not self.files:
            return Content.styled(NONE, "$text-muted")
        return Content("\n").join(self._row(at, file) for at, file in enumerate(self.files))

    def _row(self, at: int, file: "Attachment") -> Content:
        is_here = self.has_focus and at == self.place
        kind, amount = file.mime_type or file.artifact_type, "" if file.size is None else f" · {size(file.size)}"
        where = " · stays in its file" if file.source == "file_root" else ""
        return Content.assemble(
            (f"{GLYPHS['cursor'] if is_here else GLYPHS['mark']} ", "$accent"),
            (one_line(file.name or file.artifact_id, 60), "bold"),
            (f"  {one_line(kind, 40)}{amount}{where}", "$text-muted"),
        )


class PathField(LineField):
    """Where the next is named. Paths are offered while one is typed."""

    @dataclass
    class Wanted(Message):
        """What could this path become?"""

        typed: str

    @dataclass
    class Given(Message):
        """This file is to go along."""

        path: str

    @dataclass
    class Pasted(Message):
        """This was pasted, and may be read as paths in these ways."""

        text: str
        readings: Sequence[Sequence[str]]

    def __init__(self) -> None:
        super().__init__(placeholder="(a path; tab completes, enter attaches)", id="path")
        self.picks = PathPicker()

    def offer(self, typed: str, found: Sequence[Candidate]) -> None:
        """The path could become one of these, if it is still the one that is typed."""
        if typed == self.value and self.has_focus:
            is_there = len(found) == 1 and found[0].path == typed
            self.picks.offer(() if is_there else found, "" if is_there else typed)
            if self.picks.is_open:
                self.call_after_refresh(self.picks.scroll_visible, animate=False)

    def on_input_changed(self) -> None:
        if self.value:
            self.post_message(self.Wanted(self.value))
        else:
            self.picks.close()

    def on_blur(self) -> None:
        self.picks.close()

    def reads_lines(self, text: str) -> bool:
        """Several lines may be several paths."""
        return bool(readings(text))

    def on_paste(self, event: events.Paste) -> None:
        if found := readings(event.text):
            event.stop()
            event.prevent_default()
            self.post_message(self.Pasted(event.text, found))

    def on_key(self, event: events.Key) -> None:
        what = self.picks.command_for_key(event.key, self.value)
        if what is None and event.key == "enter" and self.value.strip():
            self.post_message(self.Given(self.value.strip()))
        elif what is None:
            return
        elif what == "take":
            self._take(self.picks.take(), is_given=event.key == "enter")
        elif what == "close":
            self.picks.close()
        else:
            self.picks.move(-1 if what == "above" else 1)
        event.stop()
        event.prevent_default()

    def _take(self, chosen: Candidate | None, *, is_given: bool) -> None:
        """Have what was chosen in the field; only enter attaches it, so that an enter after tab does nothing else."""
        if chosen is None:
            return
        if is_given and not chosen.is_folder:
            self.post_message(self.Given(chosen.path))
        self.value = chosen.path
        self.cursor_position = len(self.value)
