"""The pytest plugin in projects of authors: harmless where it is not used, and pictures that hold."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from console.testing.pytest_trackside import find_hidden_package
from tests.support.commands import Trackside
from tests.support.loaded_modules import loaded

ROOT = Path(__file__).resolve().parents[3]


def test_plugin_imports_nothing_of_trackside_until_its_fixture_is_used():
    folder = str(ROOT / "console" / "testing")

    modules, _ = loaded("sys.path.insert(0, sys.argv[1])\nimport pytest_trackside", folder)

    assert "pytest_trackside" in modules
    assert {name for name in modules if name.partition(".")[0] in ("console", "engine", "textual", "pydantic")} == set()


def test_packages_of_trackside_are_found():
    assert find_hidden_package() is None


@pytest.mark.parametrize("name", ["console", "engine"])
@pytest.mark.parametrize("file", ["{}/__init__.py", "{}.py"], ids=["package", "module"])
def test_package_of_the_project_that_hides_one_of_trackside_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
):
    path = tmp_path / file.format(name)
    path.parent.mkdir(exist_ok=True)
    path.touch()
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))

    text = find_hidden_package()

    assert text is not None
    assert str(path).removesuffix("/__init__.py") in text
    assert f"hides the package `{name}` of Trackside. Rename it, or run this test with `trackside test`" in text


def run_pytest(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the picture tests of a project, with the plugin of this source tree."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    plugin = ("-p", "no:trackside", "-p", "console.testing.pytest_trackside", "-p", "no:cacheprovider")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "-rA", *arguments, "test_planner.py", "test_greeter_picture.py"],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def outcomes(done: "subprocess.CompletedProcess[str]") -> dict[str, str]:
    """Return the outcome of each test by its file."""
    found = re.findall(r"^(PASSED|FAILED|ERROR) (\w+)\.py::", done.stdout, re.MULTILINE)
    return {file: outcome for outcome, file in found}


def test_pictures_of_a_project_hold_until_the_text_of_its_runner_changes(trackside: Trackside):
    """The project is the example of docs/testing.md, with a runner that `trackside new` has written beside it."""
    folder = trackside.folder
    page = (ROOT / "docs" / "testing.md").read_text()
    for name, text in re.findall(r"^```python\n# (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        trackside.write(name, text)
    assert trackside("new", "greeter", "--with", "picture").returncode == 0

    accepted = run_pytest(folder, "--snapshot-update")
    pictures = sorted(path.name for path in (folder / "__snapshots__").rglob("*.svg"))
    same = run_pytest(folder)
    runner = folder / "planner.py"
    runner.write_text(runner.read_text().replace("Plan:", "Journey:"))
    changed = run_pytest(folder)

    both = {"test_planner", "test_greeter_picture"}
    assert outcomes(accepted) == dict.fromkeys(both, "PASSED"), accepted.stdout + accepted.stderr
    assert pictures == ["test_console_shows_both_greetings.svg", "test_planner_takes_a_steering_message.svg"]
    assert outcomes(same) == dict.fromkeys(both, "PASSED"), same.stdout
    assert outcomes(changed) == {"test_planner": "FAILED", "test_greeter_picture": "PASSED"}
    assert "This screen is not the accepted one." in changed.stdout
    assert "Journey: A day in Kyoto" in changed.stdout
