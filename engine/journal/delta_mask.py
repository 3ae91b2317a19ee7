"""Masks secrets that are split over the chunks of a streamed message."""

from typing import Any, cast

from engine.journal.secret_mask import SecretMask, StreamMask


class DeltaMask:
    """Changes the chunks of one message at a time before they are recorded.

    Chunks are fragments, or snapshots that repeat the text so far; `DeltaText` tells them apart, and this class must
    not mislead it. The end of a fragment that is held back is put before the next one; the next snapshot contains it
    anyway. Where a changed chunk could be read as the other kind, it is recorded with `all_content`, which settles it.
    """

    def __init__(self, mask: SecretMask) -> None:
        self._mask = mask
        self._start_message()

    def _start_message(self) -> None:
        self._fragments = self._mask.stream()
        self._is_changed = False
        """Whether a chunk of this message was recorded other than it came."""
        self._are_fragments = False
        """Whether a chunk did not begin with the one before it."""
        self._previous = ""
        """The content of the last chunk as the runner sent it."""
        self._recorded: str | None = ""
        """The joined fragments as recorded; None once it is clear to a reader that they are fragments."""
        self._last_recorded = ""
        self._cut_snapshot: str | None = None
        """The last snapshot, if its end was held back."""

    @property
    def holds_text(self) -> bool:
        """Return whether the end of the text so far is not recorded yet."""
        return self._cut_snapshot is not None or (self._fragments is not None and bool(self._fragments.held))

    def cover(self, chunk: dict[str, Any]) -> dict[str, Any]:
        """Return the chunk as it may be recorded; the same object if nothing changes."""
        if self._fragments is None:
            return chunk
        content, whole = chunk.get("content"), chunk.get("all_content")
        changed: dict[str, Any] = {}
        self._cut_snapshot = None
        if isinstance(content, str) and content:
            changed = self._cover_content(content, self._fragments, has_snapshot=bool(whole))
        elif isinstance(content, list):
            changed = {"content": [_cover_part(part, self._fragments) for part in cast("list[Any]", content)]}
        if isinstance(whole, str) and whole:
            changed["all_content"] = self._cover_snapshot(whole)
            self._recorded = None
        return chunk if all(chunk.get(name) == value for name, value in changed.items()) else {**chunk, **changed}

    def take_held(self) -> dict[str, Any] | None:
        """Return a chunk with the text that is held back, because the message goes no further; None if there is none.

        The next chunk starts a new message.
        """
        chunk: dict[str, Any] | None = None
        if self._cut_snapshot is not None:
            chunk = {"role": "assistant", "all_content": self._mask.cover_words(self._cut_snapshot)}
        elif self._fragments is not None and self._fragments.held:
            chunk = {"role": "assistant", **self._fragment(self._fragments.held, is_changed=True)}
        self._start_message()
        return chunk

    def _cover_content(self, content: str, fragments: StreamMask, *, has_snapshot: bool) -> dict[str, Any]:
        is_snapshot = (
            not has_snapshot
            and not self._are_fragments
            and bool(self._previous)
            and len(content) > len(self._previous)
            and content.startswith(self._previous)
        )
        self._are_fragments = self._are_fragments or has_snapshot or bool(self._previous and not is_snapshot)
        self._previous = content
        if is_snapshot:
            fragments.take_held()
            shown = self._cover_snapshot(content)
            self._is_changed = self._is_changed or shown != content
            return {"content": shown, "all_content": shown} if self._is_changed else {"content": shown}
        shown = fragments.add(content)
        return self._fragment(shown, is_changed=shown != content)

    def _fragment(self, shown: str, *, is_changed: bool) -> dict[str, Any]:
        """Return the text of a chunk that is recorded as a fragment."""
        self._is_changed = self._is_changed or is_changed
        if self._recorded is None or not shown:
            return {"content": shown}
        begins_alike = bool(self._last_recorded) and shown.startswith(self._last_recorded)
        self._recorded += shown
        if self._is_changed and begins_alike:
            joined, self._recorded = self._recorded, None
            return {"content": shown, "all_content": joined}
        if self._last_recorded and not begins_alike:
            self._recorded = None
        self._last_recorded = shown
        return {"content": shown}

    def _cover_snapshot(self, text: str) -> str:
        stream = self._mask.stream()
        if stream is None:
            return text
        shown = stream.add(text)
        self._cut_snapshot = text if stream.held else None
        return shown


def _cover_part(part: object, stream: StreamMask) -> object:
    if not isinstance(part, dict):
        return part
    element = cast("dict[str, Any]", part)
    text: object = element.get("text")
    return {**element, "text": stream.add(text)} if isinstance(text, str) else element
