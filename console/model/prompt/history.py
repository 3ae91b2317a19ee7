"""The history of sent messages."""

from collections.abc import Iterable
from typing import Final

MAX_HISTORY_ITEMS: Final = 500


class PromptHistory:
    """Walks through the sent messages, newest first, and keeps the draft and edits meanwhile."""

    def __init__(self, sent: Iterable[str] = ()) -> None:
        self._sent: list[str] = []
        self._index = 0
        """The index of the shown message; behind the last one it is the draft."""
        self._edited: dict[int, str] = {}
        """The edited text by index; the draft is behind the last message."""
        for text in sent:
            self.add(text)

    @property
    def sent(self) -> list[str]:
        """All sent messages, oldest first."""
        return list(self._sent)

    def __len__(self) -> int:
        return len(self._sent)

    @property
    def is_browsing(self) -> bool:
        """Whether a sent message is shown and not the draft."""
        return self._index < len(self._sent)

    def add(self, text: str) -> None:
        """Add a sent message. A repeated message is kept once, at the end. Ends browsing."""
        if text.strip():
            if text in self._sent:
                self._sent.remove(text)
            self._sent.append(text)
            del self._sent[:-MAX_HISTORY_ITEMS]
        self._index = len(self._sent)
        self._edited.clear()

    def earlier(self, shown: str) -> str | None:
        """Go to the message before the shown one. Returns it, or None if there is none."""
        return self._go(shown, self._index - 1)

    def later(self, shown: str) -> str | None:
        """Go to the message after the shown one, and finally to the draft. Returns None after the draft."""
        return self._go(shown, self._index + 1)

    def go_to(self, shown: str, text: str) -> str | None:
        """Go to a sent message. Returns it, or None if it is not in the history."""
        return self._go(shown, self._sent.index(text)) if text in self._sent else None

    def _go(self, shown: str, index: int) -> str | None:
        if not 0 <= index <= len(self._sent):
            return None
        self._edited[self._index] = shown
        self._index = index
        return self._edited.get(index, self._sent[index] if index < len(self._sent) else "")
