"""Highlights code, for `MarkdownLayout`. The language is named by a runner, so only measured lexers are used."""

import re
from collections.abc import Mapping
from typing import Final

from pygments.token import Token
from textual.content import Content
from textual.highlight import HighlightTheme, highlight

MAX_HIGHLIGHTED_CHARS: Final = 2_000
"""Longer code is shown without colours. A part of a message that is code ends at the first line after 1,500."""
_NAMES: Final[Mapping[str, str]] = {
    "bash": "bash sh shell zsh",
    "c": "c h",
    "cpp": "cpp c++ cc hpp java cs csharp c#",
    "css": "css",
    "dart": "dart",
    "diff": "diff patch udiff",
    "docker": "docker dockerfile",
    "go": "go golang",
    "graphql": "graphql",
    "html": "html",
    "ini": "ini cfg",
    "javascript": "javascript js jsx mjs typescript ts tsx",
    "json": "json jsonl",
    "kotlin": "kotlin kt",
    "lua": "lua",
    "powershell": "powershell ps1",
    "protobuf": "protobuf proto",
    "pycon": "pycon",
    "python": "python py python3",
    "ruby": "ruby rb",
    "rust": "rust rs",
    "scss": "scss",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "xml": "xml svg",
    "yaml": "yaml yml",
}
"""The names of languages for which each lexer is used.

Only lexers that take at most 25 ms for any text that is highlighted (`python -m tests.text_budget --lexers`), and that
use no lexer by a name in the text, as those of Markdown and HTTP do. Java, C# and TypeScript have the lexer of a
similar language, because their own ones are slower.
"""
LEXERS: Final[Mapping[str, str]] = {name: lexer for lexer, names in _NAMES.items() for name in names.split()}
"""The lexer of each known language."""
_LONG_RUN: Final = re.compile(r"\s{100}|\w{400}")
"""Blank lines, or one word: many lexers take a time that grows with the square of their length."""
_DIMMING: Final = re.compile(r"(?<=\w) \d+%| on \$\S+")


class _CodeTheme(HighlightTheme):
    """Textual's code colours without dimming, which would be hard to read."""

    STYLES = {  # noqa: RUF012  (as Textual has it)
        **{token: _DIMMING.sub("", style) for token, style in HighlightTheme.STYLES.items()},
        Token.Comment: "$text-muted",
    }


def is_highlightable(code: str) -> bool:
    """Whether every lexer of `LEXERS` is fast on this code."""
    return len(code) <= MAX_HIGHLIGHTED_CHARS and _LONG_RUN.search(code) is None


def highlighted(code: str, language: str) -> Content:
    """The code in colours, if its language is a known one."""
    lexer = LEXERS.get(language.lower())
    if lexer is None or not is_highlightable(code):
        return Content(code).stylize_before("$text")
    return highlight(code, language=lexer, theme=_CodeTheme)
