"""Caches the rows of blocks, piece by piece.

The pane asks the cache for the rows of a piece. The cache draws them with `BlockPainter` if the piece has changed.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from console.model.conversation.blocks import AgentMessage, Block, ToolCall, ToolResult
from console.model.conversation.conversation import ConversationModel
from console.model.text.glyphs import GLYPHS
from console.model.text.units import duration
from console.ui.conversation.block_painter import MAX_TEXT_COLUMNS, BlockPainter, DrawOptions

MAX_CACHED_ROWS: Final = 400
"""A screen shows about sixty. Each row is dozens of objects, which the garbage collector has to visit."""
MIN_CACHED_PIECES: Final = 3
"""Kept however many rows they have: a frame asks for a piece twice, and for its neighbours in between."""
MIN_TEXT_COLUMNS: Final = 16
_NO_MARK: Final = Content(" ")


@dataclass(frozen=True, slots=True)
class View:
    """The values that all blocks of one frame share."""

    width: int = 80
    now: int = 0
    cursor: int | None = None
    """The number of the block under the cursor."""
    after: int | None = None
    """The number of the first block after the entry as of which the session is shown."""
    unfolded: AbstractSet[str] = frozenset()
    base: Style = field(default_factory=Style)
    selected: Style = field(default_factory=Style)
    later: RichStyle = field(default_factory=RichStyle.null)
    """The style of blocks after that entry."""


class _CachedRows(NamedTuple):
    source: tuple[object, ...]
    """Everything that the rows were drawn from."""
    strips: list[Strip]


class RowCache:
    """Draws blocks as strips and caches them."""

    def __init__(self) -> None:
        self._painter = BlockPainter()
        self._mark = Content.styled(GLYPHS["cursor"], "bold $text-accent")
        self._later = Content(GLYPHS["later"])
        self._cached: dict[tuple[int, int], _CachedRows] = {}
        self._rows = 0
        """The number of cached rows."""
        self._styles: dict[str | Style, Style] = {}

    def strips(self, conversation: ConversationModel, block: Block, piece: int, view: View) -> list[Strip]:
        """The rows of one piece of a block."""
        key = (block.number, piece)
        is_selected = block.number == view.cursor
        is_after = view.after is not None and block.number >= view.after
        is_unfolded = block.key in view.unfolded
        gap = 0 if piece else gap_above(conversation, block)
        style_key = (view.width, view.base, is_selected, is_after, is_unfolded, gap)
        source = (block.key, *style_key, *_source(block, piece, view.now))
        drawn = self._cached.pop(key, None)
        self._rows -= len(drawn.strips) if drawn is not None else 0
        if drawn is None or drawn.source != source:
            columns = max(MIN_TEXT_COLUMNS, min(view.width - 1, MAX_TEXT_COLUMNS))  # the first one is for the cursor
            lines = self._lines(block, piece, DrawOptions(columns, view.now, is_unfolded))
            base = view.selected if is_selected else view.base
            mark = self._later if is_after else _NO_MARK
            marks = chain((self._mark if is_selected and not piece else mark,), repeat(mark))
            strips = [self.strip(mark + line, base, view.width) for mark, line in zip(marks, lines, strict=False)]
            if is_after:
                strips = [_recolour(strip, view.later) for strip in strips]
            drawn = _CachedRows(source, [*([Strip.blank(view.width, view.base.rich_style)] * gap), *strips])
        self._cached[key] = drawn  # at the end, so that the least recently used is first
        self._rows += len(drawn.strips)
        while self._rows > MAX_CACHED_ROWS and len(self._cached) > MIN_CACHED_PIECES:
            self._rows -= len(self._cached.pop(next(iter(self._cached))).strips)
        return drawn.strips

    def strip(self, line: Content, base: Style, width: int) -> Strip:
        """One line as a strip of exactly this width."""
        parts = line.render(base, end="", parse_style=self._style)
        return Strip([Segment(text, style.rich_style) for text, style in parts]).adjust_cell_length(
            width, base.rich_style
        )

    def _lines(self, block: Block, piece: int, options: DrawOptions) -> list[Content]:
        if piece and isinstance(block, AgentMessage):
            return self._painter.part(block, piece - 1, options)
        return self._painter.head(block, options)

    def _style(self, text: str | Style) -> Style:
        """Parse a style; parsed styles are cached."""
        if (style := self._styles.get(text)) is None:
            style = self._styles[text] = text if isinstance(text, Style) else Style.parse(text)
        return style


def gap_above(conversation: ConversationModel, block: Block) -> int:
    """Blank rows above a block: one-line blocks have no gap between them."""
    number = block.number - 1
    while (before := conversation.block(number)) is not None and before.is_hidden:
        number -= 1
    return 0 if before is None or (block.is_line and before.is_line) else 1


def _recolour(strip: Strip, style: RichStyle) -> Strip:
    """The strip with one colour; bold text stays bold."""
    segments = (Segment(part.text, part.style + style if part.style else style, part.control) for part in strip)
    return Strip(segments, strip.cell_length)


def _source(block: Block, piece: int, now: int) -> tuple[object, ...]:
    """The values of a block that its piece is drawn from."""
    if piece and isinstance(block, AgentMessage):
        is_last = piece == block.text_parts.count
        return (block.text_parts.part(piece - 1), *((block.progress, block.extras) if is_last else ()))
    if isinstance(block, AgentMessage):
        return (block.progress, block.role)
    if isinstance(block, ToolCall) and block.result is ToolResult.OPEN:
        return (block.version, duration(now - block.at))
    return (block.version,)
