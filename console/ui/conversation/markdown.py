"""Lays out Markdown as lines of a given width, for `BlockPainter`: one part of a message at a time.

The result is only text: no HTML, no active links, no Textual markup. The text comes from a runner, so the work for it
is bounded (`make text-budget` measures it): what would take more is drawn as plain text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, repeat
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.content import Content, Span

from console.model.text.columns import cells
from console.model.text.safe import in_place, safe

MAX_MARKDOWN_CHARS: Final = 10_000
"""Longer text is not parsed. A part has at most 4,000 characters, and as many in the fence that it repeats."""
MAX_INLINE_MARKS: Final = 1_000
"""Characters of all paragraphs that may begin a link, emphasis, code or a character reference. Parsing takes up to
10 µs for each."""
MAX_NESTED_BLOCKS: Final = 18
"""Levels of blocks: a quote is one, a list is two. The parser leaves out text that is nested 20 levels deep."""
MAX_MARKERS: Final = 4_000
"""Markers of quotes and lists before lines, those of outer levels included. Each takes 5 µs."""
MAX_TOKENS_PER_ROW: Final = 100
"""So much may be parsed for each row that is drawn; otherwise a screen of rows could take any time."""
MAX_PLAIN_LINES: Final = 300
"""Lines of a part that is drawn as plain text."""
_MIN_CHECKED_TOKENS: Final = 200
_MIN_CHECKED_CHARS: Final = 1_000
_MUTED: Final = "$foreground-muted"
_CODE: Final = "on $panel"
_INLINE: Final = {"strong": "bold", "em": "italic", "s": "strike", "link": "underline", "heading": "bold $text-primary"}
_BULLET, _RULE, _VERTICAL = "•", "─", "│"
_INLINE_MARKS: Final = "[]*_`~<&!\\"
_TAB_COLUMNS: Final = 4
_MIN_CELL_COLUMNS: Final = 3
_MIN_NESTED_COLUMNS: Final = 4
"""Quotes and lists are not indented further if less than this would be left."""
_SIMPLIFIED: Final = "Shown as plain text: the Markdown is too complex."
_CUT: Final = "Stream has the rest."


class MarkdownLayout:
    def lines(self, markdown: str, width: int) -> list[Content]:
        """The text as safe lines of at most this width."""
        width = max(width, 2 * _MIN_CELL_COLUMNS)
        text = safe(markdown)
        lines = [] if text.isspace() else _laid_out(text, width)
        if lines is None:
            shown = text.strip("\n").split("\n", MAX_PLAIN_LINES)
            plain = Content("\n".join(shown[:MAX_PLAIN_LINES])).wrap(width)
            note = f"{_SIMPLIFIED} {_CUT}" if len(shown) > MAX_PLAIN_LINES else _SIMPLIFIED
            lines = [*plain, *Content.styled(note, _MUTED).wrap(width)]
        if not lines and len(markdown) > _MIN_CHECKED_CHARS:
            # Thousands of such parts in a row must not be walked through for one screen.
            lines = Content.styled(f"{len(markdown):,} characters without visible text", _MUTED).wrap(width)
        return lines


def _laid_out(text: str, width: int) -> list[Content] | None:
    """The lines of the text; None if that would take too much work."""
    if len(text) > MAX_MARKDOWN_CHARS:
        return None
    tokens = _parser().parse(text)
    if any(token.nesting and token.level > MAX_NESTED_BLOCKS for token in tokens):
        return None
    document = _Document(text.split("\n"))
    try:
        lines = document.blocks(_tree(tokens), width)
    except _TooManyMarkers:
        return None
    if len(tokens) > _MIN_CHECKED_TOKENS + MAX_TOKENS_PER_ROW * len(lines):
        return None
    if document.is_simplified:
        lines += Content.styled(_SIMPLIFIED, _MUTED).wrap(width)
    return lines


@cache
def _parser() -> MarkdownIt:
    """The parser of blocks. Inline text is parsed when it is drawn, and references are not hidden."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    return parser.disable(["inline", "text_join", "reference"])


@dataclass(slots=True)
class _Node:
    """A block. Not the parser's own tree, which fails if emphasis is nested as deep as Python's recursion limit."""

    token: Token
    children: list["_Node"] = field(default_factory=list)

    @property
    def type(self) -> str:
        return self.token.type.removesuffix("_open")


