"""The text of a growing message in parts. All parts but the last are final, so only the last is drawn again."""

import re
from dataclasses import dataclass
from typing import Final

MIN_PART_CHARS: Final = 400
"""Characters after which a part ends at the next blank line outside a code fence."""
LONG_PART_CHARS: Final = 1_500
"""Characters after which a part ends at any line that can stand alone. The next part reopens a fence."""
MAX_PART_CHARS: Final = 4_000
"""Characters after which a part ends anywhere."""
DENSE_TEXT_CHARS: Final = 64 * 1024
DENSE_LINE_CHARS: Final = 8
"""A text that arrives in one piece of at least so many characters, and whose lines are shorter on average, is cut into
parts without looking at its lines. Looking at a million lines takes 400 ms."""
MAX_FENCE_CHARS: Final = 100
"""Characters behind the mark of a fence that the next part repeats."""
MAX_JSON_CHARS: Final = 64 * 1024
"""Length up to which a complete text is parsed to see whether it is JSON; that takes 0.3 ms."""
_JSON_FENCE: Final = "```json"

_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A piece of Markdown that can be drawn without the parts before it."""

    text: str
    """The raw text; the texts of all parts joined are the message."""
    opener: str = ""
    """The code fence that is open where the part begins."""

    @property
    def markdown(self) -> str:
        return f"{self.opener}\n{self.text}" if self.opener else self.text


class TextParts:
    """Splits a growing text into parts. The cost of adding depends on the added text only."""

    def __init__(self, text: str = "") -> None:
        self.sealed: list[Part] = []
        """All parts but the growing one."""
        self._start_over("")
        self.grow(text)

    @property
    def count(self) -> int:
        """The number of parts, including the growing one."""
        return len(self.sealed) + 1

    def part(self, index: int) -> Part:
        return self.sealed[index] if index < len(self.sealed) else self.tail

    @property
    def tail(self) -> Part:
        """The growing part; the same object until the text grows."""
        if self._pieces:
            self._tail = Part(self._tail.text + "".join(self._pieces), self._tail.opener)
            self._pieces = []
        return self._tail

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.sealed) + self.tail.text

    def grow(self, piece: str) -> None:
        """Append to the text."""
        if len(piece) >= DENSE_TEXT_CHARS and piece.count("\n") * DENSE_LINE_CHARS > len(piece):
            self._grow_unread(piece)
            return
        # In steps, because ending a part copies all text behind it.
        for start in range(0, len(piece), LONG_PART_CHARS):
            step = piece[start : start + LONG_PART_CHARS]
            self._pieces.append(step)
            self._size += len(step)
            if "\n" in step or self._size > MAX_PART_CHARS:
                self._end_parts()

    def _grow_unread(self, piece: str) -> None:
        """Append a text that is cut into parts wherever they are long enough."""
        if self._size:
            self._seal(self.tail.text, self._size)
        self.sealed += [
            Part(piece[start : start + MAX_PART_CHARS], self._fence) for start in range(0, len(piece), MAX_PART_CHARS)
        ]

    def finish(self) -> None:
        """Mark the text as complete. JSON becomes a code block: as Markdown it would lose underscores and stars."""
        text = self.text
        if not self._is_code and _is_json(text):
            self._start_over(_JSON_FENCE)
            self.grow(text)

    def replace(self, text: str) -> None:
        """Replace the text. Unchanged parts stay the same objects."""
        if self._is_code:
            self._start_over("")
        start = 0
        for index, part in enumerate(self.sealed):
            if not text.startswith(part.text, start):
                del self.sealed[index:]
                self._begin(part.opener)
                break
            start += len(part.text)
        if not text.startswith(self.tail.text, start):
            self._begin(self.tail.opener)
        self.grow(text[start + self._size :])

    # Private

    def _start_over(self, opener: str) -> None:
        self.sealed.clear()
        self._is_code = bool(opener)
        self._begin(opener)

    def _begin(self, opener: str) -> None:
        self._tail = Part("", opener)
        self._pieces: list[str] = []
        self._size = 0
        self._scanned = 0
        """Characters of the tail that have been scanned for lines."""
        self._fence = opener
        self._after_blank = False

    def _end_parts(self) -> None:
        """Scan complete lines and end parts where they are long enough."""
        text = self.tail.text
        start = self._scanned
        while (end := text.find("\n", start)) >= 0:
            line = text[start:end]
            if start and self._ends_before(line, start):
                text, start, end = self._seal(text, start), 0, end - start
            self._note_fence(line)
            start = self._scanned = end + 1
            if start > MAX_PART_CHARS:
                text, start = self._seal(text, start), 0
        while len(text) > MAX_PART_CHARS:
            cut = text.rfind(" ", LONG_PART_CHARS, MAX_PART_CHARS) + 1 or MAX_PART_CHARS
            text = self._seal(text, cut)

    def _ends_before(self, line: str, size: int) -> bool:
        if self._fence:
            return size > LONG_PART_CHARS
        stands_alone = line[:1] not in ("", " ", "\t", "|", ">")
        return stands_alone and (size > LONG_PART_CHARS or (self._after_blank and size > MIN_PART_CHARS))

    def _note_fence(self, line: str) -> None:
        """Note whether a line is blank, and whether it opens or closes a code fence."""
        self._after_blank = not line.strip()
        if not self._fence:
            if found := _FENCE.match(line):
                self._fence = line.strip()[: len(found[1]) + MAX_FENCE_CHARS]
        elif (mark := _FENCE.match(line)) and not mark[2].strip():
            opened = _FENCE.match(self._fence)
            if opened and mark[1][0] == opened[1][0] and len(mark[1]) >= len(opened[1]):
                self._fence = ""

    def _seal(self, text: str, cut: int) -> str:
        """End the part at `cut`. Returns the rest, which becomes the tail."""
        self.sealed.append(Part(text[:cut], self._tail.opener))
        rest, fence, was_blank = text[cut:], self._fence, self._after_blank
        self._begin(fence)
        self._tail, self._size, self._after_blank = Part(rest, fence), len(rest), was_blank
        return rest


def _is_json(text: str) -> bool:
    """Whether the text is one JSON object or array."""
    if len(text) > MAX_JSON_CHARS or not text.lstrip().startswith(("{", "[")):
        return False
    import orjson  # noqa: PLC0415  (not before the first frame)

    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True
