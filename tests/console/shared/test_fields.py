"""Every field of the app shows hostile text safely, and a new one that does not fails here."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widget import Widget
from textual.widgets import Input, TextArea

import console.ui
from console.model.state.json_text import MAX_EDITED_LINES, parse_json, to_json_text
from console.ui.shared import fields
from console.ui.shared.fields import MAX_WRAPPED_LINE_CHARS, MAX_WRAPPED_LINES, LineField, SafeInput, SafeTextArea
from tests.console.text.test_safe import hostile_in

CONSOLE = Path(console.ui.__file__).parents[1]
HOSTILE = "\x1b]52;c;YQ==\x07 \x9b2J \x7f \u202eabc\u2066 \u200b\u200c\u3164\U000e0100 &#8238; "
PLAIN_FIELDS = {"Input", "TextArea", "MaskedInput", "CommandInput"}


def made_fields(path: Path) -> Iterator[str]:
    """Yield the calls in a source file that create one of Textual's own fields, and imports of one by another name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.alias) and node.asname is not None and node.name in PLAIN_FIELDS:
            yield f"{path.relative_to(CONSOLE)}:{node.lineno}: {node.name} as {node.asname}"
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if name in PLAIN_FIELDS or (name == "code_editor" and isinstance(owner, ast.Name)):
                yield f"{path.relative_to(CONSOLE)}:{node.lineno}: {name}"


def test_no_plain_field_is_created():
    assert [made for path in sorted(CONSOLE.rglob("*.py")) for made in made_fields(path)] == []


def test_every_class_of_a_field_is_a_safe_one():
    for module in pkgutil.walk_packages(console.ui.__path__, "console.ui."):
        importlib.import_module(module.name)
    for base, safe_class in ((Input, SafeInput), (TextArea, SafeTextArea)):
        found, left = set[type[Widget]](), [base]
        while left:
            below = left.pop().__subclasses__()
            left += below
            found |= {one for one in below if one.__module__.startswith("console.")}
        assert len(found) > 2
        assert {one for one in found if not issubclass(one, safe_class)} == set()


class FieldsApp(App[None]):
    def compose(self) -> ComposeResult:
        yield SafeInput(HOSTILE)
        yield SafeInput(placeholder=HOSTILE)
        yield LineField(HOSTILE)
        yield SafeTextArea(HOSTILE)


async def test_fields_show_their_text_without_characters_that_a_terminal_obeys():
    app = FieldsApp()
    async with app.run_test(size=(100, 30)) as pilot:
        app.query_one(TextArea).focus()
        await pilot.pause()
        drawn = "".join(strip.text for strip in app.screen._compositor.render_strips())
        assert drawn.count("]52;c;YQ==") == 4
        assert hostile_in(drawn) == set()
        assert [one.value for one in app.query(Input)] == [HOSTILE, "", HOSTILE]
        assert app.query_one(TextArea).text == HOSTILE


@pytest.mark.parametrize("text", ["x" * (MAX_WRAPPED_LINE_CHARS + 1), "\n" * (MAX_WRAPPED_LINES + 1)])
async def test_text_that_is_slow_to_wrap_is_not_wrapped(text: str):
    area = SafeTextArea(text)
    assert not area.soft_wrap
    area.load_text("short")
    assert area.soft_wrap
    area.insert(text)
    assert not area.soft_wrap
    area.load_text(text)
    assert not area.soft_wrap


def test_the_matching_bracket_is_not_searched_in_a_long_text(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fields, "MAX_BRACKET_SEARCH_CHARS", 10)
    short, long = SafeTextArea("[ab]"), SafeTextArea(f"[{'a' * 20}]")
    assert short.find_matching_bracket("[", (0, 0)) == (0, 3)
    assert long.find_matching_bracket("[", (0, 0)) is None


def test_json_with_very_many_lines_is_edited_on_one_line():
    assert to_json_text([0] * 10).count("\n") == 11
    assert to_json_text([0] * MAX_EDITED_LINES).count("\n") == 0
    assert parse_json(to_json_text([0, "\u202e"] * MAX_EDITED_LINES)) == [0, "\u202e"] * MAX_EDITED_LINES
