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
        self._arguments: dict[str | int, tuple[Mapping[str, Any], StreamMask]] = {}
        """The arguments of each tool call, and the fields that identify the call, by its id or number."""
        self._latest: dict[int, str | int] = {}
        """The call that a fragment without an id continues, by its number, or by its place in the frame."""

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
        for identity, stream in self._arguments.values():
            if held := stream.take_held():
                calls = [{**identity, "function": {"arguments": held}}]
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
        stream = self._stream_of(fields, place)
        if stream is None:
            return fields
        return {**fields, "function": {**cast("dict[str, Any]", function), "arguments": stream.add(arguments)}}

    def _stream_of(self, call: Mapping[str, Any], place: int) -> StreamMask | None:
        """Return the mask of the tool call that a fragment belongs to. Some models number calls, others repeat ids."""
        index, call_id = call.get("index"), call.get("id")
        number = index if isinstance(index, int) else place
        key = call_id if isinstance(call_id, str) and call_id else self._latest.get(number, number)
        self._latest[number] = key
        if key not in self._arguments:
            stream = self._mask.stream()
            if stream is None:
                return None
            given = {name: call[name] for name in ("index", "id") if call.get(name) is not None}
            self._arguments[key] = (given or {"index": number}, stream)
        return self._arguments[key][1]
