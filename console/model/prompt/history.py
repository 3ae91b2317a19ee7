"""What was sent before, to be sent again."""

from collections.abc import Iterable
from typing import Final

MOST: Final = 500


class Recall:
    """Walks through what was sent, newest first. What is being written is kept, wherever one goes meanwhile."""

    def __init__(self, sent: Iterable[str] = ()) -> None:
        self._sent: list[str] = []
        self._place = 0
        """Which of them is shown; behind the last, none."""
        self._written: dict[int, str] = {}
        """What a person made of each place they left: the draft is the one behind the last."""
        for text in sent:
            self.note(text)

    @property
    def sent(self) -> list[str]:
        """All of it, oldest first."""
        return list(self._sent)

    def __len__(self) -> int:
        return len(self._sent)

    @property
    def is_browsing(self) -> bool:
        """Something that was sent is shown, not the draft."""
        return self._place < len(self._sent)

    def note(self, text: str) -> None:
        """This was sent. What was sent twice is there once, at its last place; the walk is over."""
        if text.strip():
            if text in self._sent:
                self._sent.remove(text)
            self._sent.append(text)
            del self._sent[:-MOST]
        self._place = len(self._sent)
        self._written.clear()

    def earlier(self, shown: str) -> str | None:
        """What was sent before that which is shown; nothing where there is none."""
        return self._go(shown, self._place - 1)

    def later(self, shown: str) -> str | None:
        """What was sent after it, and at last the draft."""
        return self._go(shown, self._place + 1)

    def go_to(self, shown: str, text: str) -> str | None:
        """This one of what was sent; the walk goes on from there."""
        return self._go(shown, self._sent.index(text)) if text in self._sent else None

    def _go(self, shown: str, place: int) -> str | None:
        if not 0 <= place <= len(self._sent):
            return None
        self._written[self._place] = shown
        self._place = place
        return self._written.get(place, self._sent[place] if place < len(self._sent) else "")
