"""One run's messages as they are said: pieces, snapshots and whole ones become blocks in the right place."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from console.model.talk.blocks import Said, Standing
from console.model.talk.heads import Begun, Head, become
from console.model.talk.loose import items, mapping, text_of
from engine.events import DeltaText, Entry

Begin = Callable[[Entry], Said]
"""A new block at the end of the talk."""


class Saying:
    """Follows the message that is being said.

    What is said after a tool call or a steered message stands below it, so one message may have several blocks.
    """

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._blocks: list[Said] = []
        """Of the message that is not complete yet."""
        self._before = ""
        """The text of all of them but the one that grows."""
        self._growing: Said | None = None
        self._deltas = DeltaText()
        self._is_stale = False
        """Chunks came that are not in the block yet."""
        self._last_text: str | None = None
        self.is_begun_above = False
        """What comes first may be the rest of a message, whose beginning is not loaded here."""
        self._goes_on = True
        """Nothing came between that and what was said first here."""
        self._above: int | None = None
        """How much of that message's first block was said above; nothing where that cannot be told."""
        self.head: Head | None = None
        """Such a message, once no more is said of it."""

    def delta(self, entry: Entry, data: Mapping[str, Any]) -> None:
        """The next chunk. Only what it adds is looked at; snapshots are compared once, in `settle`."""
        chunk = mapping(data.get("chunk"))
        content, snapshot = text_of(chunk.get("content")), chunk.get("all_content")
        whole = snapshot if isinstance(snapshot, str) else None
        if not content and not whole:
            return
        block = self._growing
        if block is None:
            block = self._growing = self._begin(entry)
            block.role = str(chunk.get("role") or block.role)
            self._blocks.append(block)
            self._deltas = DeltaText()
            if whole and block is self._blocks[0]:
                self._above = 0  # a snapshot says all of it again
        if self._deltas.is_joined and not whole and not self._is_stale:
            self._deltas.add(content)
            block.flow.grow(content)
            block.version += 1
        else:
            self._deltas.add(content, whole)
            self._is_stale = True

    def settle(self) -> None:
        """Bring the growing block to what was said so far. Once a batch."""
        if self._is_stale and self._growing is not None:
            self._growing.flow.become(self._own(self._deltas.text))
            self._growing.version += 1
        self._is_stale = False

    def interrupt(self) -> None:
        """Something else happened: what is said from here on stands below it."""
        self.settle()
        self._goes_on = self._goes_on and bool(self._blocks)
        if self._growing is not None:
            self._before += self._growing.flow.text
            _finish(self._growing, Standing.DONE)
            self._growing = None

    def complete(self, entry: Entry, data: Mapping[str, Any]) -> None:
        """A whole message; it replaces the pieces that came before it."""
        message = mapping(data.get("message"))
        if not message:
            return
        text, extras = text_of(message.get("content"), " "), _extras(message.get("content"))
        self.settle()
        is_repeat = entry.type == "run.completed" and text == self._last_text and not self._blocks
        self._last_text = text
        if not is_repeat:
            self._put(entry, text, extras, str(message.get("role") or "assistant"))
        self.close(Standing.DONE)

    def close(self, standing: Standing) -> None:
        """No more is said of this message."""
        self.settle()
        for block in self._blocks:
            _finish(block, standing if block is self._growing else Standing.DONE)
        if self.is_begun_above and self._blocks and self._above is not None:
            self.head = Head(self._blocks[0], self._above, self._goes_on)
        self._blocks, self._before, self._growing, self.is_begun_above = [], "", None, False

    def come_after(self, earlier: "Saying") -> None:
        """Join with what was said in the window above: a message that began there goes on here."""
        begun = earlier.break_off()
        if self.is_begun_above:
            self._blocks = [*begun.blocks, *self._blocks]
            self._before = begun.text + self._before
            self.is_begun_above = begun.is_begun_above
            self.head = None if begun.is_begun_above else earlier.head
        else:
            self.head = (self.head and self.head.come_after(begun)) or earlier.head

    def break_off(self) -> Begun:
        """The message as far as it was said here; the window below has the rest."""
        self.settle()
        begun = Begun(self._blocks, self._said, self._growing, self.is_begun_above, self._goes_on)
        self.close(Standing.DONE)
        return begun

    # Inside

    @property
    def _said(self) -> str:
        """All of the message so far."""
        return self._before + (self._growing.flow.text if self._growing is not None else "")

    def _own(self, text: str) -> str:
        """The growing block's share: snapshots say again what stands above."""
        repeats = self._before and not self._deltas.is_bare_fragments and text.startswith(self._before)
        return text[len(self._before) :] if repeats else text

    def _put(self, entry: Entry, text: str, extras: tuple[str, ...], role: str) -> None:
        if self.is_begun_above:
            self._above = self._with_beginning(text)
        growing = self._growing.flow.text if self._growing is not None else ""
        is_shown = text.rstrip() in (self._said.rstrip(), growing.rstrip()) and bool(self._blocks)
        if not is_shown:
            rest = text.removeprefix(self._before)
            if self._growing is None and (rest or extras):
                self._growing = self._begin(entry)
                self._blocks.append(self._growing)
            if self._growing is not None and rest:
                self._growing.flow.become(rest)
        if (block := self._growing or (self._blocks[-1] if self._blocks else None)) is not None:
            block.extras, block.role = extras, role
            block.version += 1

    def _with_beginning(self, text: str) -> int:
        """Let the first block say what was said above, until that is loaded, too; how many characters that is."""
        said = self._said.rstrip()
        if not said:
            return len(text)
        above = max(0, text.rfind(said))
        if above:
            first = self._blocks[0]
            become(first, text[:above] + first.flow.text)
            self._before = text[:above] + self._before if first is not self._growing else self._before
        return above


def _finish(block: Said, standing: Standing) -> None:
    if block.standing is Standing.STREAMING:
        block.standing = standing
        block.flow.settle()
        block.version += 1


def _extras(content: object) -> tuple[str, ...]:
    parts: Sequence[Any] = items(content)
    told = (mapping(part) for part in parts)
    return tuple(_named(part) for part in told if part.get("type") not in (None, "text"))


def _named(part: Mapping[str, Any]) -> str:
    kind = str(part.get("type")).removesuffix("_url").removesuffix("_base64")
    return " ".join(filter(None, (kind, str(part.get("file_name") or ""))))
