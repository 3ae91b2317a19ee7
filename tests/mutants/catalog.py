"""All mutants by area, and a quick check that each still fits the project."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tests.mutants.mutant import Mutant, StaleMutant

ROOT: Final = Path(__file__).resolve().parents[2]
AREAS: Final = (
    "protocol",
    "runners",
    "intake",
    "results",
    "transcript",
    "grants",
    "context",
    "payloads",
    "run_lifecycle",
    "secrets",
    "secrets_in_clear",
    "steering",
    "queue_items",
    "breakpoints",
    "state",
    "store",
    "sessions",
    "deletion",
    "writer",
    "hosts",
    "requests",
    "runtimes",
    "wire",
    "floods",
    "sandbox",
    "access",
    "gate",
    "paging_and_search",
    "call_effects",
    "console_api",
    "cli",
    "hostile_text",
    "settings_and_reload",
    "testing",
    "external_runs",
    "record",
    "surroundings",
    "parts_and_storage",
    "disk",
    "search_and_state_store",
    "usage_and_recordings",
    "upgrades",
)
"""The modules of this package that contain mutants."""


class Case(NamedTuple):
    """A mutant with its area."""

    area: str
    mutant: Mutant

    def has(self, word: str) -> bool:
        mutant = self.mutant
        return word == self.area or any(word in text for text in (mutant.file, mutant.rule, mutant.test))


def select_cases(words: list[str]) -> list[Case]:
    """Return the mutants that any of the words selects; all of them without a word."""
    every = [Case(area, mutant) for area in AREAS for mutant in import_module(f"tests.mutants.{area}").MUTANTS]
    return [case for case in every if not words or any(case.has(word) for word in words)]


def find_problems(cases: list[Case], root: Path = ROOT) -> list[str]:
    """List the mutants whose line or test is gone, or whose fault is no Python or uses a name that does not exist.

    Reads source files and runs no test. The parameters of a test are not checked: only pytest knows them.
    """
    problems: list[str] = []
    faulty: list[tuple[Case, str]] = []
    for case in cases:
        area, mutant = case
        try:
            faulty.append((case, mutant.faulty(root)))
        except StaleMutant as error:
            problems.append(f"{area}: stale, {error}")
        file, _, name = mutant.test.partition("[")[0].partition("::")
        if name not in _test_names(root / file):
            problems.append(f"{area}: no such test, {mutant.test}")
    return [*problems, *_find_wrong_code(faulty)]


def _find_wrong_code(faulty: list[tuple[Case, str]]) -> Iterator[str]:
    """Find faults that fail every test: a syntax error, or a name that does not exist (any more)."""
    with TemporaryDirectory(prefix="trackside-mutants-") as folder:
        for number, (case, text) in enumerate(faulty):
            if case.mutant.file.endswith(".py"):
                Path(folder, f"{number}.py").write_text(text)
        command = ["ruff", "check", "--isolated", "--no-cache", "--select", "F821", "--output-format", "json", folder]
        done = subprocess.run([sys.executable, "-m", *command], check=False, capture_output=True, text=True)
        if done.stderr:
            raise AssertionError(done.stderr)
        for finding in json.loads(done.stdout):
            (area, mutant), _ = faulty[int(Path(finding["filename"]).stem)]
            yield f"{area}: {finding['message']}, {mutant.file}: {mutant.after!r}"


@cache
def _test_names(path: Path) -> frozenset[str]:
    """The node ids in a file, without parameters. Methods that a class inherits count as tests of the class."""
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text("utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    assigned = [
        target.value.id + "::" + "runTest"
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
    ]
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for name, node in classes.items():
        names += [name, *(f"{name}::{method}" for method in _methods(node, classes))]
    return frozenset((*names, *assigned))


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[str]:
    yield from (each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            yield from _methods(classes[base.id], classes)
