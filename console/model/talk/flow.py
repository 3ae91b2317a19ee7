"""A message's text while it grows, in parts: all but the last are final, so that only the last is drawn again."""

import re
from dataclasses import dataclass
from typing import Final

ENOUGH: Final = 400
"""Characters after which a part ends at the next blank line outside a fence."""
LONG: Final = 1_500
"""After so many it ends at a line that can stand alone, blank line or not; inside a fence the next part reopens it."""
MOST: Final = 4_000
"""And here it ends wherever it is."""
READ: Final = 64 * 1024
"""Characters of a whole text that are read as JSON; that takes 0.3 ms."""
_JSON: Final = "```json"

_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A piece of Markdown that can be drawn without what came before it."""

    text: str
    """As it was said; the texts of all parts together are the message."""
    opener: str = ""
    """The fence that was open where it begins."""

    @property
    def markdown(self) -> str:
        return f"{self.opener}\n{self.text}" if self.opener else self.text


class Flow:
    """Splits a growing text into parts. What is added costs by its own length, however long the text is."""

    def __init__(self, text: str = "") -> None:
        self.sealed: list[Part] = []
        self._start_over("")
        self.grow(text)

    @property
    def parts(self) -> int:
        """How many there are, the growing one included."""
        return len(self.sealed) + 1

    def part(self, place: int) -> Part:
        return self.sealed[place] if place < len(self.sealed) else self.tail

    @property
    def tail(self) -> Part:
        """The part that still grows. The same one until it does."""
        if self._pieces:
            self._tail = Part(self._tail.text + "".join(self._pieces), self._tail.opener)
            self._pieces = []
        return self._tail

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.sealed) + self.tail.text

    def grow(self, piece: str) -> None:
        """More was said."""
        # By and by: to end a part copies what is behind it.
        for start in range(0, len(piece), LONG):
            some = piece[start : start + LONG]
            self._pieces.append(some)
            self._size += len(some)
            if "\n" in some or self._size > MOST:
                self._look_for_ends()

    def settle(self) -> None:
        """It is whole. JSON is code then, shown as it stands: as Markdown it would lose its underscores and stars."""
        text = self.text
        if not self._is_code and _is_json(text):
            self._start_over(_JSON)
            self.grow(text)

    def become(self, text: str) -> None:
        """The text is this from here on; as much of it as was said before stays as it is."""
        if self._is_code:
            self._start_over("")
        place = 0
        for number, part in enumerate(self.sealed):
            if not text.startswith(part.text, place):
                del self.sealed[number:]
                self._begin(part.opener)
                break
            place += len(part.text)
        if not text.startswith(self.tail.text, place):
            self._begin(self.tail.opener)
        self.grow(text[place + self._size :])

    # Inside

    def _start_over(self, opener: str) -> None:
        self.sealed.clear()
        self._is_code = bool(opener)
        self._begin(opener)

    def _begin(self, opener: str) -> None:
        self._tail = Part("", opener)
        self._pieces: list[str] = []
        self._size = 0
        self._seen = 0
        """Characters of the tail whose lines are known."""
        self._fence = opener
        self._after_blank = False

    def _look_for_ends(self) -> None:
        """Go through the lines that are whole, and end parts where that is due."""
        text = self.tail.text
        start = self._seen
        while (end := text.find("\n", start)) >= 0:
            line = text[start:end]
            if start and self._ends_before(line, start):
                text, start, end = self._seal(text, start), 0, end - start
            self._read(line)
            start = self._seen = end + 1
            if start > MOST:
                text, start = self._seal(text, start), 0
        while len(text) > MOST:
            cut = text.rfind(" ", LONG, MOST) + 1 or MOST
            text = self._seal(text, cut)

    def _ends_before(self, line: str, size: int) -> bool:
        if self._fence:
            return size > LONG
        stands_alone = line[:1] not in ("", " ", "\t", "|", ">")
        return stands_alone and (size > LONG or (self._after_blank and size > ENOUGH))

    def _read(self, line: str) -> None:
        self._after_blank = not line.strip()
        if not self._fence:
            if _FENCE.match(line):
                self._fence = line.strip()
        elif (mark := _FENCE.match(line)) and not mark[2].strip():
            opened = _FENCE.match(self._fence)
            if opened and mark[1][0] == opened[1][0] and len(mark[1]) >= len(opened[1]):
                self._fence = ""

    def _seal(self, text: str, cut: int) -> str:
        """End the part here; the rest, which is the tail from now on."""
        self.sealed.append(Part(text[:cut], self._tail.opener))
        rest, fence, was_blank = text[cut:], self._fence, self._after_blank
        self._begin(fence)
        self._tail, self._size, self._after_blank = Part(rest, fence), len(rest), was_blank
        return rest


def _is_json(text: str) -> bool:
    """Whether all of it is an object or an array."""
    if len(text) > READ or not text.lstrip().startswith(("{", "[")):
        return False
    import orjson  # noqa: PLC0415  (not before the first frame)

    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True