def _tree(tokens: Sequence[Token]) -> list[_Node]:
    """The blocks at the top, with those inside them."""
    levels: list[list[_Node]] = [[]]
    for token in tokens:
        if token.nesting < 0:
            levels.pop()
            continue
        node = _Node(token)
        levels[-1].append(node)
        if token.nesting > 0:
            levels.append(node.children)
    return levels[0]


class _TooManyMarkers(Exception):
    """Raised if drawing the text would take too much work."""


class _Document:
    """Draws the blocks of one text."""

    def __init__(self, source: Sequence[str]) -> None:
        self._source = source
        """The lines of the text."""
        self._marks_left = MAX_INLINE_MARKS
        self._markers_left = MAX_MARKERS
        self.is_simplified = False
        """Whether a part of the text was drawn without its Markdown."""

    def blocks(self, nodes: Sequence[_Node], width: int, *, is_tight: bool = False) -> list[Content]:
        lines: list[Content] = []
        for node in nodes:
            if lines and not is_tight:
                lines.append(Content(""))
            lines += self._block(node, width)
        return lines

    def _block(self, node: _Node, width: int) -> list[Content]:
        match node.type:
            case "bullet_list" | "ordered_list":
                return self._list(node, width)
            case "blockquote":
                if width - 2 < _MIN_NESTED_COLUMNS:
                    return self.blocks(node.children, width)
                inner = self.blocks(node.children, width - 2)
                return self._with_marker(inner, Content.styled(f"{_VERTICAL} ", _MUTED), _MUTED)
            case "fence" | "code_block":
                return _code(node.token.content, node.token.info if node.type == "fence" else "", width)
            case "hr":
                return [Content.styled(_RULE * min(width, 40), _MUTED)]
            case "table":
                return self._table(node, width)
            case "heading":
                return self._inline(node, _INLINE["heading"]).wrap(width)
            case _:
                return self._inline(node).wrap(width)

    def _list(self, node: _Node, width: int) -> list[Content]:
        paragraphs = (part for item in node.children for part in item.children if part.type == "paragraph")
        is_tight = all(part.token.hidden for part in paragraphs)
        number = int(node.token.attrs.get("start", 1)) if node.type == "ordered_list" else None
        lines: list[Content] = []
        for item in node.children:
            marker = f"{_BULLET} " if number is None else f"{number}. "
            if lines and not is_tight:
                lines.append(Content(""))
            has_room = width - len(marker) >= _MIN_NESTED_COLUMNS
            inner = self.blocks(item.children, width - len(marker) if has_room else width, is_tight=is_tight)
            styled = Content.styled(marker, "$text-accent")
            if has_room:
                lines += self._with_marker(inner or [Content("")], styled, rest=Content(" " * len(marker)))
            else:
                lines += [*styled.fold(width), *inner]
            number = None if number is None else number + 1
        return lines

    def _table(self, node: _Node, width: int) -> list[Content]:
        rows = [row.children for part in node.children for row in part.children]
        columns = max(map(len, rows))
        room = width - 3 * (columns - 1)
        if columns > room:
            return self._raw(node, width)
        cells = [[self._inline(cell) for cell in row] for row in rows]
        natural = [max(row[column].cell_length for row in cells if column < len(row)) for column in range(columns)]
        widths = column_widths(natural, room)
        if sum(widths) > room:
            return self._raw(node, width)
        between = Content.styled(f" {_VERTICAL} ", _MUTED)
        lines: list[Content] = []
        for number, row in enumerate(cells):
            wrapped = [cell.wrap(widths[column]) for column, cell in enumerate(row)]
            for index in range(max(map(len, wrapped))):
                parts = (cell[index] if index < len(cell) else Content("") for cell in wrapped)
                line = between.join(_pad(part, each) for part, each in zip(parts, widths, strict=False))
                lines.append(line if number else line.stylize("bold"))
            if not number:
                lines.append(Content.styled(_RULE * (sum(widths) + 3 * (columns - 1)), _MUTED))
        return lines

    def _with_marker(
        self, lines: Sequence[Content], first: Content, style: str = "", rest: Content | None = None
    ) -> list[Content]:
        """Put the marker `first` before the first line, and `rest` or the same marker before the others."""
        self._markers_left -= len(lines)
        if self._markers_left < 0:
            raise _TooManyMarkers
        markers = chain((first,), repeat(first if rest is None else rest))
        styled = (line.stylize_before(style) if style else line for line in lines)
        return [marker + line for marker, line in zip(markers, styled, strict=False)]

    def _raw(self, node: _Node, width: int) -> list[Content]:
        """The source of a block that has no room."""
        first, last = node.token.map or (0, 0)
        return Content("\n".join(self._source[first:last])).wrap(width)

    def _inline(self, node: _Node, style: str = "") -> Content:
        """The text of a paragraph, a heading or a cell; without its Markdown if there is too much of it."""
        line = _Line()
        for text in (child.token.content for child in node.children):
            self._marks_left -= sum(map(text.count, _INLINE_MARKS))
            if self._marks_left < 0:
                self.is_simplified = True
                line.add(text)
            else:
                tokens: list[Token] = []
                _parser().inline.parse(text, _parser(), {}, tokens)
                line.add_tokens(tokens)
        spans = [Span(0, line.size, style), *line.spans] if style else line.spans
        # Again, because combining marks of several pieces may be on one letter. The length stays the same.
        return Content(in_place("".join(line.text)), spans)


