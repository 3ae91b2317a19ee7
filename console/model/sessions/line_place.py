"""Labels of the threads, bots and workspaces that the lines of one transcript belong to."""

from typing import TYPE_CHECKING, Final

from console.model.text.safe import one_line

if TYPE_CHECKING:
    from engine.api import TranscriptLine

_MAX_NAME_CHARS: Final = 40


def place_label(thread_id: str | None, bot_id: str | None, workspace_id: str | None) -> str:
    """`thread t1 · bot b1`; empty if a line has neither thread, bot nor workspace."""
    named = (("thread", thread_id), ("bot", bot_id), ("workspace", workspace_id))
    return " · ".join(f"{kind} {one_line(name, _MAX_NAME_CHARS)}" for kind, name in named if name)


def line_label(line: "TranscriptLine") -> str:
    """The label of a line's thread, bot and workspace."""
    return place_label(line.thread_id, line.bot_id, line.workspace_id)
