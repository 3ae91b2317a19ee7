"""Masks secrets that are split over the chunks of a streamed message."""

from typing import Any, cast

from engine.journal.delta_text import DeltaText
from engine.journal.secret_mask import SecretMask
from engine.protocol.content import text_of


class DeltaMask:
    """Changes the chunks of one message at a time before they are recorded.

    Whether chunks are fragments or snapshots is known only after some of them (see `DeltaText`). Until then a chunk
    that must be changed is recorded with the whole masked text so far as `all_content`, which every reader prefers.
    """

    def __init__(self, mask: SecretMask) -> None:
        self._mask = mask
        self._known = len(mask.secrets)
        self._start_message()

    def _start_message(self) -> None:
        self._stream = self._mask.stream()
        self._raw = DeltaText()
        """The text as the runner sent it."""
        self._is_changed = False
        """Whether a chunk of this message was recorded other than it came."""
        self._is_clear = False
        """Whether a reader of the recorded chunks appends the next fragment."""
        self._shown = ""
        """The whole text as it was recorded last with `all_content`."""

    @property
    def is_outdated(self) -> bool:
        """Return whether the mask has learned more secrets since. A new object is needed before the next message."""
        return self._known != len(self._mask.secrets)

    @property
    def holds_text(self) -> bool:
        """Return whether the end of the text so far is not recorded yet."""
        return self._stream is not None and bool(self._stream.held)

    def cover(self, chunk: dict[str, Any]) -> dict[str, Any]:
        """Return the chunk as it may be recorded; the same object if nothing changes."""
        if self._stream is None:
            return chunk
        content, whole = chunk.get("content"), chunk.get("all_content")
        text, snapshot = text_of(content), whole if isinstance(whole, str) else None
        if not text and not snapshot:
            return chunk
        is_fragment = self._raw.is_joined and not snapshot
        self._raw.add(text, snapshot)
        if is_fragment:
            shown = self._stream.add(text)
            if shown == text and self._is_clear:
                return chunk
            changed: dict[str, Any] = {"content": _with_text(content, shown)}
            if shown and not self._is_clear:
                changed["all_content"], self._is_clear = shown, True
            return {**chunk, **changed}
        return self._cover_whole(chunk, content)

    def _cover_whole(self, chunk: dict[str, Any], content: object) -> dict[str, Any]:
        """Mask the whole text so far, because it is not known yet how the chunks are joined, or the chunk has it."""
        stream, raw = self._mask.stream(), self._raw.text
        assert stream is not None  # noqa: S101  (there are secrets to mask)
        self._stream = stream
        shown = stream.add(raw)
        if shown == raw and not self._is_changed:
            self._is_clear = self._raw.is_joined
            return chunk
        new = shown.removeprefix(self._shown)
        self._is_changed, self._shown = True, shown
        self._is_clear = bool(shown)
        return {**chunk, "content": _with_text(content, new), "all_content": shown}

    def take_held(self) -> dict[str, Any] | None:
        """Return a chunk with the text that is held back, because the message goes no further; None if there is none.

        The next chunk starts a new message.
        """
        chunk: dict[str, Any] | None = None
        if self._stream is not None and self._stream.held:
            if self._raw.is_joined and self._is_clear:
                chunk = {"role": "assistant", "content": self._stream.held}
            else:
                whole = self._mask.cover_words(self._raw.text)
                chunk = {"role": "assistant", "content": self._stream.held, "all_content": whole}
        self._start_message()
        return chunk


def _with_text(content: object, text: str) -> object:
    """Return the content of a chunk with another text; parts that are not text stay."""
    if not isinstance(content, list):
        return text
    parts: list[Any] = []
    for part in cast("list[Any]", content):
        if text_of([part]):
            parts.append({**part, "text": text})
            text = ""
        else:
            parts.append(part)
    return parts
