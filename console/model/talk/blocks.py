"""What a conversation is made of, block by block. A block's version grows with every change of it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from console.model.talk.flow import Flow
from console.model.words import duration, size

MOST_TRACED: Final = 200
"""Lines of a traceback that are shown in full."""


class Standing(StrEnum):
    """How far a message of the agent's has come."""

    STREAMING = "streaming"
    DONE = "done"
    CUT = "cut off"
    """The run ended before it was complete."""


class Answer(StrEnum):
    """What became of a tool call."""

    OPEN = "open"
    OK = "ok"
    FAILED = "failed"
    NONE = "no answer"
    """The run ended first."""


class Landing(StrEnum):
    """Where a message to a run at work has come; before that it is the queue's."""

    PULLED = "pulled"
    INJECTED = "injected"
    DROPPED = "dropped"


@dataclass(slots=True, kw_only=True, eq=False)
class Block:
    """One thing that was said or done. Made and changed by a talk only."""

    run_id: str
    position: int
    """Of its first entry."""
    turn: int
    at: int
    since: int | None
    """Microseconds since its run began, where that is known."""
    number: int = 0
    """Its place in the talk: rising without a gap, and below zero for what was put above later."""
    version: int = 0
    is_gone: bool = False
    """It is not to be shown after all; its place stays."""

    @property
    def key(self) -> str:
        return f"{self.run_id}:{self.position}"

    def leave(self) -> None:
        """It is not to be shown after all."""
        self.is_gone = True
        self.version += 1

    @property
    def is_line(self) -> bool:
        """Shown as a line that stands with others like it, without a gap."""
        return False

    def markdown(self) -> str:
        """As it is copied."""
        return ""


class Filed(NamedTuple):
    """A file that came with what was said. It is an artifact."""

    name: str
    kind: str = ""
    size_bytes: int | None = None
    artifact_id: str = ""

    @property
    def about(self) -> str:
        """`text/plain · 18 B`."""
        return " · ".join(filter(None, (self.kind, "" if self.size_bytes is None else size(self.size_bytes))))

    def markdown(self) -> str:
        return f"[{' · '.join(filter(None, (self.name, self.about)))}]"


@dataclass(slots=True, kw_only=True, eq=False)
class You(Block):
    """What a person said to begin a run."""

    text: str
    who: str
    attachments: tuple[Filed, ...] = ()

    def markdown(self) -> str:
        return "\n".join([self.text, *(file.markdown() for file in self.attachments)])


@dataclass(slots=True, kw_only=True, eq=False)
class Event(Block):
    """What began a run and is no message."""

    kind: str
    source: str
    """With the name that the platform has for it, where it has one."""
    text: str
    details: str
    """Its data, on one line."""
    actor: str = ""
    subject: str = ""
    attachments: tuple[Filed, ...] = ()

    @property
    def about(self) -> str:
        """Who did it, and to what."""
        return " · ".join(filter(None, (self.actor and f"by {self.actor}", self.subject)))

    def markdown(self) -> str:
        files = (file.markdown() for file in self.attachments)
        told = (f"**{self.kind}** ({self.source})", self.about, self.text, self.details, *files)
        return "\n".join(filter(None, told))


@dataclass(slots=True, kw_only=True, eq=False)
class Said(Block):
    """A message of the agent's, or the part of one between two tool calls."""

    flow: Flow = field(default_factory=Flow)
    standing: Standing = Standing.STREAMING
    role: str = "assistant"
    extras: tuple[str, ...] = ()
    """Its parts that are no text."""

    def markdown(self) -> str:
        return "\n".join([self.flow.text, *(f"[{name}]" for name in self.extras)])


@dataclass(slots=True, kw_only=True, eq=False)
class Tool(Block):
    """A tool call that the runner told of."""

    name: str
    arguments: str
    """On one line."""
    answer: Answer = Answer.OPEN
    microseconds: int | None = None
    summary: str = ""
    """Its result or error on one line."""
    output: str = ""
    """The same in full, as far as it is kept."""
    is_cut: bool = False

    def answered(
        self, answer: Answer, at: int | None = None, summary: str = "", output: str = "", *, is_cut: bool = False
    ) -> None:
        """What became of it, and when, where that is known to be after its beginning."""
        self.answer, self.summary, self.output, self.is_cut = answer, summary, output, is_cut
        self.microseconds = None if at is None else at - self.at
        self.version += 1

    @property
    def is_line(self) -> bool:
        return True

    def markdown(self) -> str:
        took = "" if self.microseconds is None else f" · {duration(self.microseconds)}"
        head = f"`{self.name}({self.arguments})` · {self.answer}{took}"
        return f"{head}\n\n```\n{self.output}{'…' if self.is_cut else ''}\n```" if self.output else head


@dataclass(slots=True, kw_only=True, eq=False)
class Steered(Block):
    """What was said to the run while it worked."""

    item_id: str
    text: str
    landing: Landing
    landed_turn: int
    reason: str = ""
    """Why it was dropped, in words."""
    is_settled: bool = False
    """It was dropped, and has been sent again or dismissed since."""
    attachments: tuple[Filed, ...] = ()

    @property
    def key(self) -> str:
        """One pull may bring several."""
        return f"{self.run_id}:{self.position}:{self.item_id}"

    @property
    def can_return(self) -> bool:
        """It can be had back in the prompt."""
        return self.landing is Landing.DROPPED and not self.is_settled

    def markdown(self) -> str:
        return "\n".join([self.text, *(file.markdown() for file in self.attachments)])


@dataclass(slots=True, kw_only=True, eq=False)
class Artifact(Block):
    """Something that the runner stored."""

    file: Filed

    @property
    def is_line(self) -> bool:
        return True

    def markdown(self) -> str:
        return " · ".join(filter(None, (self.file.name, self.file.about)))


def files_of(block: Block | None) -> tuple[Filed, ...]:
    """The artifacts that a block shows."""
    if isinstance(block, Artifact):
        return (block.file,)
    return block.attachments if isinstance(block, You | Event | Steered) else ()


@dataclass(slots=True, kw_only=True, eq=False)
class Note(Block):
    """A remark of the host's, or a result that had no effect; said once, however often it comes in a row."""

    text: str
    is_warning: bool
    count: int = 1
    glyph: str | None = None
    """The name of one of its own."""

    @property
    def is_line(self) -> bool:
        return True

    def markdown(self) -> str:
        return self.text + (f" (×{self.count:,})" if self.count > 1 else "")


@dataclass(slots=True, kw_only=True, eq=False)
class End(Block):
    """How a run ended."""

    state: str
    """A glyph's name: completed, cancelled, failed, timeout, lost."""
    words: str
    details: tuple[str, ...] = ()
    """How long it took, in how many turns."""

    def markdown(self) -> str:
        return " · ".join((self.words, *self.details))


@dataclass(slots=True, kw_only=True, eq=False)
class Failure(End):
    """An end that nobody wanted: why, and the last lines of the traceback or of standard error."""

    reason: str
    error: str
    lines: tuple[str, ...] = ()
    trace: str = field(default="", repr=False)
    """All of the traceback, to copy."""

    @property
    def traced(self) -> tuple[str, ...]:
        """Its lines, the last of them where there are very many."""
        return tuple(line for line in self.trace.splitlines() if line.strip())[-MOST_TRACED:]

    def markdown(self) -> str:
        head = "\n".join(filter(None, (f"**{self.words}** ({self.reason})", self.error)))
        return f"{head}\n\n```\n{self.trace.rstrip()}\n```" if self.trace else head