class _Line:
    """Collects the text and styles of one line. Text is made safe here, because the parser decodes references."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.size = 0
        self.spans: list[Span] = []

    def add(self, text: str, style: str = "") -> None:
        shown = safe(text)
        if style:
            self.spans.append(Span(self.size, self.size + len(shown), style))
        self.text.append(shown)
        self.size += len(shown)

    def add_tokens(self, tokens: Iterable[Token]) -> None:
        opened: list[tuple[int, int, Token]] = []
        for token in tokens:
            if token.nesting > 0:
                opened.append((self.size, len(self.text), token))
            elif token.nesting < 0:
                self._close(*opened.pop())
            else:
                self._add_token(token)

    def _add_token(self, token: Token) -> None:
        match token.type:
            case "softbreak" | "hardbreak":
                self.add("\n")
            case "code_inline":
                self.add(token.content, f"$text-accent {_CODE}")
            case "image":
                self.add(f"[image {token.content or token.attrs.get('src', '')}]", _MUTED)
            case _:
                self.add(token.content)

    def _close(self, start: int, first: int, token: Token) -> None:
        """End a style or a link. The target of a link is shown if it is not its text."""
        name = token.type.removesuffix("_open")
        if style := _INLINE.get(name):
            self.spans.append(Span(start, self.size, style))
        href = str(token.attrs.get("href", "")) if name == "link" else ""
        if href and href != "".join(self.text[first:]):
            self.add(f" ({href})", _MUTED)


def _code(code: str, info: str, width: int) -> list[Content]:
    from console.ui.conversation.code_highlight import highlighted  # noqa: PLC0415  (most messages have no code)

    content = highlighted(safe(code).rstrip("\n"), info.split(maxsplit=1)[0] if info.strip() else "")
    lines = _expand_tabs(content).split("\n", allow_blank=True)
    folded = (part for line in lines for part in line.fold(width - 2))
    return [_pad(Content(" ") + part, width).stylize_before(_CODE) for part in folded]


def _expand_tabs(content: Content) -> Content:
    """Replace tabs by spaces. Textual cuts each style at each tab, and then folds them in quadratic time."""
    if "\t" not in content.plain:
        return content
    text, places, size, column = list[str](), list[int](), 0, 0
    for letter in content.plain:
        places.append(size)
        shown = " " * (_TAB_COLUMNS - column % _TAB_COLUMNS) if letter == "\t" else letter
        column = 0 if letter == "\n" else column + cells(shown)
        text.append(shown)
        size += len(shown)
    places.append(size)
    return Content("".join(text), [Span(places[start], places[end], style) for start, end, style in content.spans])


def _pad(line: Content, width: int) -> Content:
    return line.pad_right(max(0, width - line.cell_length))


def column_widths(natural: Sequence[int], total: int) -> list[int]:
    """Column widths; if space is short, the widest columns shrink."""
    widths = [max(each, 1) for each in natural]
    if sum(widths) <= total:
        return widths
    low, high = _MIN_CELL_COLUMNS, max(*widths, _MIN_CELL_COLUMNS)
    while low < high:  # find the greatest width to which all wider columns can shrink
        middle = (low + high + 1) // 2
        low, high = (middle, high) if sum(min(each, middle) for each in widths) <= total else (low, middle - 1)
    left = total - sum(min(each, low) for each in widths)
    for column in range(len(widths) - 1, -1, -1):
        if widths[column] > low:
            widths[column] = low + (left > 0)
            left -= 1
    return widths
