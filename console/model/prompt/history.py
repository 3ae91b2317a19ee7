"""The history of sent messages."""

from collections.abc import Iterable
from typing import Final

MAX_HISTORY_ITEMS: Final = 500


class PromptHistory:
    """Walks through the sent messages, newest first, and keeps the draft and edits meanwhile."""

    def __init__(self, sent: Iterable[str] = ()) -> None:
        self._sent: list[str] = []
        self._place = 0
        """The index of the shown message; behind the last one it is the draft."""
        self._written: dict[int, str] = {}
        """The edited text by index; the draft is behind the last message."""
        for text in sent:
            self.note(text)

    @property
    def sent(self) -> list[str]:
        """All sent messages, oldest first."""
        return list(self._sent)

    def __len__(self) -> int:
        return len(self._sent)

    @property
    def is_browsing(self) -> bool:
        """Whether a sent message is shown and not the draft."""
        return self._place < len(self._sent)

    def note(self, text: str) -> None:
        """Add a sent message. A repeated message is kept once, at the end. Ends browsing."""
        if text.strip():
            if text in self._sent:
                self._sent.remove(text)
            self._sent.append(text)
            del self._sent[:-MAX_HISTORY_ITEMS]
        self._place = len(self._sent)
        self._written.clear()

    def earlier(self, shown: str) -> str | None:
        """The message before the shown one, or None."""
        return self._go(shown, self._place - 1)

    def later(self, shown: str) -> str | None:
        """The message after the shown one, and finally the draft."""
        return self._go(shown, self._place + 1)

    def go_to(self, shown: str, text: str) -> str | None:
        """Go to a sent message."""
        return self._go(shown, self._sent.index(text)) if text in self._sent else None

    def _go(self, shown: str, place: int) -> str | None:
        if not 0 <= place <= len(self._sent):
            return None
        self._written[self._place] = shown
        self._place = place
        return self._written.get(place, self._sent[place] if place < len(self._sent) else "")
