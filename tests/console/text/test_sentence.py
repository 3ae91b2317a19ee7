"""Errors begin as a sentence where they are shown, and names keep their case."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine.api
from console.cli.exit_codes import UsageError
from console.model.text.sentence import FIRST_WORDS, as_sentence

ROOT = Path(__file__).parents[3]
BASES = (engine.api.StoreError, engine.api.ConfigError, engine.api.IntakeError, engine.api.RunnersError, UsageError)
PARTS = {"InvalidFile", "BrokenManifest", "AttachmentProblem"}
"""Errors whose texts follow the name of a file."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no run run_1. `trackside runs` lists them.", "No run run_1. `trackside runs` lists them."),
        ("the disk failed on /data/x.db", "The disk failed on /data/x.db"),
        ("The run has just ended.", "The run has just ended."),
        ("notes is a folder.", "notes is a folder."),
        ("/data/x.db is locked", "/data/x.db is locked"),
        ("'a' was changed", "'a' was changed"),
        ("run_1 has ended", "run_1 has ended"),
        ("", ""),
    ],
)
def test_only_an_ordinary_first_word_gets_an_upper_case_letter(text: str, shown: str):
    assert as_sentence(text) == shown


def test_first_words_of_all_errors_are_known():
    unknown = {
        (path.relative_to(ROOT).as_posix(), text)
        for folder in ("engine", "console/cli")
        for path in (ROOT / folder).rglob("*.py")
        for text in _error_texts(path)
        if (word := re.match(r"[a-z]+(?= )", text)) and word[0] not in FIRST_WORDS
    }

    assert unknown == set()


def _error_texts(path: Path) -> Iterator[str]:
    """The beginnings of the texts with which a module creates errors for the user."""
    names = _error_names() - PARTS
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        if isinstance(node.func, ast.Name) and node.func.id in names | {"print_error"}:
            text = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text.value


def _error_names() -> set[str]:
    found: set[type] = set()
    new: set[type] = set(BASES)
    while new:
        found |= new
        new = {each for one in new for each in one.__subclasses__()} - found
    return {one.__name__ for one in found}
