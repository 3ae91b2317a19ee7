"""Lays out Markdown as lines of a given width, for `BlockPainter`: one part of a message at a time.

The result is only text: no HTML, no active links, no Textual markup.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, repeat
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode as Node
from pygments.token import Token
from textual.content import Content, Span
from textual.highlight import HighlightTheme, highlight

from console.model.text.safe import safe

_MUTED: Final = "$foreground-muted"
_CODE: Final = "on $panel"
_INLINE: Final = {"strong": "bold", "em": "italic", "s": "strike", "link": "underline", "heading": "bold $text-primary"}
_BULLET, _RULE, _VERTICAL = "•", "─", "│"
_MIN_CELL_COLUMNS: Final = 3
_MAX_LANGUAGE_CHARS: Final = 20
_DIMMING: Final = re.compile(r"(?<=\w) \d+%| on \$\S+")


class _CodeTheme(HighlightTheme):
    """Textual's code colours without dimming, which would be hard to read."""

    STYLES = {  # noqa: RUF012  (as Textual has it)
        **{token: _DIMMING.sub("", style) for token, style in HighlightTheme.STYLES.items()},
        Token.Comment: "$text-muted",
    }


class MarkdownLayout:
    def lines(self, markdown: str, width: int) -> list[Content]:
        """The text as safe lines of at most this width."""
        root = Node(_parser().parse(safe(markdown)))
        return self._blocks(root.children, max(width, 2 * _MIN_CELL_COLUMNS))

    def _blocks(self, nodes: Sequence[Node], width: int, *, is_tight: bool = False) -> list[Content]:
        lines: list[Content] = []
        for node in nodes:
            if lines and not is_tight:
                lines.append(Content(""))
            lines += self._block(node, width)
        return lines

    def _block(self, node: Node, width: int) -> list[Content]:
        match node.type:
            case "bullet_list" | "ordered_list":
                return self._list(node, width)
            case "blockquote":
                inner = self._blocks(node.children, width - 2)
                return _with_marker(inner, Content.styled(f"{_VERTICAL} ", _MUTED), _MUTED)
            case "fence" | "code_block":
                return _code(node.content, node.info if node.type == "fence" else "", width)
            case "hr":
                return [Content.styled(_RULE * min(width, 40), _MUTED)]
            case "table":
                return self._table(node, width)
            case "heading":
                return _inline(node, _INLINE["heading"]).wrap(width)
            case _:
                return _inline(node).wrap(width)

    def _list(self, node: Node, width: int) -> list[Content]:
        is_tight = all(part.hidden for item in node.children for part in item.children if part.type == "paragraph")
        number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        lines: list[Content] = []
        for item in node.children:
            marker = f"{_BULLET} " if number is None else f"{number}. "
            if lines and not is_tight:
                lines.append(Content(""))
            inner = self._blocks(item.children, width - len(marker), is_tight=is_tight) or [Content("")]
            lines += _with_marker(inner, Content.styled(marker, "$text-accent"), rest=Content(" " * len(marker)))
            number = None if number is None else number + 1
        return lines

    def _table(self, node: Node, width: int) -> list[Content]:
        rows = [[_inline(cell) for cell in row.children] for part in node.children for row in part.children]
        columns = max(map(len, rows))
        natural = [max(row[column].cell_length for row in rows if column < len(row)) for column in range(columns)]
        widths = _column_widths(natural, width - 3 * (columns - 1))
        between = Content.styled(f" {_VERTICAL} ", _MUTED)
        lines: list[Content] = []
        for number, row in enumerate(rows):
            cells = [cell.wrap(widths[column]) for column, cell in enumerate(row)]
            for index in range(max(map(len, cells))):
                parts = (cell[index] if index < len(cell) else Content("") for cell in cells)
                line = between.join(_pad(part, each) for part, each in zip(parts, widths, strict=False))
                lines.append(line if number else line.stylize("bold"))
            if not number:
                lines.append(Content.styled(_RULE * (sum(widths) + 3 * (columns - 1)), _MUTED))
        return lines


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])


class _Line:
    """Collects the text and styles of one line."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.size = 0
        self.spans: list[Span] = []

    def add(self, text: str, style: str = "") -> None:
        if style:
            self.spans.append(Span(self.size, self.size + len(text), style))
        self.text.append(text)
        self.size += len(text)

    def walk(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            match node.type:
                case "text":
                    self.add(node.content)
                case "softbreak" | "hardbreak":
                    self.add("\n")
                case "code_inline":
                    self.add(node.content, f"$text-accent {_CODE}")
                case "image":
                    self.add(f"[image {node.content or node.attrs.get('src', '')}]", _MUTED)
                case "link":
                    self._link(node)
                case _:
                    self._styled(node)

    def _styled(self, node: Node) -> None:
        start = self.size
        self.walk(node.children)
        if style := _INLINE.get(node.type):
            self.spans.append(Span(start, self.size, style))

    def _link(self, node: Node) -> None:
        first = len(self.text)
        self._styled(node)
        href = str(node.attrs.get("href", ""))
        if href and href != "".join(self.text[first:]):
            self.add(f" ({href})", _MUTED)


def _inline(node: Node, style: str = "") -> Content:
    line = _Line()
    line.walk(node.children)
    spans = [Span(0, line.size, style), *line.spans] if style else line.spans
    return Content("".join(line.text), spans)


def _code(code: str, info: str, width: int) -> list[Content]:
    language = info.split(maxsplit=1)[0][:_MAX_LANGUAGE_CHARS] if info.strip() else "text"
    content = highlight(code.rstrip("\n"), language=language, theme=_CodeTheme)
    lines = content.split("\n", allow_blank=True)
    folded = (part for line in lines for part in line.expand_tabs(4).fold(width - 2))
    return [_pad(Content(" ") + part, width).stylize_before(_CODE) for part in folded]


def _with_marker(
    lines: Iterable[Content], first: Content, style: str = "", rest: Content | None = None
) -> list[Content]:
    """Put the marker `first` before the first line, and `rest` or the same marker before the others."""
    markers = chain((first,), repeat(first if rest is None else rest))
    styled = (line.stylize_before(style) if style else line for line in lines)
    return [marker + line for marker, line in zip(markers, styled, strict=False)]


def _pad(line: Content, width: int) -> Content:
    return line.pad_right(max(0, width - line.cell_length))


def _column_widths(natural: Sequence[int], total: int) -> list[int]:
    """Column widths; if space is short, the widest columns shrink."""
    widths = [max(each, 1) for each in natural]
    while sum(widths) > total and max(widths) > _MIN_CELL_COLUMNS:
        widths[widths.index(max(widths))] -= 1
    return widths
