"""Markdown of a runner: decoded references are safe too, nothing is lost for lack of room, and the work is bounded."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexer import Lexer
from rich.cells import cell_len

from console.ui.conversation import markdown as module
from console.ui.conversation.code_highlight import LEXERS, MAX_HIGHLIGHTED_CHARS
from console.ui.conversation.markdown import MAX_INLINE_MARKS, MarkdownLayout, column_widths
from tests.console.text.test_safe import hostile_in

NOTE = "Shown as plain text"


def drawn(markdown: str, width: int = 60) -> list[str]:
    lines = [line.plain for line in MarkdownLayout().lines(markdown, width)]
    assert [line for line in lines if cell_len(line) > width] == []
    assert hostile_in("".join(lines)) <= {0x09}
    return lines


def letters(lines: Sequence[str]) -> str:
    return "".join("".join(lines).split())


@pytest.mark.parametrize(
    "markdown",
    [
        "a&#8238;b &#x1b;[31m &#155; &#127; &#x200b;",
        "[a&#8238;](http://b/&#8238;&#27;)",
        "![a&#8238;](b&#8238;)",
        "# a&#8238;",
        "| a&#8238; |\n|---|\n| &#x9b; |",
        "`&#8238;` <http://a/&#8238;> **&#8238;**",
        pytest.param("e" + "&#769;" * 100, id="marks"),
        pytest.param("e**\u0301\u0301\u0301\u0301\u0301**&#769;&#769;&#769;&#769;&#769;", id="marks in pieces"),
    ],
)
def test_decoded_references_are_safe(markdown: str):
    assert "".join(drawn(markdown)).count("\u0301") <= 8


def test_decoded_references_can_be_seen():
    assert drawn("a&#8238;b [c&#8203;](d)") == ["a\\u202eb c\\u200b (d)"]


@pytest.mark.parametrize("marker", ["> ", "- ", "1. ", "999999999. ", "> - "])
@pytest.mark.parametrize("depth", [5, 18, 19, 20, 60])
@pytest.mark.parametrize("width", [6, 14, 60])
def test_deep_nesting_is_drawn_within_the_width_and_loses_no_text(marker: str, depth: int, width: int):
    assert letters(drawn(marker * depth + "word", width)).count("word") == 1


def test_emphasis_may_be_nested_deeper_than_python_recurses():
    assert "b" in letters(drawn("*a **b " * 140 + "c** d*" * 140))


def test_table_without_room_is_drawn_as_its_source():
    table = "\n".join("|".join(f"c{row}{column}" for column in range(30)) for row in range(3)).split("\n")
    table.insert(1, "|".join("-" * 30))
    lines = drawn("\n".join(table), 60)
    assert letters(lines) == letters(table)


def test_references_are_not_hidden():
    assert letters(drawn("[a]: http://b")) == "[a]:http://b"


def test_text_without_visible_rows_has_one_row():
    """Otherwise thousands of such parts would be drawn for one screen."""
    assert drawn("\n" * 4_000) == ["4,000 characters without visible text"]
    assert drawn("\u200d" * 4_000) == ["4,000 characters without visible text"]
    assert drawn("\n\n") == []


@pytest.mark.parametrize(
    "markdown", [">\n\n" * 1_300, "> " * 15 + "a\n" * 1_000, "x" * 20_000], ids=["empty quotes", "deep quotes", "long"]
)
def test_work_without_rows_is_not_done_for_long(markdown: str):
    lines = drawn(markdown, 100)
    assert len(lines) > 100
    assert NOTE in lines[-1]


@pytest.mark.parametrize("unit", ["![", "[", "*a ", "`a", "&#1;", "\\", "<a:b"])
def test_only_so_many_marks_are_parsed(unit: str, monkeypatch: pytest.MonkeyPatch):
    parsed: list[str] = []
    inline = module._parser().inline
    parse = inline.parse
    monkeypatch.setattr(inline, "parse", lambda text, *more: (parsed.append(text), parse(text, *more)))

    lines = drawn("\n\n".join([(unit * 100)[:100]] * 60))

    assert 0 < sum(map("".join(parsed).count, "[]*_`~<&!\\")) <= MAX_INLINE_MARKS
    assert NOTE in lines[-1]


def test_ordinary_text_has_no_note():
    paragraph = "A **bold** word, *another*, `code`, a [link](http://a) and a list:\n\n- one\n- two\n\n"
    assert NOTE not in "".join(drawn(paragraph * 12))


# Code


@pytest.fixture
def lexed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The lexers that were used, with the number of characters."""
    used: list[tuple[str, int]] = []
    get_tokens = Lexer.get_tokens

    def counted(lexer: Lexer, text: str, unfiltered: bool = False):
        used.append((lexer.aliases[0], len(text)))
        return get_tokens(lexer, text, unfiltered)

    monkeypatch.setattr(Lexer, "get_tokens", counted)
    return used


def test_language_with_an_exponential_lexer_is_shown_without_colours(lexed: list[tuple[str, int]]):
    """The lexer would never end."""
    for language in ("chapel", "cddl", "factor"):
        assert letters(drawn(f'```{language}\n"' + "\\" * 60 + "\n```")) == '"' + "\\" * 60
    assert lexed == []


def test_only_measured_languages_are_highlighted_and_only_short_code(lexed: list[tuple[str, int]]):
    for language in ("Python", "json", "made-up", "text", ""):
        drawn(f"```{language} title\nx = 1\n```")
    drawn("```python\n" + "x = 1\n" * (MAX_HIGHLIGHTED_CHARS // 6 + 1) + "```")
    assert [name for name, _ in lexed] == ["python", "json"]
    assert set(LEXERS) >= {"python", "py", "json", "bash", "sh"}


# Tables


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.integers(0, 200))
def test_widest_columns_shrink_one_by_one(natural: list[int], total: int):
    widths = [max(each, 1) for each in natural]
    while sum(widths) > total and max(widths) > 3:
        widths[widths.index(max(widths))] -= 1
    assert column_widths(natural, total) == widths
