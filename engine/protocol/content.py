"""Messages, chunks, their parts, and the input of an event."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from pydantic import Field, StrictBool, StrictInt

from engine.protocol.base import LARGEST_INTEGER, Model, OpenModel


class ImageUrl(OpenModel):
    """The address of an image."""

    url: str


class ContentElement(OpenModel):
    """One part of a message: text, image_url, image_base64, file_url or file_base64."""

    type: str
    text: str | None = None
    image_url: ImageUrl | None = None
    image_base64: str | None = None
    file_url: str | None = None
    file_base64: str | None = None
    file_name: str | None = None


Content = str | list[ContentElement] | None


class FunctionCall(OpenModel):
    """A function that a model wants to call; the arguments are JSON text as the model wrote it."""

    name: str
    arguments: str


class ToolCall(OpenModel):
    """One tool call of a complete message."""

    id: str
    type: str = "function"
    function: FunctionCall


class FunctionCallChunk(OpenModel):
    """A part of a function call: often the name first, then the arguments in parts."""

    name: str | None = None
    arguments: str | None = None


class ToolCallChunk(OpenModel):
    """A part of a tool call, as models stream it."""

    id: str | None = None
    type: str | None = None
    function: FunctionCallChunk | None = None


class Message(OpenModel):
    """One complete message. Unknown keys are kept."""

    role: str
    content: Content = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    artifact_refs: list[str | dict[str, Any]] | None = None
    """Artifacts of the message: ids, or objects with an `artifact_id`."""


class MessageChunk(OpenModel):
    """A part of a message that is being streamed. Unknown keys are kept."""

    role: str
    content: Content = None
    all_content: str | None = None
    """The whole text so far; it wins over `content`."""
    name: str | None = None
    tool_calls: list[ToolCallChunk] | None = None
    tool_call_id: str | None = None
    is_final: StrictBool | None = None


class Attachment(Model):
    """A file that came with an event; it becomes an artifact before the run starts."""

    artifact_id: str
    artifact_type: str
    """image, file, voice, tool_result …"""
    source: str
    mime_type: str | None = None
    name: str | None = None
    size: Annotated[StrictInt, Field(ge=0, le=LARGEST_INTEGER)] | None = None
    url: str | None = None
    id: str | None = None
    """The platform's own id of the file."""
    content: str | None = None
    """Base64, or a data URL."""


class RunnerInput(Model):
    """The input of an event."""

    text: str | None = None
    contents: list[ContentElement] = Field(default_factory=list[ContentElement])
    attachments: list[Attachment] = Field(default_factory=list[Attachment])

    def to_text(self) -> str:
        """Return the plain text: `text` if it is set, else the joined text parts of `contents`."""
        return text_of(self.contents) if self.text is None else self.text


def text_of(content: object, joiner: str = "") -> str:
    """Return the text of a message's content, parsed or as plain JSON. Other parts are left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    return joiner.join(text for part in cast("Sequence[object]", content) if (text := _text_of_part(part)))


def _text_of_part(part: object) -> str:
    if isinstance(part, ContentElement):
        return part.text or "" if part.type == "text" else ""
    if isinstance(part, Mapping):
        element = cast("Mapping[str, object]", part)
        text = element.get("text")
        return text if element.get("type") == "text" and isinstance(text, str) else ""
    return ""
