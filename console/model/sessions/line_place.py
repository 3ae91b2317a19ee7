"""The threads, bots and workspaces that the lines of one transcript belong to."""

from typing import TYPE_CHECKING, Final, NamedTuple

from console.model.text.safe import one_line

if TYPE_CHECKING:
    from engine.api import RunRow, TranscriptLine

_MAX_NAME_CHARS: Final = 40


class LinePlace(NamedTuple):
    """A thread, bot and workspace of a session; an empty text means none."""

    thread_id: str = ""
    bot_id: str = ""
    workspace_id: str = ""

    @property
    def label(self) -> str:
        """`thread t1 · bot b1`; empty if there is neither thread, bot nor workspace."""
        named = (("thread", self.thread_id), ("bot", self.bot_id), ("workspace", self.workspace_id))
        return " · ".join(f"{kind} {one_line(name, _MAX_NAME_CHARS)}" for kind, name in named if name)


def place_of(line: "TranscriptLine | RunRow") -> LinePlace:
    """The place of a line or a run."""
    return LinePlace(line.thread_id or "", line.bot_id or "", line.workspace_id or "")
