"""The project declares what it imports, with bounds, so that an installation next year still works."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = {"console", "engine"}
TESTING = ROOT / "console" / "testing"


def declared(extra: str | None = None) -> dict[str, str]:
    """Return the declared dependencies of the wheel, or those of an extra, each with its versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
    parts = (re.match(r"([\w-]+)(.*)", line) for line in lines)
    return {part[1].lower().replace("_", "-"): part[2] for part in parts if part}


def imported(*, testing: bool) -> set[str]:
    """Return the top-level packages that `console/testing`, or all other code, imports, also inside functions."""
    names: set[str] = set()
    files = (path for folder in OWN for path in (ROOT / folder).rglob("*.py"))
    for path in (path for path in files if path.is_relative_to(TESTING) is testing):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    distributions = packages_distributions()
    foreign = names - OWN - sys.stdlib_module_names - {"_typeshed"}
    return {distributions[name][0].lower().replace("_", "-") for name in foreign}


def test_every_imported_package_is_declared():
    assert imported(testing=False) - {"trackside"} == set(declared())


def test_what_only_tests_of_authors_import_is_an_extra():
    assert imported(testing=True) <= set(declared()) | set(declared("testing"))
    assert set(declared("testing")) == {"pytest", "pytest-textual-snapshot"}


def test_every_dependency_has_an_upper_bound():
    versions = {**declared(), **declared("testing")}

    assert [name for name, bounds in versions.items() if "<" not in bounds and "==" not in bounds] == []


def test_plugin_of_pytest_is_a_module_at_the_top_of_the_wheel():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    moved = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert project["project"]["entry-points"]["pytest11"] == {"trackside": "pytest_trackside"}
    assert moved["console/testing/pytest_trackside.py"] == "pytest_trackside.py"
    assert all((ROOT / source).exists() for source in moved)
