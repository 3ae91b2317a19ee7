"""Keys in sentences: each is named by its command, so that it is true for who has other keys."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import console
from console.model.commands import BY_ID, COMMANDS
from console.model.commands.naming import key_of, keyed, now_of, put_in_force
from console.model.settings.keymap import changed

SOURCE = Path(console.__file__).parent
KEY = re.compile(r"(?<![\w+])(?:f\d{1,2}\b|\^(?!c\b)[a-z]\b|(?:ctrl|alt|shift)\+\w+)")
LETTER = re.compile(r"(?:^|[;:·.,(] |\bthen |\band )[b-hj-zB-HJ-Z/] [a-z]+s\b")
"""`u brings it back`. Of esc, and of ^c, which copies, there is no other."""
NAMES = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")
SPEAKS_OF_KEYS = {"cli", "settings"}
"""Commands of the shell, and the file in which keys are written: there a key is meant as such."""


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE), ast.parse(path.read_text(encoding="utf-8"))


def sentences(tree: ast.AST) -> Iterator[ast.Constant]:
    """All texts of more than a word, but for docstrings."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node
        yield from sentences(node)


def test_no_sentence_names_a_key_outright():
    found = [
        f"{path}:{one.lineno} {one.value!r}"
        for path, tree in modules()
        if not SPEAKS_OF_KEYS & set(path.parts)
        for one in sentences(tree)
        if KEY.search(one.value) or LETTER.search(one.value)
    ]
    assert not found, "\n".join(found)


def test_every_command_that_a_sentence_names_is_there():
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


def test_a_key_is_named_as_the_footer_shows_it():
    assert (key_of("app.hold"), key_of("prompt.mode"), key_of("stream.end")) == ("f6", "^t", "G")
    assert keyed("{app.hold} holds it, {app.go} lets it go") == "f6 holds it, f5 lets it go"


def test_what_has_no_key_is_named_as_it_is_found():
    assert key_of("app.theme") == "^p “view: Theme…”"


def test_what_others_wrote_stays_as_it_is():
    assert keyed("{} {0} {no such} {app}") == "{} {0} {no such} {app}"


@pytest.fixture
def own_keys() -> Iterator[None]:
    put_in_force(changed({"app.hold": "alt+a", "app.go": ""}))
    yield
    put_in_force(COMMANDS)


@pytest.mark.usefixtures("own_keys")
def test_the_keys_of_ones_own_are_named():
    assert key_of("app.hold") == "alt+a"
    assert key_of("app.go") == "“run again”"
    assert {one.id: one.keys for one in now_of("app")}["app.hold"] == "alt+a"
