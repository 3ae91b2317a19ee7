"""Texts name commands, not keys, so that they stay true if the user changes the keys."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import console
from console.model.commands.key_labels import current_commands_of, key_of, use_key_table, with_keys
from console.model.commands.table import BY_ID, COMMANDS
from console.model.preferences.keymap import apply_keymap

SOURCE = Path(console.__file__).parent
KEY = re.compile(r"(?<![\w+])(?:f\d{1,2}\b|\^(?!c\b)[a-z]\b|(?:ctrl|alt|shift)\+\w+)")
LETTER = re.compile(r"(?:^|[;:·.,(] |\bthen |\band )[b-hj-zB-HJ-Z/] [a-z]+s\b")
"""`u undoes it`. esc and ^c may be named: their keys cannot be changed."""
NAMES = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")
ABOUT_KEYS = {"cli", "preferences"}
"""The CLI and the keymap file name keys themselves."""


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE), ast.parse(path.read_text(encoding="utf-8"))


def sentences(tree: ast.AST) -> Iterator[ast.Constant]:
    """All strings with a space, except docstrings."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node
        yield from sentences(node)


def test_texts_do_not_name_keys():
    found = [
        f"{path}:{one.lineno} {one.value!r}"
        for path, tree in modules()
        if not ABOUT_KEYS & set(path.parts)
        for one in sentences(tree)
        if KEY.search(one.value) or LETTER.search(one.value)
    ]
    assert not found, "\n".join(found)


def test_commands_named_in_texts_exist():
    named = {
        name: f"{path}:{one.lineno}"
        for path, tree in modules()
        for one in sentences(tree)
        for name in NAMES.findall(one.value)
    }
    asked = {
        node.args[0].value: f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "key_of"
        if isinstance(node.args[0], ast.Constant)
    }
    assert {name: where for name, where in (named | asked).items() if name not in BY_ID} == {}


def test_key_is_printed_as_in_the_footer():
    assert (key_of("app.pause"), key_of("prompt.mode"), key_of("stream.end")) == ("f6", "^t", "G")
    assert with_keys("{app.pause} pauses, {app.run_again} runs again") == "f6 pauses, f5 runs again"


def test_command_without_key_is_named_by_its_palette_entry():
    assert key_of("app.theme") == "^p “view: Theme…”"


def test_other_braces_stay_unchanged():
    assert with_keys("{} {0} {no such} {app}") == "{} {0} {no such} {app}"


@pytest.fixture
def own_keys() -> Iterator[None]:
    use_key_table(apply_keymap({"app.pause": "alt+a", "app.run_again": ""}))
    yield
    use_key_table(COMMANDS)


@pytest.mark.usefixtures("own_keys")
def test_user_keys_are_named():
    assert key_of("app.pause") == "alt+a"
    assert key_of("app.run_again") == "^p “run: Run again”"
    assert {one.id: one.keys for one in current_commands_of("app")}["app.pause"] == "alt+a"
