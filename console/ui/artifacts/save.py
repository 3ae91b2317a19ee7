"""An artifact to a file: asked where, and once more before anything is overwritten."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from console.model.text.safe import one_line
from console.ui.shared.dialog import Dialog
from console.ui.shared.fields import LineField

if TYPE_CHECKING:
    from engine.api import ArtifactRow, Engine


Tell = Callable[["ArtifactRow", int], None]
"""Is told how much of it was written."""


class SaveAs(Dialog[str | None]):
    """Where to; escape is nowhere."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave it", priority=True)]
    own_keys = (("enter", "save"), ("esc", "leave it"))
    DEFAULT_CSS = """
    SaveAs { align: center middle; }
    SaveAs > Vertical { width: 70; max-width: 90%; height: auto; padding: 1 2; background: $surface;
        border: round $accent; border-subtitle-color: $text-muted; }
    SaveAs LineField { background: $boost; }
    SaveAs .wrong { height: auto; color: $text-error; }
    """

    def __init__(self, name: str, wrong: str = "") -> None:
        super().__init__()
        self._proposed = name
        self._wrong = wrong
        """Why the file that was named before cannot be it."""

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = Content("Save to which file?")
            box.border_subtitle = "enter saves · esc leaves it"
            yield LineField(self._proposed)
            if self._wrong:
                yield Static(Content(f"✗ {one_line(self._wrong, 400)}"), classes="wrong")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value)

    def action_leave(self) -> None:
        self.dismiss(None)


class Taken(Exception):
    """There is a file of this name already."""


async def save(engine: "Engine", row: "ArtifactRow", path: Path, *, over: bool, tell: Tell) -> int:
    """Write it piece by piece beside its place, and put it there whole: no file is ever half of it. Gives its size."""
    if not over and await asyncio.to_thread(os.path.lexists, path):
        raise Taken
    descriptor, temporary = await asyncio.to_thread(tempfile.mkstemp, prefix=".trackside-", dir=path.parent)
    written = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            async for piece in _pieces(engine, row):
                written += await asyncio.to_thread(file.write, piece)
                tell(row, written)
        await asyncio.to_thread(_put, temporary, path, over=over)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108  (a name that is gone already, or must go)
    return written


def _put(temporary: str, path: Path, *, over: bool) -> None:
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(temporary, 0o666 & ~mask)  # noqa: PTH101  (as any file that is written, not for the owner alone)
    if not over:
        try:
            path.touch(exist_ok=False)  # who came first keeps it
        except FileExistsError:
            raise Taken from None
    os.replace(temporary, path)  # noqa: PTH105


async def _pieces(engine: "Engine", row: "ArtifactRow") -> AsyncIterator[bytes]:
    offset = 0
    while piece := await engine.artifacts.read_bytes(row.artifact_id, offset=offset):
        yield piece
        offset += len(piece)
