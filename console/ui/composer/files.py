"""The files of a composed event: the attached ones, and a field to attach another by its path."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message

from console.model.text.glyphs import GLYPHS
from console.model.text.lists import Item, ListItems, Row
from console.model.text.paths import Candidate, readings
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.model.text.units import size
from console.ui.shared.bindings import bindings_for
from console.ui.shared.fields import LineField
from console.ui.shared.list import ItemList
from console.ui.shared.path_picker import PathPicker

if TYPE_CHECKING:
    from engine.api import Attachment

NONE: Final = "(none yet)"


class AttachmentList(ItemList):
    """The attached files, one per row. It has the height of its rows, and cannot have the focus without a file."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("files")
    DEFAULT_CSS = """
    AttachmentList { height: auto; width: 1fr; }
    """

    @dataclass
    class Removed(Message):
        """Posted when the user removes a file."""

        index: int

    @dataclass
    class Left(Message):
        """Posted when the cursor moves beyond the first or last file."""

        step: int

    def __init__(self) -> None:
        super().__init__()
        self.can_focus = False
        self.empty_text = NONE
        self.files: Sequence[Attachment] = ()

    def show_files(self, files: "Sequence[Attachment]") -> None:
        """Show these files; the cursor stays on its row."""
        self.files = tuple(files)
        self.can_focus = bool(files)
        self.fill(ListItems([Item(str(place), partial(_row, file)) for place, file in enumerate(files)]), NONE)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, super().get_content_height(container, viewport, width))

    def action_remove(self) -> None:
        if self.files:
            self.post_message(self.Removed(self.cursor))

    def action_move(self, step: int) -> None:
        if 0 <= self.cursor + step < len(self.files):
            self.move(step)
        else:
            self.post_message(self.Left(step))

    # All rows are visible, so the wheel scrolls the form.

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.prevent_default()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.prevent_default()


def _row(file: "Attachment", _: int) -> Row:
    kind, amount = file.mime_type or file.artifact_type, "" if file.size is None else f" · {size(file.size)}"
    where = " · read from its file" if file.source == "file_root" else ""
    return Row(
        [
            Piece(f"{GLYPHS['mark']} ", "accent"),
            Piece(one_line(file.name or file.artifact_id, 60), "strong"),
            Piece(f"  {one_line(kind, 40)}{amount}{where}", "faint"),
        ]
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
