"""Who may know whom: commands know no screen, models no Textual, and the console only the engine's doors."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CONSOLE = ROOT / "console"
DOORS = {
    "engine.api",
    "engine.events",
    "engine.version",  # one constant, which the build reads too; by the other doors `--version` would take a second
}
HEAVY = {"engine.api", "pydantic", "sqlalchemy"}
SCREEN = {"textual", "rich"}
LATER = {
    "console.reading.gathering",
    "console.reading.hearing",
    "console.widgets.conversation.pane",
    "console.widgets.inspector.pane",
    "console.widgets.queue",
    "console.widgets.stream.pane",
    "markdown_it",
}
"""What is loaded behind the first frame."""
COMMANDS = """
from console.cli.main import COMMANDS, main

database = ["--db", sys.argv[1]]
typed = [
    ["run", "--runner", "echo", "-m", "hello", "--session", "s", "--jsonl", *database],
    ["run", "--runner", "echo", "-m", "hello again", "--session", "s", *database],
    ["runs", *database],
    ["show", "last", "--calls", *database],
    ["steering", "last", *database],
    ["sessions", *database],
    ["fork", "s", *database],
    ["transcript", "s", *database],
    ["search", "hello", *database],
    ["state", *database],
    ["artifacts", *database],
    ["doctor", *database],
    ["new", "greeter"],
    ["schema"],
    ["keys"],
    ["prune", "--older-than", "30d", "--yes", *database],
    ["cancel", "last", *database],
]
codes = {line[0]: main(line) for line in typed}
said = [codes, sorted(set(COMMANDS) - codes.keys())]
"""


def imports(folder: str) -> Iterator[tuple[str, str]]:
    """Each file of a folder with each module that it imports, anywhere in it."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for module in _imports(ast.parse(path.read_text("utf-8"))):
            yield str(path.relative_to(ROOT)), module


def _imports(file: ast.Module) -> Iterator[str]:
    """Of `from a import b` b is meant where it is a module, else a."""
    for node in ast.walk(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            inner = [f"{module}.{alias.name}" for alias in node.names]
            yield from (name if _is_module(name) else module for name in inner)


def _is_module(name: str) -> bool:
    place = ROOT.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def _is_of(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def loaded(code: str, *arguments: str, cwd: Path = ROOT) -> tuple[set[str], Any]:
    """What a fresh interpreter has loaded after this, packages and modules, and what the code has `said`."""
    whole = f"import json, sys\nsaid = None\n{code}\nprint()\nprint(json.dumps([sorted(sys.modules), said]))"
    done = subprocess.run(
        [sys.executable, "-c", whole, *arguments],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    modules, said = json.loads(done.stdout.splitlines()[-1])
    return set(modules), said


def test_the_console_comes_in_by_the_engines_doors():
    of_the_engine = {(path, module) for path, module in imports("console") if _is_of(module, "engine")}

    assert {module for _, module in of_the_engine} >= {"engine.api", "engine.events"}
    assert [(path, module) for path, module in of_the_engine if module not in DOORS] == []


def test_the_engine_does_not_know_its_console():
    assert [found for found in imports("engine") if _is_of(found[1], "console", *SCREEN)] == []


def test_a_model_knows_only_models_and_no_textual():
    named = list(imports("console/model"))

    assert [found for found in named if _is_of(found[1], *SCREEN)] == []
    assert [found for found in named if _is_of(found[1], "console") and not _is_of(found[1], "console.model")] == []


def test_loading_every_model_loads_neither_textual_nor_the_engine():
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (CONSOLE / "model").rglob("*.py")]

    modules, _ = loaded("from importlib import import_module\nfor name in sys.argv[1:]: import_module(name)", *names)

    assert set(names) <= modules
    assert modules & (HEAVY | SCREEN) == set()


def test_no_command_loads_textual(tmp_path: Path):
    modules, (codes, left_out) = loaded(COMMANDS, str(tmp_path / "trackside.db"), cwd=tmp_path)

    assert left_out == []
    assert {name for name, code in codes.items() if code} == {"cancel"}, "the run is over, so that one is refused"
    assert modules >= HEAVY, "they were carried out"
    assert modules & SCREEN == set()


def test_the_first_frame_waits_neither_for_the_engine_nor_for_the_panes():
    modules, _ = loaded("import console.app")

    assert "textual" in modules
    assert modules & HEAVY == set()
    assert modules & LATER == set()


def test_the_news_can_be_had_without_the_database():
    modules, _ = loaded("import engine.events")

    assert modules & HEAVY == set()
