"""The files of a composed event: the attached ones, and a field to attach another by its path."""

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


class AttachmentList(StyledText, can_focus=True):
    """The attached files, one per line."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("files")
    DEFAULT_CSS = """
    AttachmentList { height: auto; width: 1fr; }
    AttachmentList:focus { background: $boost; }
    """
    files: "reactive[Sequence[Attachment]]" = reactive((), layout=True)
    index: reactive[int] = reactive(0)

    @dataclass
    class Removed(Message):
        """Posted when the user removes a file."""

        index: int

    @dataclass
    class Left(Message):
        """Posted when the cursor moves beyond the first or last file."""

        step: int

    def watch_files(self, files: "Sequence[Attachment]") -> None:
        self.can_focus = bool(files)
        self.index = min(self.index, max(0, len(files) - 1))

    def action_remove(self) -> None:
        if self.files:
            self.post_message(self.Removed(self.index))

    def action_move(self, step: int) -> None:
        if 0 <= self.index + step < len(self.files):
            self.index += step
        else:
            self.post_message(self.Left(step))

    def on_click(self, event: events.Click) -> None:
        self.index = max(0, min(event.y, len(self.files) - 1))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render(self) -> Content:
        if not self.files:
            return Content.styled(NONE, "$text-muted")
        return Content("\n").join(self._row(row, file) for row, file in enumerate(self.files))

    def _row(self, row: int, file: "Attachment") -> Content:
        is_here = self.has_focus and row == self.index
        kind, amount = file.mime_type or file.artifact_type, "" if file.size is None else f" · {size(file.size)}"
        where = " · read from its file" if file.source == "file_root" else ""
        return Content.assemble(
            (f"{GLYPHS['cursor'] if is_here else GLYPHS['mark']} ", "$accent"),
            (one_line(file.name or file.artifact_id, 60), "bold"),
            (f"  {one_line(kind, 40)}{amount}{where}", "$text-muted"),
        )


class PathField(LineField):
    """A field for the path of a file, with completions."""

    @dataclass
    class PathChanged(Message):
        """Posted when the path changes; the screen finds completions."""

        typed: str

    @dataclass
    class Attached(Message):
        """Posted when the user attaches a file."""

        path: str

    @dataclass
    class Pasted(Message):
        """Posted when a text is pasted that may be one or several paths."""

        text: str
        readings: Sequence[Sequence[str]]

    def __init__(self) -> None:
        super().__init__(placeholder="(a path; tab completes, enter attaches)", id="path")
        self.picker = PathPicker()

    def show_completions(self, typed: str, found: Sequence[Candidate]) -> None:
        """Show the completions of a path, if it is still the typed one."""
        if typed == self.value and self.has_focus:
            is_complete = len(found) == 1 and found[0].path == typed
            self.picker.offer(() if is_complete else found, "" if is_complete else typed)
            if self.picker.is_open:
                self.call_after_refresh(self.picker.scroll_visible, animate=False)

    def on_input_changed(self) -> None:
        if self.value:
            self.post_message(self.PathChanged(self.value))
        else:
            self.picker.close()

    def on_blur(self) -> None:
        self.picker.close()

    def reads_lines(self, text: str) -> bool:
        """Whether a pasted text of several lines is handled as paths."""
        return bool(readings(text))

    def on_paste(self, event: events.Paste) -> None:
        if found := readings(event.text):
            event.stop()
            event.prevent_default()
            self.post_message(self.Pasted(event.text, found))

    def on_key(self, event: events.Key) -> None:
        what = self.picker.command_for_key(event.key, self.value)
        if what is None and event.key == "enter" and self.value.strip():
            self.post_message(self.Attached(self.value.strip()))
        elif what is None:
            return
        elif what == "take":
            self._accept(self.picker.take(), is_enter=event.key == "enter")
        elif what == "close":
            self.picker.close()
        else:
            self.picker.move(-1 if what == "above" else 1)
        event.stop()
        event.prevent_default()

    def _accept(self, chosen: Candidate | None, *, is_enter: bool) -> None:
        """Put a completion into the field. Enter also attaches it; after tab, enter must be pressed again."""
        if chosen is None:
            return
        if is_enter and not chosen.is_folder:
            self.post_message(self.Attached(chosen.path))
        self.value = chosen.path
        self.cursor_position = len(self.value)
