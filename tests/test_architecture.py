"""Which package may import which: the tables of docs/ARCHITECTURE.md, and what is loaded when."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.loaded_modules import loaded

ROOT = Path(__file__).parents[1]
HEAVY = {"engine.api", "pydantic", "sqlalchemy"}
SCREEN = {"textual", "rich"}
LATER = {
    "console.data.inspector_loader",
    "console.ui.main.updater",
    "console.ui.conversation.pane",
    "console.ui.inspector.pane",
    "console.ui.queue.pane",
    "console.ui.stream.pane",
    "markdown_it",
}
"""Modules that are loaded after the first frame."""
ENGINE_LEAVES = {
    "engine.clock",
    "engine.version",
    "engine.yaml_model",
    "engine.events",
    "engine.intake.mime",
    "engine.protocol",
    "engine.rooted_files",
    "engine.log",
}
WITHOUT_LEAVES = {"engine.protocol", "engine.journal.kinds", "engine.journal.delta_text"}
COMMANDS = """
from console.cli.main import COMMANDS, main

database = ["--db", sys.argv[1]]
typed = [
    ["run", "--runner", "echo", "-m", "hello", "--session", "s", "--jsonl", *database],
    ["run", "--runner", "echo", "-m", "hello again", "--session", "s", *database],
    ["record", "--runner", "echo", "-m", "hello elsewhere", *database],
    ["runs", *database],
    ["show", "last", "--calls", *database],
    ["receipts", "last", *database],
    ["sessions", *database],
    ["sessions", "fork", "s", *database],
    ["transcript", "s", *database],
    ["search", "hello", *database],
    ["state", *database],
    ["artifacts", *database],
    ["doctor", *database],
    ["new", "greeter"],
    ["schema"],
    ["keys"],
    ["prune", "--older-than", "30d", "--yes", *database],
    ["steer", "last", "hello", *database],
    ["stop", "last", *database],
    ["backup", "copy.db", *database],
]
codes = {line[0]: main(line) for line in typed}
said = [codes, sorted(set(COMMANDS) - codes.keys())]
"""


@dataclass(frozen=True)
class Rule:
    """One row of a table: a package, what it may import, and what it may import for type checking only."""

    package: str
    allowed: frozenset[str]
    for_types: frozenset[str]


@dataclass(frozen=True)
class Import:
    """One import statement of a file."""

    path: str
    module: str
    is_for_types: bool


def table_rules() -> dict[str, Rule]:
    """The rows of both tables of docs/ARCHITECTURE.md, by package."""
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text("utf-8")
    rows = re.findall(r"^\| `((?:engine|console)/[^`]+)` \|[^|]*\|([^|]*)\|$", text, flags=re.MULTILINE)
    rules = {}
    for name, cell in rows:
        package = name.replace("/", ".")
        named = re.findall(r"`([^`]+)`( \(types\))?", cell)
        allowed = {module.replace("/", ".") for module, types in named if not types} | {package}
        if package.startswith("engine.") and package not in WITHOUT_LEAVES:
            allowed |= ENGINE_LEAVES
        if package.startswith("console."):
            allowed |= {"engine.version"}
        for_types = {module.replace("/", ".") for module, types in named if types}
        rules[package] = Rule(package, frozenset(allowed), frozenset(for_types))
    return rules


def is_within(module: str, packages: frozenset[str] | set[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def is_module(name: str) -> bool:
    place = ROOT.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path) -> Iterator[Import]:
    return imports_in(path.read_text("utf-8"), str(path.relative_to(ROOT)))


def parse(source: str) -> ast.Module:
    """The syntax tree of a source."""
    for _ in range(20):
        try:
            return ast.parse(source)
        except SystemError:  # CPython 3.11, if another thread changes the recursion limit meanwhile
            continue
    return ast.parse(source)


def imports_in(source: str, path: str) -> Iterator[Import]:
    """Every import of ours in a source, also inside functions and under TYPE_CHECKING."""
    tree = parse(source)
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            inner = [f"{module}.{alias.name}" for alias in node.names]
            names = [name if is_module(name) else module for name in inner]
        for name in names:
            if name.split(".")[0] in ("engine", "console", "tests"):
                yield Import(path, name, id(node) in for_types)


def rule_for(path: Path, rules: dict[str, Rule]) -> Rule | None:
    """The row with the longest package name that holds a file."""
    name = module_name(path)
    matching = [rule for rule in rules.values() if is_within(name, {rule.package})]
    return max(matching, key=lambda rule: len(rule.package), default=None)


def source_files() -> list[Path]:
    return sorted([*(ROOT / "engine").rglob("*.py"), *(ROOT / "console").rglob("*.py")])


def test_the_tables_have_a_row_for_every_package():
    rules = table_rules()
    roots = {"engine", "console", "console.__main__", *ENGINE_LEAVES}

    without = [module_name(path) for path in source_files() if rule_for(path, rules) is None]

    assert [name for name in without if name not in roots] == []
    assert [package for package in rules if not is_module(package)] == []


def test_every_import_is_allowed_by_the_tables():
    rules = table_rules()
    forbidden = []
    for path in source_files():
        rule = rule_for(path, rules)
        if rule is None:
            continue
        for found in imports_of(path):
            allowed = rule.allowed | rule.for_types if found.is_for_types else rule.allowed
            if found.module not in ("engine", "console") and not is_within(found.module, allowed):
                forbidden.append(f"{found.path} imports {found.module}")

    assert forbidden == []


def test_a_forbidden_import_is_found_in_a_function_and_under_type_checking():
    source = (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import console.app\n"
        "def late():\n    import engine.store\n"
    )
    rule = table_rules()["console.model"]

    found = {(one.module, one.is_for_types) for one in imports_in(source, "console/model/probe.py")}

    assert found == {("console.app", True), ("engine.store", False)}
    assert not is_within("engine.store", rule.allowed)
    assert not is_within("console.app", rule.allowed | rule.for_types)


@pytest.mark.parametrize("package", sorted(table_rules()))
def test_a_package_can_be_imported_alone(package: str):
    """The import brings no module that the tables forbid, directly or through others."""
    modules, _ = loaded(f"import {package}")
    ours = {name for name in modules if name.split(".")[0] in ("engine", "console")}

    assert package in ours
    reachable = reachable_from(package, table_rules())
    assert sorted(name for name in ours if is_module(name) and not is_within(name, reachable) and "." in name) == []


def reachable_from(package: str, rules: dict[str, Rule]) -> set[str]:
    """The packages that a package may load through what it may import, with the folders that hold them."""
    seen, todo = set[str](), [package]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for rule in rules.values():
            if is_within(rule.package, {name}) or is_within(name, {rule.package}):
                todo += rule.allowed
    return seen


def test_no_class_of_the_screen_is_a_mixin_with_one_user():
    """Such a class is a part of its user, and should be an object that the user holds."""
    code = """
