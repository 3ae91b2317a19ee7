"""Builds the message blocks of a run from deltas, snapshots and complete messages."""

from collections.abc import Callable, Mapping
from typing import Any

from console.model.conversation.blocks import AgentMessage, MessageProgress
from console.model.conversation.window_join import MessageHead, UnfinishedMessage, set_block_text
from console.model.journal.json_access import array
from engine.events import DeltaText, Entry, MessageCompleted, MessageDelta, mapping, repeats_last_message

Begin = Callable[[Entry], AgentMessage]
"""Adds a block at the end of the conversation."""


class MessageBuilder:
    """Follows the message that is being streamed.

    Text after a tool call or a steering message goes below it, so one message may have several blocks.
    """

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._blocks: list[AgentMessage] = []
        """Blocks of the incomplete message."""
        self._before = ""
        """The text of all these blocks except the growing one."""
        self._growing: AgentMessage | None = None
        self._deltas = DeltaText()
        self._is_stale = False
        """Some chunks are not in the block yet."""
        self._last_text: str | None = None
        self.is_begun_above = False
        """The first text may continue a message whose beginning is not loaded."""
        self._goes_on = True
        """No other block came before the first text."""
        self._above: int | None = None
        """Characters of that message's first block that belong above; None if unknown."""
        self.head: MessageHead | None = None
        """The head of such a message, once it is complete."""

    def delta(self, entry: Entry, payload: MessageDelta) -> None:
        """Apply the next chunk. Snapshots are compared once per batch, in `settle`."""
        content, whole = payload.content, payload.all_content
        if not content and not whole:
            return
        block = self._growing
        if block is None:
            block = self._growing = self._begin(entry)
            block.role = payload.role or block.role
            self._blocks.append(block)
            self._deltas = DeltaText()
            if whole and block is self._blocks[0]:
                self._above = 0  # a snapshot repeats the whole text
        if self._deltas.is_joined and not whole and not self._is_stale:
            self._deltas.add(content)
            block.text_parts.grow(content)
            block.version += 1
        else:
            self._deltas.add(content, whole)
            self._is_stale = True

    def settle(self) -> None:
        """Update the growing block. Called once per batch."""
        if self._is_stale and self._growing is not None:
            self._growing.text_parts.become(self._own(self._deltas.text))
            self._growing.version += 1
        self._is_stale = False

    def interrupt(self) -> None:
        """End the growing block, because another block follows."""
        self.settle()
        self._goes_on = self._goes_on and bool(self._blocks)
        if self._growing is not None:
            self._before += self._growing.text_parts.text
            _finish(self._growing, MessageProgress.DONE)
            self._growing = None

    def complete(self, entry: Entry, payload: MessageCompleted) -> None:
        """Replace the chunks before with the whole message."""
        if not payload.message:
            return
        text, extras = payload.text, _extras(payload.content)
        self.settle()
        is_repeat = repeats_last_message(entry.type, text, self._last_text) and not self._blocks
        self._last_text = text
        if not is_repeat:
            self._put(entry, text, extras, payload.role or "assistant")
        self.close(MessageProgress.DONE)

    def close(self, progress: MessageProgress) -> None:
        """End the message."""
        self.settle()
        for block in self._blocks:
            _finish(block, progress if block is self._growing else MessageProgress.DONE)
        if self.is_begun_above and self._blocks and self._above is not None:
            self.head = MessageHead(self._blocks[0], self._above, self._goes_on)
        self._blocks, self._before, self._growing, self.is_begun_above = [], "", None, False

    def join_above(self, earlier: "MessageBuilder") -> None:
        """Join with the window above, whose last message may continue here."""
        begun = earlier.break_off()
        if self.is_begun_above:
            self._blocks = [*begun.blocks, *self._blocks]
            self._before = begun.text + self._before
            self.is_begun_above = begun.is_begun_above
            self.head = None if begun.is_begun_above else earlier.head
        else:
            self.head = (self.head and self.head.join_above(begun)) or earlier.head

    def break_off(self) -> UnfinishedMessage:
        """End the message at the edge of the window. Returns it for the window below."""
        self.settle()
        begun = UnfinishedMessage(self._blocks, self._said, self._growing, self.is_begun_above, self._goes_on)
        self.close(MessageProgress.DONE)
        return begun

    # Private

    @property
    def _said(self) -> str:
        """The text of the message so far."""
        return self._before + (self._growing.text_parts.text if self._growing is not None else "")

    def _own(self, text: str) -> str:
        """The part of the text that belongs to the growing block: snapshots repeat the text above."""
        repeats = self._before and not self._deltas.is_bare_fragments and text.startswith(self._before)
        return text[len(self._before) :] if repeats else text

    def _put(self, entry: Entry, text: str, extras: tuple[str, ...], role: str) -> None:
        if self.is_begun_above:
            self._above = self._with_beginning(text)
        growing = self._growing.text_parts.text if self._growing is not None else ""
        is_shown = text.rstrip() in (self._said.rstrip(), growing.rstrip()) and bool(self._blocks)
        if not is_shown:
            rest = text.removeprefix(self._before)
            if self._growing is None and (rest or extras):
                self._growing = self._begin(entry)
                self._blocks.append(self._growing)
            if self._growing is not None and rest:
                self._growing.text_parts.become(rest)
        if (block := self._growing or (self._blocks[-1] if self._blocks else None)) is not None:
            block.extras, block.role = extras, role
            block.version += 1

    def _with_beginning(self, text: str) -> int:
        """Put the missing beginning into the first block until it is loaded. Returns its length."""
        said = self._said.rstrip()
        if not said:
            return len(text)
        above = max(0, text.rfind(said))
        if above:
            first = self._blocks[0]
            set_block_text(first, text[:above] + first.text_parts.text)
            self._before = text[:above] + self._before if first is not self._growing else self._before
        return above


def _finish(block: AgentMessage, progress: MessageProgress) -> None:
    if block.progress is MessageProgress.STREAMING:
        block.progress = progress
        block.text_parts.settle()
        block.version += 1


def _extras(content: object) -> tuple[str, ...]:
    parts = (mapping(part) for part in array(content))
    return tuple(_named(part) for part in parts if part.get("type") not in (None, "text"))


def _named(part: Mapping[str, Any]) -> str:
    kind = str(part.get("type")).removesuffix("_url").removesuffix("_base64")
    return " ".join(filter(None, (kind, str(part.get("file_name") or ""))))
