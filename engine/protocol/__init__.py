"""The contract with runners. Needs only pydantic, so that any interpreter can load it."""

from engine.protocol.content import ContentElement, Message, MessageChunk, ToolCall
from engine.protocol.context import AgentRunContext
from engine.protocol.errors import AgentAPIError, AgentAPIException, ErrorCode
from engine.protocol.results import AgentRunResult, ResultType
from engine.protocol.runner import AgentRunner

__all__ = [
    "AgentAPIError",
    "AgentAPIException",
    "AgentRunContext",
    "AgentRunResult",
    "AgentRunner",
    "ContentElement",
    "ErrorCode",
    "Message",
    "MessageChunk",
    "ResultType",
    "ToolCall",
]
