"""The transcript lines that a forked session inherited, as blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from console.model.conversation.blocks import AgentMessage, Block, Event, MessageProgress, Note, UserMessage
from console.model.conversation.conversation import ConversationModel
from console.model.conversation.run_blocks import attached_files
from console.model.conversation.text_parts import TextParts
from console.model.journal.json_access import array, words
from engine.events import content_text, mapping

if TYPE_CHECKING:
    from engine.api import Entry, TranscriptLine

B = TypeVar("B", bound=Block)


def is_inherited(line: "TranscriptLine") -> bool:
    """Whether a line was copied from the parent session."""
    return "forked_from" in line.metadata


def runs_without_message(lines: "Sequence[TranscriptLine]", before: "TranscriptLine | None") -> list[str]:
    """The runs of these lines (oldest first) whose first line is not a message: another event may have started them.

    `before` is the line above, if any; its run started further up.
    """
    messages = {line.event_id for line in lines if line.role == "user"}
    run_ids = {line.run_id: None for line in lines if line.role != "user" and line.event_id not in messages}
    return [run_id for run_id in run_ids if run_id is not None and (before is None or before.run_id != run_id)]


def inherited_conversation(
    lines: "Sequence[TranscriptLine]", first_entries: "Mapping[str, Entry]", note: str = ""
) -> ConversationModel:
    """The blocks of inherited lines (oldest first), and a note below them.

    `first_entries` has the first entry of each run from `runs_without_message`.
    """
    conversation, seen = ConversationModel(), set[str | None]()
    for line in lines:
        if line.run_id not in seen and (entry := first_entries.get(line.run_id or "")) is not None:
            run = ConversationModel()
            run.apply([entry])
            for block in run.blocks:
                if isinstance(block, Event):
                    conversation.append(replace(block, **_identity(Event, line)))
        seen.add(line.run_id)
        conversation.append(_line_block(line))
    if note and lines:
        conversation.append(_new(Note, lines[-1], text=note, is_warning=False, glyph="fork"))
    return conversation


def line_text(line: "TranscriptLine") -> str:
    """The whole text of a line."""
    content = mapping(line.content_json)
    return words(content.get("text")) or content_text(content.get("content"), " ") or line.content or ""


def _line_block(line: "TranscriptLine") -> Block:
    text = line_text(line)
    if line.role == "user":
        files = attached_files(array(mapping(line.content_json).get("attachments")))
        return _new(UserMessage, line, text=text, author="you", attachments=files)
    text_parts = TextParts(text)
    text_parts.finish()
    return _new(AgentMessage, line, text_parts=text_parts, progress=MessageProgress.DONE, role=line.role)


def _new(block_class: type[B], line: "TranscriptLine", **fields: Any) -> B:
    return block_class(at=line.created_at, **_identity(block_class, line), **fields)


def _identity(block_class: type[Block], line: "TranscriptLine") -> dict[str, Any]:
    """The fields that identify a block. It has no turn, because its run belongs to another session."""
    kind = block_class.__name__.lower()
    return {"run_id": f"{line.conversation_id} {kind}", "position": line.seq, "turn": 0, "since": None}
