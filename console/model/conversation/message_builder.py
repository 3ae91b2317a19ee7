"""Builds the message blocks of a run from deltas, snapshots and complete messages."""

from collections.abc import Callable, Mapping
from typing import Any

from console.model.conversation.blocks import AgentMessage, MessageProgress
from console.model.journal.json_access import array
from engine.events import DeltaText, Entry, MessageCompleted, MessageDelta, mapping, repeats_last_message

AddMessage = Callable[[Entry], AgentMessage]
"""Adds a block at the end of the conversation."""


class MessageBuilder:
    """Follows the message that is being streamed.

    Text after a tool call or a steering message goes below it, so one message may have several blocks.
    """

    def __init__(self, add_message: AddMessage) -> None:
        self._add_message = add_message
        self._blocks: list[AgentMessage] = []
        """Blocks of the incomplete message."""
        self._text_before = ""
        """The text of all these blocks except the growing one."""
        self._growing: AgentMessage | None = None
        self._deltas = DeltaText()
        self._is_stale = False
        """Some chunks are not in the block yet."""
        self._last_text: str | None = None
        """The text of the last completed message."""

    def add_delta(self, entry: Entry, payload: MessageDelta) -> None:
        """Apply the next chunk. Snapshots are compared once per batch, in `finish_batch`."""
        content, whole = payload.content, payload.all_content
        if not content and not whole:
            return
        block = self._growing
        if block is None:
            block = self._growing = self._add_message(entry)
            block.role = payload.role or block.role
            self._blocks.append(block)
            self._deltas = DeltaText()
        if self._deltas.is_joined and not whole and not self._is_stale:
            self._deltas.add(content)
            block.text_parts.grow(content)
            block.version += 1
        else:
            self._deltas.add(content, whole)
            self._is_stale = True

    def finish_batch(self) -> None:
        """Update the growing block. Called once per batch."""
        if self._is_stale and self._growing is not None:
            self._growing.text_parts.replace(self._own_text(self._deltas.text))
            self._growing.version += 1
        self._is_stale = False

    def interrupt(self) -> None:
        """End the growing block, because another block follows."""
        self.finish_batch()
        if self._growing is not None:
            self._text_before += self._growing.text_parts.text
            _finish(self._growing, MessageProgress.DONE)
            self._growing = None

    def complete(self, entry: Entry, payload: MessageCompleted) -> None:
        """Replace the chunks before with the whole message."""
        if not payload.message:
            return
        text, extras = payload.text, _extras(payload.content)
        self.finish_batch()
        is_repeat = repeats_last_message(entry.type, text, self._last_text) and not self._blocks
        self._last_text = text
        if not is_repeat:
            self._set_message(entry, text, extras, payload.role or "assistant")
        self.close(MessageProgress.DONE)

    def close(self, progress: MessageProgress) -> None:
        """End the message."""
        self.finish_batch()
        for block in self._blocks:
            _finish(block, progress if block is self._growing else MessageProgress.DONE)
        self._blocks, self._text_before, self._growing = [], "", None

    # Private

    def _own_text(self, text: str) -> str:
        """The part of the text that belongs to the growing block: snapshots repeat the text above."""
        before = self._text_before
        repeats = before and not self._deltas.is_bare_fragments and text.startswith(before)
        return text[len(before) :] if repeats else text

    def _set_message(self, entry: Entry, text: str, extras: tuple[str, ...], role: str) -> None:
        growing_text = self._growing.text_parts.text if self._growing is not None else ""
        streamed = (self._text_before + growing_text, growing_text)
        is_shown = bool(self._blocks) and text.rstrip() in (each.rstrip() for each in streamed)
        if not is_shown:
            rest = text.removeprefix(self._text_before)
            if self._growing is None and (rest or extras):
                self._growing = self._add_message(entry)
                self._blocks.append(self._growing)
            if self._growing is not None and rest:
                self._growing.text_parts.replace(rest)
        if (block := self._growing or (self._blocks[-1] if self._blocks else None)) is not None:
            block.extras, block.role = extras, role
            block.version += 1


def _finish(block: AgentMessage, progress: MessageProgress) -> None:
    if block.progress is MessageProgress.STREAMING:
        block.progress = progress
        block.text_parts.finish()
        block.version += 1


def _extras(content: object) -> tuple[str, ...]:
    """The names of the parts of a message that are not text."""
    parts = (mapping(part) for part in array(content))
    return tuple(_part_name(part) for part in parts if part.get("type") not in (None, "text"))


def _part_name(part: Mapping[str, Any]) -> str:
    """`image`, `file a.pdf`."""
    kind = str(part.get("type")).removesuffix("_url").removesuffix("_base64")
    return " ".join(filter(None, (kind, str(part.get("file_name") or ""))))
