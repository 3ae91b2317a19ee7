"""The blocks of a conversation. The version of a block grows with every change."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from console.model.conversation.text_parts import TextParts
from console.model.text.units import duration, size
from engine.events import Fate

MAX_TRACEBACK_LINES: Final = 200
"""Lines of a traceback that an unfolded failure shows."""


class MessageProgress(StrEnum):
    """The progress of a message of the agent."""

    STREAMING = "streaming"
    DONE = "done"
    CUT = "cut off"
    """The run ended before the message was complete."""


class ToolResult(StrEnum):
    """The result of a tool call, as far as it is known."""

    OPEN = "open"
    OK = "ok"
    FAILED = "failed"
    NONE = "no result"
    """The run ended before the tool call did."""


@dataclass(slots=True, kw_only=True, eq=False)
class Block:
    """One message, tool call or event. Only `RunBlocks` creates and changes blocks."""

    run_id: str
    position: int
    """The position of the first entry of the block."""
    turn: int
    at: int
    since: int | None
    """Microseconds since the run started, if known."""
    number: int = 0
    """The place in the conversation. Numbers rise by one; those of blocks that are added above may be negative."""
    version: int = 0
    is_hidden: bool = False
    """A hidden block keeps its number and has no rows."""

    @property
    def key(self) -> str:
        return f"{self.run_id}:{self.position}"

    def hide(self) -> None:
        self.is_hidden = True
        self.version += 1

    @property
    def is_line(self) -> bool:
        """Whether the block is one line that is drawn without a gap to its neighbours."""
        return False

    def markdown(self) -> str:
        """The text that a copy of the block contains."""
        return ""


class AttachedFile(NamedTuple):
    """A file that was attached to a message, stored as an artifact."""

    name: str
    kind: str = ""
    size_bytes: int | None = None
    artifact_id: str = ""

    @property
    def type_and_size(self) -> str:
        """`text/plain · 18 B`."""
        return " · ".join(filter(None, (self.kind, "" if self.size_bytes is None else size(self.size_bytes))))

    def markdown(self) -> str:
        return f"[{' · '.join(filter(None, (self.name, self.type_and_size)))}]"


@dataclass(slots=True, kw_only=True, eq=False)
class UserMessage(Block):
    """The message of the user that started a run."""

    text: str
    author: str
    attachments: tuple[AttachedFile, ...] = ()

    def markdown(self) -> str:
        return "\n".join([self.text, *(file.markdown() for file in self.attachments)])


@dataclass(slots=True, kw_only=True, eq=False)
class Event(Block):
    """An event other than a message that started a run."""

    kind: str
    source: str
    """The source, and the platform's name of the event if it has one."""
    text: str
    details: str
    """The data of the event on one line."""
    actor: str = ""
    subject: str = ""
    attachments: tuple[AttachedFile, ...] = ()

    @property
    def actor_and_subject(self) -> str:
        return " · ".join(filter(None, (self.actor and f"by {self.actor}", self.subject)))

    def markdown(self) -> str:
        files = (file.markdown() for file in self.attachments)
        lines = (f"**{self.kind}** ({self.source})", self.actor_and_subject, self.text, self.details, *files)
        return "\n".join(filter(None, lines))


@dataclass(slots=True, kw_only=True, eq=False)
class AgentMessage(Block):
    """A message of the agent, or the part of it between two tool calls."""

    text_parts: TextParts = field(default_factory=TextParts)
    progress: MessageProgress = MessageProgress.STREAMING
    role: str = "assistant"
    extras: tuple[str, ...] = ()
    """Names of the parts of the message that are not text."""

    def markdown(self) -> str:
        return "\n".join([self.text_parts.text, *(f"[{name}]" for name in self.extras)])


