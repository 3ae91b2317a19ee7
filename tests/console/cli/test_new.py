"""`new`: a runner and its test, and the files of the parts that the user chooses."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from string import Template

import pytest

from tests.support.commands import Trackside

TEMPLATES = Path(__file__).resolve().parents[3] / "console" / "cli" / "templates"


def test_new_runner_runs_and_its_test_passes(trackside: Trackside):
    made = trackside("new", "trip-planner")

    ran = trackside("run", "trip_planner.py", "-m", "Hi")
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_trip_planner.py", "-p", "no:cacheprovider"],
        env=trackside.environment | {"PYTHONWARNINGS": ""},
        cwd=trackside.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.stdout == (
        "Wrote trip_planner.py and test_trip_planner.py. Now:\n\n"
        '  trackside run trip_planner.py -m "Hi"\n  python -m pytest test_trip_planner.py\n'
    )
    assert "\n\nHello! You said: Hi (greeting 1 of this session)\n\n✓ completed in " in ran.stdout
    assert tested.returncode == 0, tested.stdout
    assert trackside.error("new", "trip_planner") == (
        "trip_planner.py and test_trip_planner.py already exist; nothing was written. Choose another name."
    )
    assert trackside.error("new", "json") == "A file called json.py would hide the module json. Choose another name."
    assert trackside.error("new", "a b") == (
        "NAME must be a name for a Python file: letters, digits and _, such as hello or trip_planner."
    )


def test_part_adds_its_files_and_commands(trackside: Trackside):
    (trackside.folder / "my runners").mkdir()

    made = trackside("new", "my runners/greeter", "--with", "picture,picture", "--with", "picture")
    listed = trackside("new", "guide", "--with", "picture", "--json")

    assert made.stdout == (
        "Wrote my runners/greeter.py, my runners/test_greeter.py and my runners/test_greeter_picture.py. Now:\n\n"
        "  trackside run 'my runners/greeter.py' -m \"Hi\"\n  python -m pytest 'my runners/test_greeter.py'\n"
        "  pip install 'trackside[testing]'\n"
        "  python -m pytest --snapshot-update 'my runners/test_greeter_picture.py'\n"
        "  python -m pytest 'my runners/test_greeter_picture.py'\n"
    )
    assert (
        'trackside_console("greeter.py")' in (trackside.folder / "my runners" / "test_greeter_picture.py").read_text()
    )
    assert json.loads(listed.stdout) == {"files": ["guide.py", "test_guide.py", "test_guide_picture.py"]}


@pytest.mark.parametrize("parts", ["pictures", "picture,", "runner", "../templates/picture"])
def test_unknown_part_is_refused_and_nothing_is_written(trackside: Trackside, parts: str):
    error = trackside.error("new", "greeter", "--with", parts)

    unknown = parts.split(",")[-1]
    assert error == f"--with: there is no part {unknown!r}. Parts: picture."
    assert list(trackside.folder.iterdir()) == []


def test_existing_file_of_a_part_is_kept_and_nothing_is_written(trackside: Trackside):
    kept = trackside.write("test_greeter_picture.py", "mine")

    error = trackside.error("new", "greeter", "--with", "picture")

    assert error == "test_greeter_picture.py already exists; nothing was written. Choose another name."
    assert list(trackside.folder.iterdir()) == [kept]
    assert kept.read_text() == "mine"


@pytest.mark.parametrize("path", sorted(TEMPLATES.iterdir()), ids=lambda path: path.stem)
def test_every_part_is_data_that_gives_python_files_and_commands(path: Path):
    part = tomllib.loads(path.read_text())
    names = {"module": "a_b", "title": "A b", "class_name": "AB"}
    keys = {"runner": "a_b.py"} | dict.fromkeys(part["files"], "x")

    assert part.keys() == {"summary", "next", "files"}
    for file in part["files"].values():
        assert Template(file["name"]).substitute(names).endswith(".py")
        compile(Template(file["text"]).substitute(names), path, "exec")
    assert part["next"]
    for command in part["next"]:
        Template(command).substitute(keys)
