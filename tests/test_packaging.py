"""The project declares what it imports, with bounds, so that an installation next year still works."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = {"console", "engine"}


def declared() -> dict[str, str]:
    """Return the declared dependencies of the wheel, each with its versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    parts = (re.match(r"([\w-]+)(.*)", line) for line in project["dependencies"])
    return {part[1].lower().replace("_", "-"): part[2] for part in parts if part}


def imported() -> set[str]:
    """Return the top-level packages that the code imports, also inside functions."""
    names: set[str] = set()
    for path in (path for folder in OWN for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - OWN - sys.stdlib_module_names - {"_typeshed"}


def test_every_imported_package_is_declared():
    distributions = packages_distributions()
    needed = {distributions[name][0].lower().replace("_", "-") for name in imported()}

    assert needed - {"trackside"} == set(declared())


def test_every_dependency_has_an_upper_bound():
    assert [name for name, versions in declared().items() if "<" not in versions and "==" not in versions] == []