import inspect, pkgutil
from importlib import import_module
from textual.message_pump import MessagePump
import console.app, console.ui
names = [module.name for module in pkgutil.walk_packages(console.ui.__path__, "console.ui.")]
modules = [import_module(name) for name in (*names, "console.app")]
found = {each for module in modules for _, each in inspect.getmembers(module, inspect.isclass)}
ours = [each for each in found if each.__module__.startswith("console.")]
said = [
    f"{each.__module__}.{each.__name__}"
    for each in ours
    if not issubclass(each, MessagePump) and not getattr(each, "_is_protocol", False)
    and sum(each in other.__bases__ for other in ours if issubclass(other, MessagePump)) == 1
]
"""

    assert loaded(code)[1] == []


def test_the_engine_does_not_import_the_console_or_textual():
    found = [one for path in sorted((ROOT / "engine").rglob("*.py")) for one in imports_of(path)]

    assert [one for one in found if is_within(one.module, {"console", "tests"})] == []


def test_no_model_imports_textual():
    models = sorted((ROOT / "console" / "model").rglob("*.py"))
    imports_screen = re.compile(r"^\s*(from|import) (textual|rich)\b", re.MULTILINE)

    assert [path.name for path in models if imports_screen.search(path.read_text("utf-8"))] == []


def test_loading_every_model_loads_neither_textual_nor_the_engine():
    names = [module_name(path) for path in (ROOT / "console" / "model").rglob("*.py")]

    modules, _ = loaded("from importlib import import_module\nfor name in sys.argv[1:]: import_module(name)", *names)

    assert set(names) <= modules
    assert modules & (HEAVY | SCREEN) == set()


def test_no_command_loads_textual(tmp_path: Path):
    modules, (codes, left_out) = loaded(COMMANDS, str(tmp_path / "trackside.db"), cwd=tmp_path)

    assert left_out == []
    assert {name for name, code in codes.items() if code} == {"steer", "stop"}, "the run is over, so these are refused"
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


ENUM_FIELDS = {"status", "fate", "mode", "outcome", "selected_fate"}
"""Fields and arguments that hold a `Status`, `Fate`, `Mode` or `Outcome`."""
OTHER_MEANINGS = {
    ("console/cli/debug_prompt.py", "steer"): "a command that the user types",
    ("console/model/settings_form/fields.py", "timeout"): "the name of a field",
}
"""Literals that equal an enum value by chance."""


def own_sources() -> Iterator[tuple[str, ast.Module]]:
    """The sources of engine and console, without the places that define the words and without migrations."""
    own = {"engine/journal/kinds.py", "engine/events.py"}
    for path in source_files():
        name = str(path.relative_to(ROOT))
        if name not in own and not name.startswith(("engine/protocol/", "engine/store/migrations/", "engine/bundled/")):
            yield name, parse(path.read_text("utf-8"))


def test_entry_kinds_are_written_in_one_place():
    from engine.journal.kinds import EntryKind

    kinds = {kind.value for kind in EntryKind if "." in kind}
    found = {
        name
        for name, tree in own_sources()
        if any(isinstance(node, ast.Constant) and node.value in kinds for node in ast.walk(tree))
    }

    assert found == set()


def literals_of(node: ast.AST | None) -> Iterator[ast.Constant]:
    """A string literal, or those in a tuple, list or set of literals."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for element in node.elts:
            yield from literals_of(element)


