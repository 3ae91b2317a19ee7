"""Tool calls and steering messages of a run that wait for an entry, or whose first entry is not loaded."""

from dataclasses import dataclass, field
from typing import NamedTuple

from console.model.conversation.blocks import AttachedFile, SteeringMessage, ToolCall, ToolResult


class MessageText(NamedTuple):
    """The text and the attachments of a queued message."""

    text: str = ""
    files: tuple[AttachedFile, ...] = ()


@dataclass(slots=True)
class OpenItems:
    """Open tool calls by call id, and open steering messages by item id."""

    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """Tool calls without a result."""
    results: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """Results whose call is not loaded, each in a block of its own."""
    texts: dict[str, MessageText] = field(default_factory=dict[str, MessageText])
    """Texts of messages that have not been delivered."""
    pulled: dict[str, SteeringMessage] = field(default_factory=dict[str, SteeringMessage])
    """Messages that were pulled and neither delivered nor dropped."""
    incomplete: dict[str, SteeringMessage] = field(default_factory=dict[str, SteeringMessage])
    """Messages whose pull or text may be recorded before the loaded entries."""
    dropped: dict[str, SteeringMessage] = field(default_factory=dict[str, SteeringMessage])
    """Dropped messages that may still be sent again."""

    def join_above(self, earlier: "OpenItems", *, is_over: bool) -> None:
        """Match with the open items of the entries before. `is_over` says that the run has ended."""
        for call_id, call in earlier.calls.items():
            result = self.results.pop(call_id, None)
            if result is not None:
                call.set_result(result.result, result.at, result.summary, result.output, is_cut=result.is_cut)
                result.hide()
            elif is_over:
                call.set_result(ToolResult.NONE)
            else:
                self.calls.setdefault(call_id, call)
        for item_id, block in self.incomplete.items():
            pulled = earlier.pulled.pop(item_id, None)
            if pulled is not None:
                pulled.hide()  # its delivery has a block already
            queued = earlier.texts.get(item_id, MessageText())
            block.text = queued.text or (pulled.text if pulled is not None else "") or block.text
            block.attachments = queued.files or block.attachments
            block.version += 1
        self.pulled = earlier.pulled | self.pulled
        self.texts = earlier.texts | self.texts
        self.results |= earlier.results
        self.incomplete = earlier.incomplete | self.incomplete
        self.dropped |= earlier.dropped