@dataclass(slots=True, kw_only=True, eq=False)
class ToolCall(Block):
    """A tool call that the runner reported."""

    name: str
    arguments: str
    """The arguments on one line."""
    result: ToolResult = ToolResult.OPEN
    microseconds: int | None = None
    summary: str = ""
    """The result or error on one line."""
    output: str = ""
    """The result or error over several lines, up to a limit."""
    is_cut: bool = False
    """The output is longer than that limit."""

    def set_result(
        self, result: ToolResult, at: int | None = None, summary: str = "", output: str = "", *, is_cut: bool = False
    ) -> None:
        """Set the result, and the duration if the end time `at` is known."""
        self.result, self.summary, self.output, self.is_cut = result, summary, output, is_cut
        self.microseconds = None if at is None else at - self.at
        self.version += 1

    @property
    def is_line(self) -> bool:
        return True

    def markdown(self) -> str:
        took = "" if self.microseconds is None else f" · {duration(self.microseconds)}"
        head = f"`{self.name}({self.arguments})` · {self.result}{took}"
        return f"{head}\n\n```\n{self.output}{'…' if self.is_cut else ''}\n```" if self.output else head


@dataclass(slots=True, kw_only=True, eq=False)
class SteeringMessage(Block):
    """A steering message."""

    item_id: str
    text: str
    fate: Fate
    fate_turn: int
    """The turn in which the message was pulled, delivered or dropped."""
    reason: str = ""
    """The reason why the message was dropped."""
    is_settled: bool = False
    """The message was dropped, and has been sent again or dismissed since."""
    attachments: tuple[AttachedFile, ...] = ()

    @property
    def key(self) -> str:
        """Contains the item id, because one pull may deliver several messages."""
        return f"{self.run_id}:{self.position}:{self.item_id}"

    @property
    def can_take_back(self) -> bool:
        """Whether the user can take the message back to the prompt."""
        return self.fate is Fate.DROPPED and not self.is_settled

    def markdown(self) -> str:
        return "\n".join([self.text, *(file.markdown() for file in self.attachments)])


@dataclass(slots=True, kw_only=True, eq=False)
class Artifact(Block):
    """An artifact that the runner created."""

    file: AttachedFile

    @property
    def is_line(self) -> bool:
        return True

    def markdown(self) -> str:
        return " · ".join(filter(None, (self.file.name, self.file.type_and_size)))


def files_of(block: Block | None) -> tuple[AttachedFile, ...]:
    """The files that a block shows."""
    if isinstance(block, Artifact):
        return (block.file,)
    return block.attachments if isinstance(block, UserMessage | Event | SteeringMessage) else ()


@dataclass(slots=True, kw_only=True, eq=False)
class Note(Block):
    """A warning of the host, or a result without effect. Equal notes in a row share one block."""

    text: str
    is_warning: bool
    count: int = 1
    glyph: str | None = None
    """The name of a glyph that replaces the usual one."""

    @property
    def is_line(self) -> bool:
        return True

    def markdown(self) -> str:
        return self.text + (f" (×{self.count:,})" if self.count > 1 else "")


@dataclass(slots=True, kw_only=True, eq=False)
class RunEnd(Block):
    """The end of a run."""

    state: str
    """The name of a glyph: a final status, or `lost`."""
    words: str
    details: tuple[str, ...] = ()
    """Duration and number of turns."""

    def markdown(self) -> str:
        return " · ".join((self.words, *self.details))


@dataclass(slots=True, kw_only=True, eq=False)
class RunFailure(RunEnd):
    """The end of a run that failed, with the last lines of the traceback or of standard error."""

    reason: str
    error: str
    last_lines: tuple[str, ...] = ()
    traceback: str = field(default="", repr=False)
    """The whole traceback, for copies."""

    @property
    def traceback_lines(self) -> tuple[str, ...]:
        """The last lines of the traceback, up to `MAX_TRACEBACK_LINES`."""
        return tuple(line for line in self.traceback.splitlines() if line.strip())[-MAX_TRACEBACK_LINES:]

    def markdown(self) -> str:
        head = "\n".join(filter(None, (f"**{self.words}** ({self.reason})", self.error)))
        return f"{head}\n\n```\n{self.traceback.rstrip()}\n```" if self.traceback else head
