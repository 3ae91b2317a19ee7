"""The drawn rows of a talk's blocks, kept piece by piece and drawn again only where something has changed."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from console.model.glyphs import Glyphs
from console.model.talk.blocks import Answer, Block, Said, Tool
from console.model.talk.talk import Talk
from console.model.words import duration
from console.widgets.conversation.blocks import WIDEST, Look, Painter

KEPT: Final = 400
"""Rows that are kept drawn; a screen shows some sixty. Each is dozens of objects, which cost time as garbage does."""
NARROWEST: Final = 16
_NO_MARK: Final = Content(" ")


@dataclass(frozen=True, slots=True)
class View:
    """What is the same for all blocks of one picture."""

    width: int = 80
    now: int = 0
    cursor: int | None = None
    """The number of the block under the cursor."""
    after: int | None = None
    """The number of the first block that lies after the moment that is shown."""
    unfolded: AbstractSet[str] = frozenset()
    base: Style = field(default_factory=Style)
    selected: Style = field(default_factory=Style)
    later: RichStyle = field(default_factory=RichStyle.null)
    """What is not yet there at the moment that is shown."""


class _Drawn(NamedTuple):
    source: tuple[object, ...]
    """All that the rows were drawn from."""
    strips: list[Strip]


class Sheet:
    """Draws blocks as strips."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._painter = Painter(glyphs)
        self._mark = Content.styled(glyphs["cursor"], "bold $text-accent")
        self._later = Content(glyphs["later"])
        self._drawn: dict[tuple[int, int], _Drawn] = {}
        self._rows = 0
        self._styles: dict[str | Style, Style] = {}

    def strips(self, talk: Talk, block: Block, piece: int, view: View) -> list[Strip]:
        """The rows of one piece of a block."""
        place = (block.number, piece)
        is_selected = block.number == view.cursor
        is_after = view.after is not None and block.number >= view.after
        is_unfolded = block.key in view.unfolded
        gap = 0 if piece else gap_above(talk, block)
        looks = (view.width, view.base, is_selected, is_after, is_unfolded, gap)
        source = (block.key, *looks, *_said(block, piece, view.now))
        drawn = self._drawn.pop(place, None)
        self._rows -= len(drawn.strips) if drawn is not None else 0
        if drawn is None or drawn.source != source:
            # The first column is the cursor's.
            lines = self._lines(block, piece, Look(max(NARROWEST, min(view.width - 1, WIDEST)), view.now, is_unfolded))
            base = view.selected if is_selected else view.base
            mark = self._later if is_after else _NO_MARK
            marks = chain((self._mark if is_selected and not piece else mark,), repeat(mark))
            strips = [self.strip(mark + line, base, view.width) for mark, line in zip(marks, lines, strict=False)]
            if is_after:
                strips = [_all_in(strip, view.later) for strip in strips]
            drawn = _Drawn(source, [*([Strip.blank(view.width, view.base.rich_style)] * gap), *strips])
        self._drawn[place] = drawn  # at the end, so that the first is what was not seen for longest
        self._rows += len(drawn.strips)
        while self._rows > KEPT and len(self._drawn) > 1:
            self._rows -= len(self._drawn.pop(next(iter(self._drawn))).strips)
        return drawn.strips

    def strip(self, line: Content, base: Style, width: int) -> Strip:
        """One line, as wide as that."""
        parts = line.render(base, end="", parse_style=self._style)
        return Strip([Segment(text, style.rich_style) for text, style in parts]).adjust_cell_length(
            width, base.rich_style
        )

    def _lines(self, block: Block, piece: int, look: Look) -> list[Content]:
        if piece and isinstance(block, Said):
            return self._painter.part(block, piece - 1, look)
        return self._painter.head(block, look)

    def _style(self, words: str | Style) -> Style:
        if (style := self._styles.get(words)) is None:
            style = self._styles[words] = words if isinstance(words, Style) else Style.parse(words)
        return style


def gap_above(talk: Talk, block: Block) -> int:
    """Blank rows above a block: lines stand together, all else apart."""
    number = block.number - 1
    while (before := talk.block(number)) is not None and before.is_gone:
        number -= 1
    return 0 if before is None or (block.is_line and before.is_line) else 1


def _all_in(strip: Strip, style: RichStyle) -> Strip:
    """The strip in one colour; bold stays bold."""
    plain = (Segment(part.text, part.style + style if part.style else style, part.control) for part in strip)
    return Strip(plain, strip.cell_length)


def _said(block: Block, piece: int, now: int) -> tuple[object, ...]:
    """What of a block makes up this piece."""
    if piece and isinstance(block, Said):
        is_last = piece == block.flow.parts
        return (block.flow.part(piece - 1), *((block.standing, block.extras) if is_last else ()))
    if isinstance(block, Said):
        return (block.standing, block.role)
    if isinstance(block, Tool) and block.answer is Answer.OPEN:
        return (block.version, duration(now - block.at))
    return (block.version,)
