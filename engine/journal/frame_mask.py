"""Masks secrets that are split over the frames of a streamed reply."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from engine.journal.delta_mask import DeltaMask
from engine.journal.secret_mask import SecretMask, StreamMask


class FrameMask:
    """Changes the frames of one reply before they are recorded. The text and the arguments of each tool call are masked
    as a whole; what else a frame has is masked by itself, when it is recorded.
    """

    def __init__(self, mask: SecretMask) -> None:
        self._mask = mask
        self._has_secrets = bool(mask.secrets)
        self._text = DeltaMask(mask)
        self._arguments: dict[int, StreamMask] = {}
        """The arguments of tool calls, by the number of the call."""

    def cover(self, frame: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the frame as it may be recorded; the same object if nothing changes."""
        chunk = frame.get("chunk")
        if not self._has_secrets or not isinstance(chunk, dict):
            return frame
        given = cast("dict[str, Any]", chunk)
        covered = self._cover_tool_calls(self._text.cover(given))
        return frame if covered is given else {**frame, "chunk": covered}

    def take_held(self) -> Iterator[Mapping[str, Any]]:
        """Yield frames with the text that is held back, because the reply goes no further."""
        if (chunk := self._text.take_held()) is not None:
            yield {"chunk": chunk}
        for number, stream in self._arguments.items():
            if held := stream.take_held():
                calls = [{"index": number, "function": {"arguments": held}}]
                yield {"chunk": {"role": "assistant", "content": "", "tool_calls": calls}}

    def _cover_tool_calls(self, chunk: dict[str, Any]) -> dict[str, Any]:
        calls = chunk.get("tool_calls")
        if not isinstance(calls, list):
            return chunk
        covered = [self._cover_tool_call(call, place) for place, call in enumerate(cast("list[Any]", calls))]
        return {**chunk, "tool_calls": covered}

    def _cover_tool_call(self, call: Any, place: int) -> Any:
        if not isinstance(call, dict):
            return call
        fields = cast("dict[str, Any]", call)
        function = fields.get("function")
        arguments = cast("dict[str, Any]", function).get("arguments") if isinstance(function, dict) else None
        if not isinstance(arguments, str):
            return fields
        index = fields.get("index")
        number = index if isinstance(index, int) else place
        stream = self._arguments.get(number) or self._mask.stream()
        if stream is None:
            return fields
        self._arguments[number] = stream
        return {**fields, "function": {**cast("dict[str, Any]", function), "arguments": stream.add(arguments)}}
