"""Joins the parts of a run that are loaded in windows: messages, tool calls and steering messages across the edge."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from console.model.conversation.blocks import (
    AgentMessage,
    AttachedFile,
    MessageProgress,
    SteeringMessage,
    ToolCall,
    ToolResult,
)
from engine.events import LAST_KIND, WITHOUT_EFFECT, Entry, EntryKind, RunFinished, Status, payload_as


class UnfinishedMessage(NamedTuple):
    """An incomplete message at the end of a window."""

    blocks: Sequence[AgentMessage]
    text: str
    growing: AgentMessage | None
    """The block that the next window continues, unless another block comes between."""
    is_begun_above: bool
    """The message began before that window as well."""
    goes_on: bool
    """Its first block continues the last block of the window before."""


class MessageHead(NamedTuple):
    """The first loaded block of a message that began above the loaded window."""

    block: AgentMessage
    above: int
    """Characters of the block that belong to the window above."""
    goes_on: bool
    """The block continues the last block above: only the edge of the window is between them."""

    def join_above(self, begun: UnfinishedMessage) -> "MessageHead | None":
        """Move text to the blocks above. Returns the new head if the message began even further above.

        The blocks together always contain the whole message.
        """
        if not begun.text:
            return self._replace(goes_on=self.goes_on and begun.goes_on) if begun.is_begun_above else None
        text = self.block.text_parts.text
        is_first = text.startswith(begun.text) and not (begun.is_begun_above and self.above)
        at = 0 if is_first else text.rfind(begun.text, 0, self.above)
        if at < 0:
            return None
        first = begun.blocks[0]
        set_block_text(first, text[:at] + first.text_parts.text)
        self._keep(text[at + len(begun.text) :], begun.growing if self.goes_on else None)
        return MessageHead(first, at, begun.goes_on) if begun.is_begun_above else None

    def _keep(self, rest: str, last: AgentMessage | None) -> None:
        """Put the rest of the text here, or into the last block above if that one continues."""
        if last is not None:
            set_block_text(last, last.text_parts.text + rest)
            last.extras = self.block.extras
        set_block_text(self.block, rest)
        if last is not None or not (rest or self.block.extras):
            self.block.hide()


def set_block_text(block: AgentMessage, text: str) -> None:
    """Replace the text of a block."""
    block.text_parts.become(text)
    if block.progress is not MessageProgress.STREAMING:
        block.text_parts.settle()
    block.version += 1


_BLOCK_KINDS: Final = frozenset({
    EntryKind.TOOL_CALL_STARTED, EntryKind.TOOL_CALL_COMPLETED, EntryKind.ARTIFACT_CREATED, EntryKind.ACTION_REQUESTED,
    EntryKind.WARNING, EntryKind.STEERING_PULLED, EntryKind.STEERING_INJECTED, EntryKind.STEERING_DROPPED,
})  # fmt: skip
"""Kinds of entries, other than messages, that have a block."""


class SplitMessage(NamedTuple):
    """A message with another block in its middle. The positions `after` and `before` are exclusive."""

    after: int
    last: int
    """The position of the last block in its middle. The message is not split if no delta came before it."""
    before: int
    is_whole: bool
    """The message begins in this window."""


def find_missing_range(outline: Sequence[Entry]) -> tuple[int, int] | None:
    """The range of positions (exclusive) that has to be read in addition to an outline, or None.

    If a run has not completed, its deltas and output are needed: only they contain an incomplete message and the
    traceback.
    """
    if not outline:
        return None
    last = outline[-1]
    is_over = last.type == LAST_KIND
    is_completed = is_over and payload_as(RunFinished, last).status == Status.COMPLETED
    if is_completed and not any(_is_assembled(entry) for entry in outline[-5:]):
        return None
    after = next((entry.position for entry in reversed(outline) if _is_message(entry)), outline[0].position)
    before = last.position if is_over else last.position + 2**31
    return (after, before) if before - after > 1 else None


def find_split_messages(outline: Sequence[Entry], *, after: int = 0, before: int | None = None) -> list[SplitMessage]:
    """The messages of an outline with another block in their middle: only deltas tell where the text is split.

    `after` and `before` are the neighbours of a window in a longer run, which may begin or end inside a message.
    """
    found: list[SplitMessage] = []
    last = None
    is_begun = after > 0
    for entry in outline:
        if _is_message(entry):
            if is_begun or last is not None:
                here = entry.position
                found.append(SplitMessage(after, here if last is None or is_begun else last, here, not is_begun))
            after, last, is_begun = entry.position, None, False
        elif entry.type in _BLOCK_KINDS or entry.outcome in WITHOUT_EFFECT:
            last = entry.position
    if before is not None:
        found.append(SplitMessage(after, before, before, not is_begun))
    return [cut for cut in found if cut.last - cut.after > 1]


def _is_message(entry: Entry) -> bool:
    if entry.outcome in WITHOUT_EFFECT:
        return False
    return entry.type == EntryKind.MESSAGE_COMPLETED or (
        entry.type == EntryKind.RUN_COMPLETED and '"message":' in entry.data
    )


def _is_assembled(entry: Entry) -> bool:
    """Whether an entry is the remark that the last message was never completed."""
    return entry.type == EntryKind.WARNING and "assembled from deltas" in entry.data


class MessageText(NamedTuple):
    """The text and the attachments of a queued message."""

    text: str = ""
    files: tuple[AttachedFile, ...] = ()


@dataclass(slots=True)
class OpenEnds:
    """Open ends of a run by id. A run that is read in windows from its end keeps them until it is read completely."""

    tools: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """Tool calls without a result."""
    answers: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """Tool results without their call."""
    words: dict[str, MessageText] = field(default_factory=dict[str, MessageText])
    """Texts of messages that have not been delivered."""
    steered: dict[str, SteeringMessage] = field(default_factory=dict[str, SteeringMessage])
    """Messages that were pulled and neither delivered nor dropped."""
    untold: dict[str, SteeringMessage] = field(default_factory=dict[str, SteeringMessage])
    """Messages whose pull or text is recorded before the loaded entries."""
    dropped: dict[str, SteeringMessage] = field(default_factory=dict[str, SteeringMessage])
    """Dropped messages that may still be sent again."""

    def join_above(self, earlier: "OpenEnds", *, is_over: bool) -> None:
        """Join with the open ends of the entries before."""
        for call_id, tool in earlier.tools.items():
            answer = self.answers.pop(call_id, None)
            if answer is not None:
                tool.answered(answer.answer, answer.at, answer.summary, answer.output, is_cut=answer.is_cut)
                answer.hide()
            elif is_over:
                tool.answered(ToolResult.NONE)
            else:
                self.tools.setdefault(call_id, tool)
        for item_id, landed in self.untold.items():
            pulled = earlier.steered.pop(item_id, None)
            if pulled is not None:
                pulled.hide()
            said = earlier.words.get(item_id, MessageText())
            landed.text = said.text or (pulled.text if pulled is not None else "") or landed.text
            landed.attachments = said.files or landed.attachments
            landed.version += 1
        self.steered = earlier.steered | self.steered
        self.words = earlier.words | self.words
        self.answers |= earlier.answers
        self.untold = earlier.untold | self.untold  # the delivery is shown, not the pull
        self.dropped |= earlier.dropped