def name_of(node: ast.AST | None) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Constant(value=str(name)):
            return name
        case _:
            return ""


def compared_values(node: ast.AST) -> list[ast.AST]:
    match node:
        case ast.Compare(left=left, comparators=comparators):
            return [left, *comparators]
        case ast.MatchValue(value=value):
            return [value]
        case _:
            return []


def named_values(node: ast.AST) -> list[tuple[str, ast.AST | None]]:
    """The names and values of arguments, assignments, dictionary items and defaults of parameters."""
    match node:
        case ast.Call(func=func, keywords=keywords) if not name_of(func).endswith("_validator"):
            return [(keyword.arg or "", keyword.value) for keyword in keywords]
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=value):
            return [(name_of(target), value)]
        case ast.Dict(keys=keys, values=values):
            return [(name_of(key), value) for key, value in zip(keys, values, strict=True)]
        case ast.arguments(args=args, defaults=defaults, kwonlyargs=keyword_only, kw_defaults=keyword_defaults):
            pairs = [*zip(reversed(args), reversed(defaults), strict=False)]
            return [(one.arg, default) for one, default in (*pairs, *zip(keyword_only, keyword_defaults, strict=True))]
        case _:
            return []


def literals_as_values(tree: ast.Module) -> Iterator[ast.Constant]:
    """String literals that are compared, or that are the value of a field in `ENUM_FIELDS`."""
    for node in ast.walk(tree):
        values = [value for name, value in named_values(node) if name in ENUM_FIELDS]
        for value in (*compared_values(node), *values):
            yield from literals_of(value)


def literal_collections(tree: ast.Module, words: set[str]) -> Iterator[ast.Constant]:
    """The literals of collections and dictionary keys that are nothing but values of one enum."""
    for node in ast.walk(tree):
        keys = node.keys if isinstance(node, ast.Dict) else [node]
        literals = [literal for key in keys for literal in literals_of(key)]
        is_all = len(literals) == (len(keys) if isinstance(node, ast.Dict) else len(getattr(node, "elts", ())))
        if is_all and len({literal.value for literal in literals}) > 1 and {one.value for one in literals} <= words:
            yield from literals


def test_statuses_fates_modes_and_outcomes_are_enums():
    from engine.events import Fate, Mode, Outcome, Status

    enums = [{member.value for member in enum} for enum in (Status, Fate, Mode, Outcome)]
    found = set[str]()
    for name, tree in own_sources():
        literals = [one for one in literals_as_values(tree) if any(one.value in words for words in enums)]
        literals += [one for words in enums for one in literal_collections(tree, words)]
        found |= {f"{name}:{one.lineno} {one.value}" for one in literals if (name, one.value) not in OTHER_MEANINGS}

    assert sorted(found) == []


def test_a_literal_of_a_status_is_found():
    source = (
        "live = run.status in ('created', 'running')\n"
        "def send(text, mode='steer'): record(outcome='refused', data={'status': 'queued'})\n"
        "labels = {'dropped': 'to prompt', 'withdrawn': 'undo'}\n"
        "glyph = GLYPHS['running']\n"
    )
    tree = ast.parse(source)

    found = [one.value for one in literals_as_values(tree)]
    assert sorted(found) == ["created", "queued", "refused", "running", "steer"]
    assert {one.value for one in literal_collections(tree, {"dropped", "withdrawn"})} == {"dropped", "withdrawn"}
