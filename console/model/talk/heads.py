"""A message that began in the window above the one that is loaded: its text is parted when that window comes."""

from collections.abc import Sequence
from typing import NamedTuple

from console.model.talk.blocks import Said, Standing


class Begun(NamedTuple):
    """A message as far as it was said where a window ends."""

    blocks: Sequence[Said]
    text: str
    growing: Said | None
    """The block that would go on, if nothing came between."""
    is_begun_above: bool
    """It began before that window, too."""
    goes_on: bool
    """And its first block goes on with the last one there."""


class Head(NamedTuple):
    """Where such a message begins, as far as it is loaded."""

    block: Said
    above: int
    """How many characters of the block were said above."""
    goes_on: bool
    """The block goes on with the last one above: nothing came between them but the window's edge."""

    def come_after(self, begun: Begun) -> "Head | None":
        """Leave to the blocks above what they say; where the message begins now, if that is not known yet.

        Whatever is left to whom, all together says what the message says.
        """
        if not begun.text:
            return self._replace(goes_on=self.goes_on and begun.goes_on) if begun.is_begun_above else None
        text = self.block.flow.text
        is_first = text.startswith(begun.text) and not (begun.is_begun_above and self.above)
        at = 0 if is_first else text.rfind(begun.text, 0, self.above)
        if at < 0:
            return None
        first = begun.blocks[0]
        become(first, text[:at] + first.flow.text)
        self._keep(text[at + len(begun.text) :], begun.growing if self.goes_on else None)
        return Head(first, at, begun.goes_on) if begun.is_begun_above else None

    def _keep(self, rest: str, last: Said | None) -> None:
        """What is not said above is said here, or by the last block above where it goes on with that."""
        if last is not None:
            become(last, last.flow.text + rest)
            last.extras = self.block.extras
        become(self.block, rest)
        if last is not None or not (rest or self.block.extras):
            self.block.leave()


def become(block: Said, text: str) -> None:
    """The block says this from here on."""
    block.flow.become(text)
    if block.standing is not Standing.STREAMING:
        block.flow.settle()
    block.version += 1
