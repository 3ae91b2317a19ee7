"""The transcript lines that a forked session inherited, as blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from console.model.conversation.blocks import AgentMessage, Block, Event, MessageProgress, Note, UserMessage
from console.model.conversation.conversation import ConversationModel
from console.model.conversation.run_blocks import attachments_of
from console.model.conversation.text_parts import TextParts
from console.model.journal.json_access import array, words
from engine.events import content_text, mapping

if TYPE_CHECKING:
    from engine.api import Entry, TranscriptLine

B = TypeVar("B", bound=Block)
_NOTHING: Final[Mapping[str, "Entry"]] = {}


def is_inherited(line: "TranscriptLine") -> bool:
    """Whether a line was copied from the parent session."""
    return "forked_from" in line.metadata


def untold(lines: "Sequence[TranscriptLine]", before: "TranscriptLine | None") -> list[str]:
    """The runs of these lines (oldest first) whose first line is not a message: another event may have started them.

    `before` is the line above, if any; its run began further up.
    """
    messages = {line.event_id for line in lines if line.role == "user"}
    begun = {line.run_id: None for line in lines if line.role != "user" and line.event_id not in messages}
    return [run_id for run_id in begun if run_id is not None and (before is None or before.run_id != run_id)]


def inherited(
    lines: "Sequence[TranscriptLine]", first: "Mapping[str, Entry]" = _NOTHING, remark: str = ""
) -> ConversationModel:
    """The blocks of inherited lines (oldest first). `first` has the first entry of each run from `untold`."""
    talk, told = ConversationModel(), set[str | None]()
    for line in lines:
        if line.run_id not in told and (entry := first.get(line.run_id or "")) is not None:
            for block in ConversationModel.of([entry]).blocks:
                if isinstance(block, Event):
                    talk.add(replace(block, **_place(Event, line)))
        told.add(line.run_id)
        talk.add(_block(line))
    if remark and lines:
        talk.add(_made(Note, lines[-1], text=remark, is_warning=False, glyph="fork"))
    return talk


def words_of(line: "TranscriptLine") -> str:
    """The whole text of a line."""
    whole = mapping(line.content_json)
    return words(whole.get("text")) or content_text(whole.get("content"), " ") or line.content or ""


def _block(line: "TranscriptLine") -> Block:
    text = words_of(line)
    if line.role == "user":
        return _made(
            UserMessage,
            line,
            text=text,
            who="you",
            attachments=attachments_of(array(mapping(line.content_json).get("attachments"))),
        )
    text_parts = TextParts(text)
    text_parts.settle()
    return _made(AgentMessage, line, text_parts=text_parts, progress=MessageProgress.DONE, role=line.role)


def _made(make: type[B], line: "TranscriptLine", **what: Any) -> B:
    return make(at=line.created_at, **_place(make, line), **what)


def _place(make: type[Block], line: "TranscriptLine") -> dict[str, Any]:
    """The identity of a block. It has no turn, because its run belongs to another session."""
    kind = make.__name__.lower()
    return {"run_id": f"{line.conversation_id} {kind}", "position": line.seq, "turn": 0, "since": None}
